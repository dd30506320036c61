// SPDX-License-Identifier: GPL-3.0-or-later
// What a run changed against an earlier one of its experiment: parameters, source, environment, inputs, and what came of it.
import {get} from './api.js';
import {add, address, el, errorBox, link, plainTable, put} from './dom.js';
import {labelled, number, plain, shortKey} from './format.js';

const KINDS = [['parameter', 'parameters'], ['source', 'source'], ['input', 'inputs'], ['environment', 'environment'], ['run', 'run'], ['machine', 'machine']];
const QUIET = new Set(['seed', 'tree', 'state']); // of the run: said elsewhere, or in each pair of runs
const VERDICT_FIRST = {different: 0, equal: 1, same: 2, unknown: 3};

/* Lines of a unified diff, each with its own colour and sign. */
function sourceDiff(text) {
  const kind = (line) => line.startsWith('+++') || line.startsWith('---') || line.startsWith('diff ') ? 'file' : line.startsWith('@@') ? 'hunk' : line.startsWith('+') ? 'more' : line.startsWith('-') ? 'less' : '';
  return el('pre', {class: 'diff', tabindex: '0', 'aria-label': 'lines of source that differ'}, text.split('\n').slice(0, 2000).map((line) => el('span', {class: kind(line)}, `${line}\n`)));
}

function differences(rows, source) {
  const files = new Set(rows.filter((r) => r.what === 'source').map((r) => r.name)); // not again as inputs
  const shown = rows.filter((r) => !(r.what === 'run' && QUIET.has(r.name)) && !(r.what === 'input' && files.has(r.name)));
  if (!shown.length && !source) return el('p', {}, 'Nothing but the seed.');
  return [KINDS.flatMap(([kind, title]) => {
    const of = shown.filter((r) => r.what === kind);
    if (!of.length) return [];
    const table = plainTable([{name: kind === 'source' ? 'file' : 'name', wrap: true, cell: (r) => r.name}, {name: 'before', wrap: true, cell: (r) => value(r.a)}, {name: 'this run', wrap: true, cell: (r) => value(r.b)}], of, title);
    const isLong = kind === 'environment' || kind === 'machine' || of.length > 12;
    return [isLong ? el('details', {}, el('summary', {}, `${title} (${of.length})`), table) : [el('h3', {}, title), table]];
  }), source ? [el('details', {open: source.length < 6000}, el('summary', {}, 'lines of source'), sourceDiff(source))] : null];
}

const value = (v) => v === null || v === undefined ? el('span', {class: 'dim'}, '-') : el('span', {class: 'mono'}, plain(v));

/* "0.912 (0.905 to 0.918)" */
function side(s) {
  if (!s || s.centre === null) return '-';
  return `${number(s.centre)}${s.low !== null && s.high !== null ? ` (${number(s.low)} to ${number(s.high)})` : ''}`;
}

function change(r) {
  const mid = r.ratio ?? r.difference;
  if (mid === undefined || mid === null) return '-';
  const range = r.low !== null && r.low !== undefined && r.high !== null ? ` (${number(r.low)} to ${number(r.high)})` : '';
  return `${r.ratio !== undefined ? '× ' : r.difference > 0 ? '+' : ''}${number(mid)}${range}`;
}

function outcome(answer) {
  if (!answer.comparison) return answer.no_comparison ? el('p', {class: 'note'}, answer.no_comparison) : null;
  const rows = [...answer.comparison.metrics].sort((a, b) => (VERDICT_FIRST[a.verdict] ?? 4) - (VERDICT_FIRST[b.verdict] ?? 4));
  if (!rows.length) return el('p', {class: 'note'}, 'They have no numbers in common.');
  const several = Math.max(...rows.map((r) => Math.max(r.a?.n ?? 0, r.b?.n ?? 0))) > 1;
  const words = (r) => (r.words ?? r.verdict ?? '').replace(/^B is /, '');
  return [el('h3', {}, 'results compared'), plainTable([{name: 'number', cell: (r) => labelled(r.metric, r.unit)}, {name: 'before', num: true, cell: (r) => side(r.a)}, {name: 'this setting', num: true, cell: (r) => side(r.b)},
    ...(several ? [{name: 'runs', num: true, cell: (r) => `${r.a?.n ?? 0} and ${r.b?.n ?? 0}`}] : []), {name: several ? 'change (95 % interval)' : 'change', num: true, cell: change},
    ...(several ? [{name: 'it is', cell: words}] : [])], rows, 'results compared'),
  several ? null : el('p', {class: 'note'}, 'One run on each side: no interval. Repeats show whether a change is more than noise.')];
}

/** Fills `place` for a run; `wanted`: the key of the run to compare with, or nothing. */
export async function showChanges(place, run, wanted, choose) {
  let answer;
  try {
    answer = await get(`runs/${run.key}/changes`, {with: wanted}, {wait: 65000});
  } catch (error) {
    put(place, errorBox(error));
    return;
  }
  const step = (key, text) => el('a', {class: 'button', href: key ? address(`run/${key}`) : null, 'aria-disabled': key ? null : 'true', 'data-step': text}, text);
  const other = el('input', {id: 'with', placeholder: 'key, name or @{1}', size: 18, onchange: () => choose(other.value.trim())});
  put(place, el('div', {class: 'row'}, step(answer.before, '← run before'), step(answer.after, 'run after →'), el('label', {}, 'compare with', other),
    answer.with ? link('overlay', {runs: `${answer.with},${run.key}`}, 'curves of both') : null));
  if (!answer.with) {
    add(place, el('p', {class: 'dim'}, 'There is no earlier run of its experiment in the list.'));
    return;
  }
  add(place, el('p', {}, wanted ? 'Against run ' : answer.is_repeat ? 'The runs before are repeats of it. Against run ' : 'Against the last run with another setting or source, ', el('a', {href: `#/run/${answer.with}`}, shortKey(answer.with)), ':'),
    differences(answer.differences ?? [], answer.source), outcome(answer));
}
