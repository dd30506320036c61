// SPDX-License-Identifier: GPL-3.0-or-later
// Who of the group has run how much of what.
import {get} from './api.js';
import {add, el, link, plainTable} from './dom.js';
import {ago, duration, number, person} from './format.js';

export async function show(root) {
  const {shares} = await get('coverage');
  const mine = new Set(shares.filter((s) => s.is_mine).map((s) => s.who));
  const people = [...new Set(shares.map((s) => s.who ?? '-'))].sort((a, b) => mine.has(b) - mine.has(a) || a.localeCompare(b));
  const rows = new Map();
  for (const s of shares) {
    const key = `${s.recipe ?? '-'}\n${s.experiment ?? '-'}`;
    if (!rows.has(key)) rows.set(key, {recipe: s.recipe ?? '-', experiment: s.experiment ?? '-', by: new Map()});
    rows.get(key).by.set(s.who ?? '-', s);
  }
  const quoted = (text) => `'${String(text).replaceAll("'", "''")}'`;
  const cell = (row, person) => {
    const s = row.by.get(person);
    if (!s) return el('span', {class: 'missing'}, 'nothing yet');
    return [link('runs', {where: `recipe = ${quoted(row.recipe)} and experiment = ${quoted(row.experiment)} and who = ${quoted(person)}`}, `${number(s.trials)} done`),
      s.runs > s.ok ? el('span', {class: 'bad'}, `, ${number(s.runs - s.ok)} without a result`) : null, el('span', {class: 'dim'}, `, ${duration(s.wall_s)}, ${ago(s.ended_ms)}`)];
  };
  add(root, el('h1', {}, 'Who has done what'), rows.size ? plainTable([{name: 'recipe', cell: (r) => r.recipe}, {name: 'experiment', cell: (r) => r.experiment},
    ...people.map((p) => ({name: mine.has(p) ? `${person(p)} (you)` : person(p), cell: (r) => cell(r, p)}))], [...rows.values()], 'coverage') : el('p', {class: 'dim'}, 'no run yet'),
  el('p', {class: 'note'}, "Done: trials that ended ok or diverged. Then: the time of all runs of the person, and when the newest ended."));
  return null;
}
