// SPDX-License-Identifier: GPL-3.0-or-later
// Who of the group has which runs: what is in this store, and what the group's remote has besides.
import {get} from './api.js';
import {add, el, errorBox, link, plainTable, put} from './dom.js';
import {ago, duration, number, person} from './format.js';
import {memberCondition} from './member.js';

const AGAIN_MS = 20000; // the server asks the remote at most every 15 s

const plural = (n, word) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;

/* A row for each member, one's own first: runs in the store (the answer of 'coverage'), and those that only the remote has. */
function membersOf(shares, behind) {
  const members = new Map();
  const of = (who) => {
    if (!members.has(who)) members.set(who, {who, isMine: false, runs: 0, ok: 0, wall: 0, ended: 0, experiments: new Set(), behind: 0});
    return members.get(who);
  };
  for (const s of shares) {
    const m = of(s.who ?? '-');
    m.isMine ||= s.is_mine;
    m.runs += s.runs;
    m.ok += s.ok;
    m.wall += s.wall_s ?? 0;
    m.ended = Math.max(m.ended, s.ended_ms);
    m.experiments.add(s.experiment ?? '-');
  }
  for (const [who, runs] of Object.entries(behind ?? {})) of(who).behind = runs;
  return [...members.values()].sort((a, b) => b.isMine - a.isMine || a.who.localeCompare(b.who));
}

/* What the remote has and lacks, in sentences. */
function standing(of) {
  const where = of.remote ? `remote '${of.remote}'` : 'remote';
  if (of.problem) return el('p', {class: 'error', id: 'standing'}, of.problem, el('span', {class: 'hint'}, 'Below is what this store has. The remote is asked again.'));
  if (!of.remote) return el('p', {class: 'note', id: 'standing'}, 'The group has no remote. Below is what this store has.');
  const parts = [of.behind ? `The ${where} has ${plural(of.behind, 'run')} that ${of.behind === 1 ? 'is' : 'are'} not in this store: 'orch pull' gets them.`
    : of.behind === 0 ? `Every run of the ${where} is in this store.` : `It is not known what the ${where} has.`,
  of.ahead ? `It lacks ${plural(of.ahead, 'run')} of this store: 'orch push' sends them.` : '',
  of.is_contacted ? '' : 'This may be out of date: a page that only reads does not contact the remote.'];
  return el('p', {id: 'standing'}, parts.filter(Boolean).join(' '));
}

export async function show(root) {
  const place = el('div', {}, el('p', {class: 'dim'}, 'the remote is asked')), table = el('div');
  add(root, el('h1', {}, 'The group'), place, table,
    el('p', {class: 'note'}, 'On this page you can change only your own runs. ', link('coverage', {}, 'Coverage'), ' shows the trials of each experiment by member.'));
  let {shares} = await get('coverage');
  const draw = (behind) => {
    const members = membersOf(shares, behind);
    put(table, members.length ? plainTable([
      {name: 'member', cell: (m) => [person(m.who), m.isMine ? el('span', {class: 'dim'}, ' (you)') : null]},
      {name: 'runs here', num: true, cell: (m) => m.runs ? link('runs', {where: memberCondition('', m.who)}, number(m.runs)) : '0'},
      {name: 'without a result', num: true, cell: (m) => number(m.runs - m.ok)},
      {name: 'not pulled yet', num: true, cell: (m) => behind ? number(m.behind) : '-'},
      {name: 'experiments', num: true, cell: (m) => number(m.experiments.size)},
      {name: 'time of all runs', num: true, cell: (m) => duration(m.wall)},
      {name: 'newest ended', cell: (m) => m.ended ? ago(m.ended) : '-'}], members, 'members of the group') : el('p', {class: 'dim'}, 'no run yet'));
  };
  draw(null);
  let timer = null, has_left = false;
  const ask = () => get('group', {}, {wait: 90000}) // a remote may be slow
    .then(async (of) => { put(place, standing(of)); ({shares} = await get('coverage')); draw(of.behind_by); })
    .catch((error) => put(place, errorBox(error)))
    .finally(() => { if (!has_left) later(); });
  const later = () => { timer = setTimeout(() => document.hidden ? later() : ask(), AGAIN_MS); };
  ask();
  return () => { has_left = true; clearTimeout(timer); };
}
