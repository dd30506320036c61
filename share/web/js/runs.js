// SPDX-License-Identifier: GPL-3.0-or-later
// Runs as a table: filter, sort, group, choose columns, choose runs to lay over each other.
import {follow, forgetNames, get, isAbort, names} from './api.js';
import {add, address, el, errorBox, link, plainTable, put, say} from './dom.js';
import {ago, duration, labelled, number, person, plain, setting, shortKey} from './format.js';
import {Grid} from './table.js';

const CHOSEN_MAX = 20;
const BOX_WIDTH = 42; // of the column with the boxes

/** How a run's own columns are shown; others are numbers or texts. */
const KNOWN = {
  key: {label: 'run', width: 96, cell: (v) => shortKey(v)},
  state: {width: 92, cell: (v) => stateOf(v)},
  experiment: {width: 112},
  recipe: {width: 110},
  setting: {width: 190, cell: (v) => setting(v), sort: false},
  wall_s: {label: 'time', num: true, width: 92, cell: (v) => duration(v)},
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
  const kind = state === 'ok' ? 'ok' : state === 'running' ? '' : 'fault';
  return el('span', {class: `state ${kind}`, 'data-mark': MARKS[state] ?? '!'}, state);
}

export function columnOf(name, all) {
  const known = KNOWN[name], found = all.find((n) => n.name === name && n.kind !== 'column');
  const within = /^(?:min|max)\((.*)\)$/.exec(name)?.[1] ?? name.replace(/^(param|result|metric)\./, '');
  const unit = found?.unit ?? all.find((n) => n.name === within && n.unit)?.unit;
  return {name, unit: known ? null : unit, cell: (v) => typeof v === 'number' ? number(v) : plain(v),
    num: !known && (!found || found.kind !== 'param'), width: Math.max(96, 8 * labelled(name, unit).length + 34), ...known};
}

/* Left out one by one, the first of them first, while the columns are wider than the window. */
const DISPENSABLE = ['who', 'state', 'result 3', 'ended', 'experiment', 'result 2'];

/** The columns that a store is first shown with: the results that matter most, and what fits beside them. */
function firstColumns(all) {
  const told = all.filter((n) => n.kind === 'result' || n.kind === 'metric');
  const judged = told.filter((n) => n.better && n.better !== 'none');
  const some = [...new Set((judged.length ? judged : told).sort((a, b) => a.rank - b.rank).map((n) => n.name))].slice(0, 3);
  let columns = ['key', 'state', 'experiment', 'setting', ...some, 'wall_s', 'who', 'ended'];
  const room = Math.min(innerWidth, 1760) - 36 - BOX_WIDTH;
  for (const name of DISPENSABLE.map((d) => /^result (\d)$/.test(d) ? some[d.at(-1) - 1] : d)) {
    if (columns.reduce((sum, c) => sum + columnOf(c, all).width, 0) <= room) break;
    columns = columns.filter((c) => c !== name);
  }
  return columns;
}

/** The box with the condition, its errors, and the names it may use. apply(text). */
export function filterBox(text, apply, all) {
  const input = el('input', {type: 'search', value: text, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
    placeholder: "lr >= 0.01 and state = ok", 'aria-describedby': 'filter-error'});
  input.id = 'filter';
  const wrong = el('div', {id: 'filter-error'});
  let timer = 0;
  const now = () => { clearTimeout(timer); apply(input.value.trim()); };
  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(now, 450); });
  input.addEventListener('keydown', (event) => { if (event.key === 'Enter') now(); });
  const insert = (name) => {
    input.setRangeText(`${input.value && !input.value.endsWith(' ') ? ' ' : ''}${name} `, input.selectionStart, input.selectionEnd, 'end');
    input.focus();
  };
  const help = el('details', {}, el('summary', {}, 'names and operators'),
    el('p', {class: 'note'}, '= != < <= > >= ~ (contains), joined by and, or, not and parentheses. Times: started > 2d. A name with other signs: param.NAME, result.NAME, metric.NAME.'),
    el('div', {class: 'picks'}, all.filter((n) => !['setting', 'cell'].includes(n.name)).slice(0, 300).map((n) =>
      el('button', {type: 'button', title: n.kind, onclick: () => insert(n.name)}, n.name))));
  return {root: el('div', {class: 'grow'}, el('label', {for: 'filter'}, 'filter'), input, wrong, help), input,
    fail: (error) => { put(wrong, error ? errorBox(error) : null); input.setAttribute('aria-invalid', error ? 'true' : 'false'); }};
}

export async function show(root, page) {
  const all = await names();
  const q = {...page.query};
  const first = firstColumns(all);
  const chosen = new Set((q.chosen ?? '').split(',').filter(Boolean));
  let grid = null, version = null, grouping = null;

  const columns = () => (q.columns ? q.columns.split(',') : first);
  const keep = () => page.note({...q, chosen: [...chosen].join(',')});
  const change = (more) => { Object.assign(q, more); keep(); draw(); };

  const filter = filterBox(q.where ?? '', (text) => { if (text !== (q.where ?? '')) change({where: text}); }, all);
  const count = el('span', {class: 'dim', id: 'count'});
  const overlay = el('button', {type: 'button', class: 'main', id: 'overlay', onclick: () => {
    location.hash = address('overlay', {runs: [...chosen].join(',')});
  }});
  const hint = el('span', {class: 'dim'}, 'tick runs (or press the space bar) to see their curves in one chart');
  const fresh = el('button', {type: 'button', hidden: true, onclick: () => { forgetNames(); draw(); }});
  const strip = el('div', {class: 'live-strip'});
  const place = el('div');
  add(root, strip, el('div', {class: 'row top'}, filter.root, groupBox(), columnBox()),
    el('div', {class: 'row'}, count, fresh, hint, overlay,
      el('button', {type: 'button', id: 'none', onclick: () => { chosen.clear(); keep(); drawChosen(); grid?.draw(); }}, 'untick all runs'),
      link('explore', {where: q.where}, 'plot parameters against results')), place);

  function groupBox() {
    const list = el('datalist', {id: 'group-names'}, all.filter((n) => n.kind !== 'metric').map((n) => el('option', {value: n.name})));
    const input = el('input', {id: 'group', list: 'group-names', value: q.group ?? '', placeholder: 'nothing', autocomplete: 'off',
      onchange: (event) => change({group: event.target.value.replace(/\s+/g, '')})});
    return el('div', {}, el('label', {for: 'group'}, 'group by (names, with commas)'), input, list,
      el('div', {class: 'buttons'}, el('button', {type: 'button', id: 'group-cell', onclick: () => { input.value = 'cell'; change({group: 'cell'}); }}, 'put repeats together'),
        ' ', el('button', {type: 'button', onclick: () => { input.value = ''; change({group: ''}); }}, 'show each run')));
  }

  function columnBox() {
    const picks = el('div', {class: 'picks'});
    const draw = () => put(picks, [...new Set([...columns(), ...all.map((n) => n.name)])].filter((n) => n !== 'cell').map((name) => {
      const box = el('input', {type: 'checkbox', checked: columns().includes(name), onchange: () => {
        const now = columns().filter((c) => c !== name);
        if (box.checked) now.push(name);
        change({columns: now.join(',')});
      }});
      return el('label', {class: 'inline'}, box, columnOf(name, all).label ?? name);
    }));
    const box = el('details', {id: 'columns', ontoggle: () => { if (box.open) draw(); }}, el('summary', {}, 'columns'), picks,
      el('button', {type: 'button', onclick: () => { change({columns: ''}); draw(); }}, 'show the usual columns'));
    return box;
  }

  function drawChosen() {
    overlay.textContent = chosen.size === 1 ? 'show the curves of this run' : `show the curves of these ${chosen.size} runs`;
    overlay.hidden = !chosen.size;
    hint.hidden = chosen.size > 0 || !!q.group;
    root.querySelector('#none').hidden = !chosen.size;
  }

  function choose(row, on) {
    const key = row[columns().indexOf('key')] ?? row.at(-1);
    if (on && chosen.size >= CHOSEN_MAX) { say(`at most ${CHOSEN_MAX} runs at once`); return; }
    on ? chosen.add(key) : chosen.delete(key);
    keep();
    drawChosen();
  }

  async function drawRuns() {
    const shown = columns(), asked = shown.includes('key') ? shown : [...shown, 'key'];
    const keyOf = (row) => row[asked.indexOf('key')];
    const sort = {name: q.sort || 'ended', order: q.order || 'down'};
    const boxed = {name: ' ', label: '', width: BOX_WIDTH, sort: false, cell: (v, row) => el('input', {type: 'checkbox', tabindex: '-1',
      checked: chosen.has(keyOf(row.run ?? row)), 'aria-label': `choose run ${shortKey(keyOf(row.run ?? row))}`})};
    const next = new Grid({
      label: 'runs', sort, columns: [boxed, ...shown.map((n) => columnOf(n, all))],
      fetch: async (offset, limit, signal) => {
        const answer = await get('runs', {where: q.where, sort: sort.name, order: sort.order, columns: asked.join(','), offset, limit}, {signal});
        version = answer.version;
        return {total: answer.total, rows: answer.rows.map((run) => Object.assign([null, ...run], {run}))};
      },
      open: (row) => { location.hash = `#/run/${keyOf(row.run)}`; },
      choose: (row, on) => choose(row.run, on), isChosen: (row) => chosen.has(keyOf(row.run)),
      setSort: (name) => change({sort: name, order: q.sort === name && (q.order || 'down') === 'down' ? 'up' : 'down'}),
      failed: (error) => filter.fail(error),
    });
    await next.start();
    grid?.end();
    grid = next;
    put(place, grid.table.parentElement);
    grid.draw();
    performance.mark('runs-drawn');
    put(count, grid.total ? `${number(grid.total)} runs` : q.where ? 'no run matches' : "no run yet: 'orch run RECIPE' makes some");
  }

  async function drawGroups(signal) {
    const values = columns().filter((n) => !KNOWN[n]).slice(0, 6).concat('wall_s');
    const by = q.group.split(',').filter(Boolean);
    // a metric is looked for among metrics alone, which is quicker
    const plainly = values.map((name) => all.some((n) => n.name === name && n.kind !== 'metric') || !all.some((n) => n.name === name) ? name : `metric.${name}`);
    const answer = await get('groups', {where: q.where, by: by.join(','), values: plainly.join(',')}, {signal});
    grid?.end();
    grid = null;
    const isCell = by.length === 1 && by[0] === 'cell';
    const heads = isCell ? [{name: 'experiment', cell: (g) => g.example[2]}, {name: 'setting', cell: (g) => setting(g.example[3])}]
      : by.map((name, i) => ({name, cell: (g) => name === 'setting' ? setting(g.by[i]) : typeof g.by[i] === 'number' ? number(g.by[i]) : plain(g.by[i])}));
    put(place, plainTable([...heads, {name: 'runs', num: true, cell: (g) => link('runs', {...q, group: '', where: whereOf(g, by)}, number(g.runs))},
      {name: 'curves', cell: (g) => link('overlay', {where: whereOf(g, by), repeats: g.runs > 1 ? 'mean' : ''}, 'show')},
      ...values.map((name, i) => ({name: name === 'wall_s' ? 'time [s]' : labelled(name, columnOf(name, all).unit), num: true,
        cell: (g) => g.values[i] ? `${g.values[i].text}${g.values[i].n < g.runs ? ` (n=${g.values[i].n})` : ''}` : '-'}))],
    answer.groups, 'groups of runs'),
    el('p', {class: 'note'}, answer.legend ? `${answer.legend}.` : 'Each group has one run.',
      isCell ? ' A group has the same recipe, experiment, plugin and parameters; its runs differ in repeat and seed.' : '',
      answer.total > answer.groups.length ? ` The first ${number(answer.groups.length)} of ${number(answer.total)} groups.` : ''));
    put(count, `${number(answer.runs)} runs in ${number(answer.total)} groups`);
  }

  function whereOf(g, by) {
    const pairs = by[0] === 'cell' && by.length === 1 ? cellPairs(g.example) : by.map((name, i) => [name, g.by[i]]);
    const parts = pairs.filter(([, v]) => v !== null && typeof v !== 'object').map(([n, v]) => `${n} = ${quoted(v)}`);
    return [q.where ? `(${q.where})` : '', ...parts].filter(Boolean).join(' and ');
  }

  async function draw() {
    grouping?.abort();
    grouping = new AbortController();
    const mine = grouping.signal;
    fresh.hidden = true;
    place.setAttribute('aria-busy', 'true');
    drawChosen();
    try {
      await (q.group ? drawGroups(mine) : drawRuns());
      if (mine.aborted) return;
      filter.fail(null);
    } catch (error) {
      if (isAbort(error) || mine.aborted) return;
      if (!place.firstChild || error.status !== 400) put(place, error.status === 400 ? null : errorBox(error));
      if (error.status === 400) filter.fail(error);
    } finally {
      place.removeAttribute('aria-busy');
    }
  }

  await draw();
  const stop = follow(null, {trials: (data) => {
    if (version && data.version && data.version !== version) {
      fresh.hidden = false;
      fresh.textContent = 'there are new runs: show them';
    }
    put(strip, data.trials.filter((t) => t.is_alive).slice(0, 6).map((t) => el('a', {href: '#/live', class: 'panel'},
      `▶ ${t.experiment} ${setting(t.setting)}: `, t.total ? `${Math.floor(100 * Math.min(1, t.done / t.total))} %` : `${duration(t.elapsed_s)}`,
      t.remaining ? `, ${duration(t.remaining.seconds)} left` : '')));
  }});
  return () => { stop(); grid?.end(); grouping?.abort(); };
}

function quoted(value) {
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
}

function cellPairs(example) {
  const pairs = [['recipe', example[1]], ['experiment', example[2]]];
  try {
    for (const [name, value] of Object.entries(JSON.parse(example[3]))) pairs.push([`param.${name}`, value]);
  } catch { /* no setting */ }
  return pairs;
}
