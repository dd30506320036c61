// SPDX-License-Identifier: GPL-3.0-or-later
// The filter by member of the group, as a part of the condition of the table of runs.
import {get} from './api.js';
import {add, el} from './dom.js';
import {person} from './format.js';

const OF_MEMBER = /^(?:\(([^]*)\) and )?who = '((?:[^']|'')*)'$/;

/* A condition without its member, and the member or ''. */
function parts(where) {
  const found = OF_MEMBER.exec(where);
  return found ? {rest: found[1] ?? '', who: found[2].replaceAll("''", "'")} : {rest: where, who: ''};
}

/** The condition `where`, for the runs of one member; of all with who ''. */
export function memberCondition(where, who) {
  const {rest} = parts(where);
  if (!who) return rest;
  const own = `who = '${who.replaceAll("'", "''")}'`;
  return rest ? `(${rest}) and ${own}` : own;
}

/** Adds a choice of members to `root`. apply(condition) is called with the new condition. */
export async function memberBox(root, where, apply) {
  const {shares} = await get('coverage');
  const mine = new Set(shares.filter((s) => s.is_mine).map((s) => s.who));
  const people = [...new Set(shares.map((s) => s.who).filter(Boolean))].sort((a, b) => mine.has(b) - mine.has(a) || a.localeCompare(b));
  const {who} = parts(where());
  const box = el('select', {id: 'member', onchange: () => apply(memberCondition(where(), box.value))}, el('option', {value: ''}, 'everybody'),
    people.map((p) => el('option', {value: p}, mine.has(p) ? `${person(p)} (you)` : person(p))));
  box.value = people.includes(who) ? who : '';
  add(root, el('label', {for: 'member'}, 'member'), box);
}
