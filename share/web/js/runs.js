// SPDX-License-Identifier: GPL-3.0-or-later
// Runs as a lab book: a line for the runs of a setting, which opens; filter, sort, group, choose columns, and select runs
// for what can be done with them (actions.js).
import {about, follow, forgetFields, get, isAbort, names, fields as fieldsOf} from './api.js';
import {actionBar, carryOut} from './actions.js';
import {BOX_WIDTH, columnOf, firstColumns, fitting, keep as keepChoice, KNOWN, recall} from './columns.js';
import {add, el, errorBox, link, plainTable, put, say} from './dom.js';
import {filterBox} from './filter.js';
import {duration, labelled, number, plain, setting, shortKey} from './format.js';
import {Sparks} from './sparks.js';
import {BLOCK, Grid} from './table.js';

const SELECTED_MAX = 200, RUNNING_SHOWN = 6, SPARK_WIDTH = 108, SPARK_METRICS = 3;

export async function show(root, page) {
  const q = {...page.query};
  let usual = []; // the columns that are shown when none are chosen
  let fields = null, grid = null, version = null, grouping = null, sparks = null, whole = false;
  const chosen = new Set((q.chosen ?? '').split(',').filter(Boolean)), open = new Set((q.open ?? '').split(',').filter(Boolean));

  async function readFields() {
    fields = await fieldsOf({where: q.where}).catch((error) => {
      if (error.status !== 400) throw error;
      return fieldsOf({}); // the condition is wrong, which the table will say
    });
    usual = suiting();
  }
  /* The columns of the address, else those chosen for these experiments; else nothing. */
  const chosenColumns = () => {
    if (q.columns) return q.columns.split(',');
    const has = (name) => name in KNOWN || fields.names.some((n) => n.name === name || name.endsWith(`.${n.name}`) || name.includes(`(${n.name})`));
    const kept = recall('columns', fields.experiments)?.split(',').filter(has) ?? [];
    return kept.length ? kept : null;
  };
  const columns = () => chosenColumns() ?? usual;
  const keep = () => page.note({...q, chosen: [...chosen].join(','), open: [...open].join(',')});
  const change = (more) => { Object.assign(q, more); keep(); draw(); };
  const setColumns = (list) => { keepChoice('columns', fields.experiments, list.join(',')); change({columns: list.join(',')}); };
  const sorts = () => {
    const order = (q.order || 'down').split(',');
    return (q.sort || 'ended').split(',').map((name, i) => ({name, order: order[i] ?? 'down'}));
  };

  /* What suits the runs, and what they are sorted by. */
  function suiting() {
    const first = firstColumns(fields), further = sorts().map((s) => s.name).filter((name) => !first.includes(name) && name !== 'ended');
    first.splice(first.indexOf('wall_s'), 0, ...further);
    return first;
  }

  const [server] = await Promise.all([about().catch(() => null), readFields()]);
  const filter = filterBox(q.where ?? '', (text) => { if (text !== (q.where ?? '')) { whole = false; change({where: text}); } }, names, fields);
  const count = el('span', {class: 'dim', id: 'count'});
  const actions = actionBar({selected: () => [...chosen], columns: () => (columns().includes('key') ? columns() : ['key', ...columns()]), clear: () => select([], false, true),
    changed: (verb) => { if (verb === 'hide') select([], false, true); forgetFields(); grid?.renew(); }});
  const fresh = el('button', {type: 'button', hidden: true, onclick: () => { forgetFields(); draw(); }});
  const member = el('span', {hidden: true});
  const strip = el('div', {class: 'live-strip'}), place = el('div');
  add(root, strip, el('div', {class: 'row top'}, filter.root, groupBox(), columnBox()),
    el('div', {class: 'row'}, member, count, fresh, foldBox(), link('explore', {where: q.where}, 'plot parameters against results')), actions.root, place);

  function foldBox() {
    const box = el('input', {type: 'checkbox', id: 'fold', checked: q.fold !== '0', onchange: () => change({fold: box.checked ? '' : '0'})});
    return el('label', {class: 'inline'}, box, 'repeats and attempts in one line');
  }

  function groupBox() {
    const list = el('datalist', {id: 'group-names'}, fields.names.filter((n) => n.kind !== 'metric').map((n) => el('option', {value: n.name})));
    const input = el('input', {id: 'group', list: 'group-names', value: q.group ?? '', placeholder: 'nothing', autocomplete: 'off',
      onchange: (event) => change({group: event.target.value.replace(/\s+/g, '')})});
    return el('div', {}, el('label', {for: 'group'}, 'group by (names, with commas)'), input, list,
      el('div', {class: 'buttons'}, el('button', {type: 'button', id: 'group-cell', onclick: () => { input.value = 'cell'; change({group: 'cell'}); }}, 'means of repeats'),
        ' ', el('button', {type: 'button', onclick: () => { input.value = ''; change({group: ''}); }}, 'show each run')));
  }

  function columnBox() {
    const picks = el('div', {class: 'picks'}), others = Object.keys(KNOWN).concat('tag', 'run_name', 'note', 'branch', 'gpu', 'host');
    const draw = () => put(picks, [...new Set([...columns(), ...fields.names.map((n) => n.name), ...others])].map((name) => {
      const box = el('input', {type: 'checkbox', checked: columns().includes(name), onchange: () => {
        const now = columns().filter((c) => c !== name);
        if (box.checked) now.push(name);
        setColumns(now);
      }});
      return el('label', {class: 'inline'}, box, columnOf(name, fields.names).label ?? name);
    }));
    const box = el('details', {id: 'columns', ontoggle: () => { if (box.open) draw(); }}, el('summary', {}, 'columns'), picks,
      el('button', {type: 'button', id: 'usual', onclick: () => { keepChoice('columns', fields.experiments, ''); change({columns: ''}); draw(); }}, 'show the usual columns'));
    return box;
  }

  /* Selects runs or takes them out; `isAlone`: and nothing else. */
  function select(keys, on, isAlone = false) {
    if (isAlone) chosen.clear();
    for (const key of keys) {
      if (on && !chosen.has(key) && chosen.size >= SELECTED_MAX) { say(`at most ${SELECTED_MAX} runs at once`); break; }
      on ? chosen.add(key) : chosen.delete(key);
    }
    keep();
    actions.draw();
    if (isAlone) grid?.draw();
  }

  /* ---- the table ---- */

  /* How the asked columns are shown. rows: the first ones, whose texts decide how wide a column is. */
  function gridColumns(asked, rows) {
    const at = (name) => asked.indexOf(name), key = (row) => row.cells[at('key')];
    const isChosen = (row) => row.keys.every((k) => chosen.has(k));
    const box = {name: ' ', label: '', title: 'selected', width: BOX_WIDTH, sort: false, show: (row) => {
      const some = !isChosen(row) && row.keys.some((k) => chosen.has(k));
      const input = el('input', {type: 'checkbox', tabindex: '-1', checked: isChosen(row), 'aria-label': row.kind === 'line' ? `select the ${row.runs} runs of ${shortKey(key(row))}` : `select run ${shortKey(key(row))}`});
      input.indeterminate = some;
      return input;
    }};
    const width = (name) => name === 'wall_s' ? (rows.some((r) => r.cells[at('forecast_s')]) ? 128 : 92)
      : Math.max(columnOf(name, fields.names).width, ...rows.map((r) => name in KNOWN && name !== 'state' ? 0 : 7.2 * (r.texts[name]?.length ?? 0) + 26));
    const spark = sparks ? SPARK_WIDTH : 0;
    if (!chosenColumns()) usual = fitting(suiting(), fields, width, spark, [...(q.sort ? sorts().map((s) => s.name) : []), ...(server?.has_group ? ['who'] : [])]);
    const shown = columns().map((name) => {
      const c = {...columnOf(name, fields.names), width: width(name)};
      if (name === 'key') return {...c, show: (row) => keyCell(row, key(row))};
      if (name === 'wall_s') return {...c, show: (row) => timeCell(row, row.cells[at('wall_s')], row.cells[at('forecast_s')])};
      // where there is no room for the experiment, the setting begins with it
      if (name === 'setting' && fields.experiments.length > 1 && !columns().includes('experiment')) return {...c, show: (row) => `${plain(row.cells[at('experiment')])} ${setting(row.cells[at(name)])}`.trim()};
      return {...c, show: (row) => row.texts[name] ?? c.cell(row.cells[at(name)], row)};
    });
    if (sparks) {
      const first = shown.findIndex((c) => fields.names.some((n) => n.name === c.name && n.kind !== 'param'));
      shown.splice(first < 0 ? shown.length : first, 0, {name: 'spark', label: 'curve', title: `the curve of ${sparks.metrics.join(', else of ')}, by step`, width: SPARK_WIDTH, sort: false, show: (row) => sparks.of(key(row))});
    }
    return {columns: [box, ...shown], isChosen, key};
  }

  function keyCell(row, key) {
    if (row.kind !== 'line') return shortKey(key);
    return el('span', {class: 'opener', title: row.is_repeats ? 'repeats of one setting' : 'runs of one setting or script'}, row.is_open ? '▾ ' : '▸ ', `${number(row.runs)} runs`);
  }

  /* The measured time, and where there was a forecast, how much longer or shorter than that it was. */
  function timeCell(row, wall, forecast) {
    const spread = row.texts.wall_s;
    if (spread) return el('span', {title: `${spread} s`}, duration(Number(/[\d.]+(?:e[+-]?\d+)?/.exec(spread)[0])));
    if (!forecast || !wall) return duration(wall);
    const off = Math.round(100 * (wall / forecast - 1));
    return el('span', {title: `forecast: ${duration(forecast)}`}, duration(wall), el('span', {class: 'dim'}, ` ${off >= 0 ? '+' : '−'}${Math.min(999, Math.abs(off))} %`));
  }

  async function drawRuns(signal) {
    const shown = columns(), asked = [...new Set([...shown, 'key', 'experiment', ...(shown.includes('wall_s') ? ['forecast_s'] : [])])];
    const curves = fields.names.filter((n) => n.kind === 'metric' && n.curves > 0 && n.rank < 3000 && !n.name.includes(',')).slice(0, SPARK_METRICS).map((n) => n.name);
    if (sparks?.metrics.join() !== curves.join()) { sparks?.end(); sparks = curves.length ? new Sparks(curves) : null; }
    const order = sorts();
    let info = null;
    const fetchRows = async (offset, limit, signal) => {
      info = await get('lines', {where: q.where, sort: order.map((s) => s.name).join(','), order: order.map((s) => s.order).join(','),
        columns: asked.join(','), offset, limit, open: [...open].join(','), fold: q.fold, whole: whole ? '1' : ''}, {signal});
      version = info.version;
      return info;
    };
    const begin = await fetchRows(0, BLOCK, signal), {columns: all, isChosen, key} = gridColumns(asked, begin.rows);
    const next = new Grid({
      label: 'runs', sorts: order, columns: all, fetch: fetchRows,
      open: (row) => { location.hash = `#/run/${key(row)}`; },
      unfold: (row, on) => {
        const keys = row.keys.filter((k) => open.has(k));
        keys.forEach((k) => open.delete(k));
        if (on) open.add(key(row));
        keep();
        next.renew().catch((error) => filter.fail(error));
      },
      choose: (rows, on) => select(rows.flatMap((r) => r.keys), on), isChosen,
      drawn: (rows) => sparks?.seen(rows.map(key)),
      setSort: (name, isFurther) => setSort(name, isFurther), failed: (error) => filter.fail(error),
    });
    grid?.end();
    grid = next;
    put(place, grid.table.parentElement);
    grid.start(begin);
    performance.mark('runs-drawn');
    drawCount(info);
    if (!info.is_whole) foldAll(next, () => info);
  }

  /* The first view of a long list folds its newest runs; the others follow when it is drawn. */
  async function foldAll(of, info) {
    whole = true;
    try {
      await of.renew();
      if (of === grid) drawCount(info());
    } catch (error) {
      if (!isAbort(error)) filter.fail(error);
    }
  }

  function drawCount({runs, lines, is_whole: isWhole}) {
    const folded = q.fold !== '0' && lines < runs ? ` in ${isWhole ? '' : 'at most '}${number(lines)} line${lines === 1 ? "" : "s"}` : '';
    put(count, runs ? `${number(runs)} run${runs === 1 ? '' : 's'}${folded}` : q.where ? 'no run matches' : "no run yet: 'orch run RECIPE' makes some");
  }

  function setSort(name, isFurther) {
    const now = sorts(), at = now.findIndex((s) => s.name === name);
    const turned = {name, order: at >= 0 && now[at].order === 'down' ? 'up' : 'down'};
    const next = !isFurther ? [turned] : at >= 0 ? now.map((s, i) => i === at ? turned : s) : [...now, turned];
    change({sort: next.map((s) => s.name).join(','), order: next.map((s) => s.order).join(',')});
  }

  /* ---- groups ---- */

  async function drawGroups(signal) {
    const values = columns().filter((n) => !KNOWN[n] && !fields.names.some((f) => f.kind === 'param' && f.name === n)).slice(0, 6).concat('wall_s');
    const by = q.group.split(',').filter(Boolean);
    // a metric is looked for among metrics alone, which is quicker
    const plainly = values.map((name) => fields.names.some((n) => n.name === name && n.kind === 'metric') && !fields.names.some((n) => n.name === name && n.kind !== 'metric') ? `metric.${name}` : name);
    const answer = await get('groups', {where: q.where, by: by.join(','), values: plainly.join(',')}, {signal});
    grid?.end();
    grid = null;
    const isCell = by.length === 1 && by[0] === 'cell';
    const heads = isCell ? [{name: 'experiment', cell: (g) => g.example[2]}, {name: 'setting', cell: (g) => setting(g.example[3])}]
      : by.map((name, i) => ({name, cell: (g) => name === 'setting' ? setting(g.by[i]) : typeof g.by[i] === 'number' ? number(g.by[i]) : plain(g.by[i])}));
    put(place, plainTable([...heads, {name: 'runs', num: true, cell: (g) => link('runs', {...q, group: '', fold: '0', where: whereOf(g, by)}, number(g.runs))},
      {name: 'curves', cell: (g) => link('overlay', {where: whereOf(g, by), repeats: g.runs > 1 ? 'mean' : ''}, 'show')},
      ...values.map((name, i) => ({name: name === 'wall_s' ? 'time [s]' : labelled(name, columnOf(name, fields.names).unit), num: true,
        cell: (g) => g.values[i] ? `${g.values[i].text}${g.values[i].n < g.runs ? ` (n=${g.values[i].n}${g.failed ? `, ${number(g.failed)} failed` : ''})` : ''}` : '-'}))],
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
    actions.draw();
    try {
      await readFields();
      if (mine.aborted) return;
      await (q.group ? drawGroups(mine) : drawRuns(mine));
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

  let width = innerWidth, resizing = 0;
  const onResize = () => {
    clearTimeout(resizing);
    if (innerWidth !== width && !chosenColumns()) resizing = setTimeout(() => { width = innerWidth; draw(); }, 200);
  };
  addEventListener('resize', onResize);
  await draw();
  if (server?.has_group) {
    const {memberBox} = await import('./member.js');
    await memberBox(member, () => q.where ?? '', (where) => { whole = false; filter.input.value = where; change({where}); }).catch(() => {});
    member.hidden = !member.childNodes.length;
  }
  const stop = follow(null, {trials: (data) => {
    if (version && data.version && data.version !== version) {
      fresh.hidden = false;
      fresh.textContent = 'there are new runs: show them';
    }
    drawStrip(strip, data.trials.filter((t) => t.is_alive), server?.changes.allowed);
  }});
  return () => { stop(); removeEventListener('resize', onResize); clearTimeout(resizing); grid?.end(); grouping?.abort(); sparks?.end(); };
}

/* The running trials, each with a button that ends it. */
function drawStrip(strip, trials, mayCancel) {
  const focused = document.activeElement?.closest?.('.live-strip')?.ownerDocument.activeElement?.dataset.key;
  put(strip, trials.slice(0, RUNNING_SHOWN).map((t) => el('div', {class: 'panel'}, el('a', {href: `#/run/${t.key}`}, `▶ ${`${t.experiment} ${setting(t.setting)}`.trim()}: `,
    t.total ? `${Math.floor(100 * Math.min(1, t.done / t.total))} %` : `${duration(t.elapsed_s)}`,
    t.remaining ? `, ${duration(t.remaining.seconds)} left` : ''),
  mayCancel ? el('button', {type: 'button', class: 'small', 'data-key': t.key, 'aria-label': `cancel ${t.experiment} ${setting(t.setting)}`, onclick: () => carryOut('cancel', [t.key])}, 'cancel') : null)),
  trials.length > RUNNING_SHOWN ? el('a', {href: '#/live', class: 'panel'}, `and ${trials.length - RUNNING_SHOWN} more`) : null);
  if (focused) strip.querySelector(`button[data-key="${CSS.escape(focused)}"]`)?.focus();
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
