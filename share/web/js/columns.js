// SPDX-License-Identifier: GPL-3.0-or-later
// The columns of the table of runs: how each is shown, which ones a list of runs is first shown with, and what a
// reader chose for an experiment.
import {el} from './dom.js';
import {ago, duration, labelled, number, person, plain, setting, shortKey} from './format.js';

export const BOX_WIDTH = 42; // of the column with the boxes
const PARAMS_MAX = 4; // with more parameters that vary, they are one column
const NUMBERS = 3;
const ROOM_MAX = 1760; // the page is not wider

/** How a run's own columns are shown; others are numbers or texts. */
export const KNOWN = {
  key: {label: 'run', width: 104, cell: (v) => shortKey(v)},
  state: {width: 96, cell: (v) => stateOf(v)},
  experiment: {width: 112},
  recipe: {width: 110},
  setting: {width: 190, cell: (v) => setting(v), sort: false},
  wall_s: {label: 'time', num: true, width: 92, cell: (v) => duration(v)},
  forecast_s: {label: 'forecast', num: true, width: 92, cell: (v) => duration(v)},
  who: {width: 120, cell: (v) => person(v)},
  started: {width: 112, cell: (v) => ago(v / 1e6)},
  ended: {width: 112, cell: (v) => ago(v / 1e6)},
  commit: {width: 90, cell: (v) => v ? v.slice(0, 8) : '-'},
  repeat: {num: true, width: 80},
  attempt: {num: true, width: 80},
  seed: {width: 170},
};

const MARKS = {ok: '✓', diverged: '∞', running: '▶', failed: '✗', crashed: '✗', timeout: '✗', lost: '?', pruned: '✂'};
export function stateOf(state) {
  const kind = state === 'ok' ? 'ok' : state === 'running' || state === 'pruned' ? '' : 'fault';
  return el('span', {class: `state ${kind}`, 'data-mark': MARKS[state] ?? '!'}, state);
}

export function columnOf(name, all) {
  const known = KNOWN[name], found = all.find((n) => n.name === name && n.kind !== 'column');
  const within = /^(?:min|max)\((.*)\)$/.exec(name)?.[1] ?? name.replace(/^(param|result|metric)\./, '');
  const unit = found?.unit ?? all.find((n) => n.name === within && n.unit)?.unit;
  return {name, unit: known ? null : unit, cell: (v) => typeof v === 'number' ? number(v) : plain(v),
    num: !known && (!found || found.kind !== 'param'), width: Math.max(96, 8 * labelled(name, unit).length + 34), ...known};
}

const numbersOf = (fields) => [...new Set(fields.names.filter((n) => n.kind !== 'param' && n.rank < 4000).map((n) => n.name))].slice(0, NUMBERS);

/** The columns that a list of runs is first shown with: in what its runs differ, and the numbers that matter most
 * among those that they have. fields: the answer of the server for these runs. */
export function firstColumns(fields) {
  const params = fields.names.filter((n) => n.kind === 'param' && n.distinct > 1).map((n) => n.name);
  const several = fields.experiments.length > 1;
  const varied = several || params.length > PARAMS_MAX ? ['setting'] : params;
  const state = fields.states.some((s) => s !== 'ok') ? ['state'] : [];
  return ['key', ...state, ...(several ? ['experiment'] : []), ...varied, ...numbersOf(fields), 'wall_s', ...(fields.people.length > 1 ? ['who'] : []), 'ended'];
}

/* Left out one by one, the first of them first, while the columns are wider than the window. */
const DISPENSABLE = ['who', 'number 3', 'ended', 'number 2', 'experiment'];

/** Leaves out what does not fit beside the rest, but nothing of `pinned`. widths: of columns by name, in pixels. */
export function fitting(columns, fields, widths, beside, pinned) {
  const numbers = numbersOf(fields), room = Math.min(innerWidth, ROOM_MAX) - 36 - BOX_WIDTH - beside;
  let kept = columns;
  for (const name of DISPENSABLE.map((d) => /^number \d$/.test(d) ? numbers[d.at(-1) - 1] : d)) {
    if (kept.reduce((sum, c) => sum + widths(c), 0) <= room) break;
    kept = kept.filter((c) => c !== name || pinned.includes(c));
  }
  return kept;
}

/* ---- what a reader chose -----------------------------------------------------------------------
 * The browser keeps it for this server's address, by experiment. */

const keyOf = (what, experiments) => `orch ${what} ${[...experiments].sort().join(' ')}`;

/** What was last chosen for runs of these experiments; null: nothing. */
export function recall(what, experiments) {
  try {
    return experiments.length ? localStorage.getItem(keyOf(what, experiments)) : null;
  } catch {
    return null; // the browser keeps nothing
  }
}

/** Keeps a choice for runs of these experiments; '' forgets it. */
export function keep(what, experiments, text) {
  try {
    text ? localStorage.setItem(keyOf(what, experiments), text) : localStorage.removeItem(keyOf(what, experiments));
  } catch { /* the browser keeps nothing */ }
}
