// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with the runs that are selected: their curves, a comparison, a table to download, the commands that make
// them again; and, where the server lets this page change the store, tags, notes, names, hiding.
import {about, change, get} from './api.js';
import {add, address, el, errorBox, put, say} from './dom.js';

export const CURVES_MAX = 50;
const COMMANDS_MAX = 30;

const FORMS = {
  tag: {title: 'tag these runs', go: 'tag', fields: [{name: 'text', label: 'tag', placeholder: 'baseline'}]},
  untag: {title: 'remove a tag from these runs', go: 'remove', fields: [{name: 'text', label: 'tag'}]},
  note: {title: 'add a note to these runs', go: 'add', fields: [{name: 'text', label: 'note'}]},
  name: {title: 'name this run', go: 'name', fields: [{name: 'text', label: 'name', note: "for use in commands: 'orch show NAME'"}]},
  hide: {title: 'hide these runs', go: 'hide', fields: [{name: 'text', label: 'why', optional: true}],
    note: "A hidden run is left out of lists, reports and reuse; 'orch rm --undo RUN' brings it back."},
};
const DONE = {tag: 'tagged', untag: 'no longer tagged', note: 'noted', name: 'named', hide: 'hidden', cancel: 'asked to end'};

/** Changes the store and says what came of it. Resolves to whether anything was done. */
export async function carryOut(verb, runs, text) {
  try {
    const {done, failed} = await change({do: verb, runs, text});
    if (done.length) say(`${done.length === 1 ? '1 run is' : `${done.length} runs are`} ${DONE[verb]}`);
    for (const f of failed.slice(0, 3)) say(`${f.run.slice(-8)}: ${f.message}`);
    return done.length > 0;
  } catch (error) {
    document.getElementById('status').append(errorBox(error));
    setTimeout(() => document.querySelector('#status .error')?.remove(), 9000);
    return false;
  }
}

/** Asks for what the change needs, and carries it out. */
export async function changeRuns(verb, runs) {
  const form = FORMS[verb], {ask} = await import('./dialog.js');
  const said = await ask(runs.length === 1 ? form.title.replace('these runs', 'this run') : `${form.title} (${runs.length})`, form.fields, form);
  return said ? carryOut(verb, runs, said.text) : false;
}

/** Lets the browser keep a text as a file. */
export function download(name, text, type = 'text/csv') {
  const url = URL.createObjectURL(text instanceof Blob ? text : new Blob([text], {type}));
  const a = el('a', {href: url, download: name});
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/* A value as a cell of CSV; a text that a spreadsheet would take for a formula gets an apostrophe (docs/run-fields.md). */
export function csvCell(value) {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

async function exportTable(keys, columns) {
  const rows = [];
  for (let i = 0; i < keys.length; i += 100) // an address has at most 8 KiB
    rows.push(...(await get('runs', {runs: keys.slice(i, i + 100).join(','), columns: columns.join(','), limit: 100})).rows);
  download('runs.csv', [columns, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n');
}

/** Shows what to type to run these again; the server makes the commands. */
export async function showCommands(keys) {
  const {showText} = await import('./dialog.js'); // not part of the first view
  const {reruns} = await get('reruns', {runs: keys.slice(0, COMMANDS_MAX).join(',')});
  const lines = [...new Set(reruns.map((r) => r.command ?? `# ${r.why_none}`))];
  const first = keys.length > COMMANDS_MAX ? `Of the first ${COMMANDS_MAX} runs. ` : '';
  showText(keys.length === 1 ? 'the command that runs it again' : 'commands that run these again', lines.join('\n'),
    `${first}Type them where the runs were made. Each runs all repeats of its setting.`);
}

/** What a button does, with its error shown. */
export const guarded = (action) => async () => { try { await action(); } catch (error) { document.getElementById('status').append(errorBox(error)); } };

/** The buttons. selected(): the keys; columns(): of the table; changed(): the store was changed; clear(): select nothing. */
export function actionBar({selected, columns, changed, clear}) {
  const root = el('div', {class: 'row actions', id: 'actions', role: 'toolbar', 'aria-label': 'what to do with the selected runs'});
  const hint = el('span', {class: 'dim'}, 'tick runs to see their curves, compare, tag or export them');
  const why = el('span', {class: 'dim', id: 'read-only'});
  let allowed = null;
  const button = (id, text, onclick, more = {}) => el('button', {type: 'button', id, onclick, ...more}, text);
  const overlay = button('overlay', '', () => { location.hash = address('overlay', {runs: selected().slice(0, CURVES_MAX).join(',')}); }, {class: 'main'});
  const compare = button('compare', 'compare both', () => { const [a, b] = selected().sort(); location.hash = address(`run/${b}`, {with: a}); });
  const others = [button('export', 'export CSV', guarded(() => exportTable(selected(), columns()))), button('commands', 'commands to rerun', guarded(() => showCommands(selected())))];
  const changes = ['tag', 'untag', 'note', 'name', 'hide'].map((verb) => button(`do-${verb}`, verb === 'untag' ? 'remove a tag' : verb, async () => { if (await changeRuns(verb, selected())) changed(verb); }));
  const none = button('none', 'select nothing', clear);
  about().then((a) => {
    allowed = a.changes.allowed;
    put(why, allowed ? null : a.changes.why);
    draw();
  }).catch(() => {});

  function draw() {
    const n = selected().length;
    overlay.textContent = n === 1 ? 'show the curves of this run' : n > CURVES_MAX ? `show the curves of the first ${CURVES_MAX}` : `show the curves of these ${n} runs`;
    hint.hidden = n > 0;
    for (const b of [overlay, ...others, none]) b.hidden = !n;
    compare.hidden = n !== 2;
    for (const b of changes) {
      b.hidden = !n || (b.id === 'do-name' && n !== 1);
      b.disabled = !allowed;
    }
    why.hidden = !n || allowed !== false;
  }
  add(root, hint, overlay, compare, changes, others, none, why);
  draw();
  return {root, draw};
}
