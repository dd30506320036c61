// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters against results: parallel coordinates, a scatter of two columns coloured by a third, and which parameters
// matter. Runs that were pruned, or failed, are shown as such.
import {fields as fieldsOf, get, isAbort, names} from './api.js';
import {columnOf} from './columns.js';
import {add, address, el, errorBox, link, plainTable, put, svg} from './dom.js';
import {filterBox} from './filter.js';
import {labelled, number, plain, shortKey} from './format.js';
import {color, scale, variable} from './palette.js';
import {axisOf, conditionOf, Parallel} from './parallel.js';
import {scatterOf} from './scatter.js';

const RUNS_MAX = 5000, LINES_MAX = 1500, AXES_FIRST = 6;
const SEEDS = /^(random_|manual_|rng_)?seed$/i, OWN = ['wall_s', 'experiment', 'who', 'repeat', 'seed'];
const MODES = [['parallel', 'parallel coordinates'], ['scatter', 'scatter'], ['contour', 'contour of two parameters'], ['importance', 'importance of the parameters']];

export async function show(root, page) {
  const q = {...page.query}, brushes = new Map((q.brush ?? '').split(';').filter(Boolean).map((b) => {
    const [name, range] = [b.slice(0, b.lastIndexOf(':')), b.slice(b.lastIndexOf(':') + 1).split('-').map(Number)];
    return [name, range];
  }).filter(([, r]) => r.length === 2 && r.every((v) => v >= 0 && v <= 1)));
  let fields = null, params = [], numbers = [], abort = new AbortController(), chart = null;

  async function readFields() {
    fields = await fieldsOf({where: q.where}).catch((error) => { if (error.status !== 400) throw error; return fieldsOf({}); });
    params = fields.names.filter((n) => n.kind === 'param' && !SEEDS.test(n.name));
    numbers = [...new Map(fields.names.filter((n) => n.kind !== 'param').map((n) => [n.name, n])).values()];
  }
  await readFields();
  /* Parameters that vary. One that belongs to other runs than the result would only break the lines. */
  const varied = () => {
    const result = numbers.find((n) => n.name === (q.y ?? numbers[0]?.name));
    return params.filter((n) => n.distinct > 1 && 2 * n.runs >= (result?.runs ?? 0)).map((n) => n.name);
  };
  const value = (id) => q[id] ?? {mode: 'parallel', y: numbers[0]?.name ?? 'wall_s', x: varied()[0] ?? params[0]?.name ?? 'started', up: varied()[1] ?? numbers[0]?.name ?? 'wall_s', by: ''}[id];

  const filter = filterBox(q.where ?? '', (text) => { if (text !== (q.where ?? '')) change({where: text}); }, names, fields);
  const place = el('div', {class: 'panel', id: 'explore-chart'}), note = el('p', {class: 'note', id: 'explore-note', 'aria-live': 'polite'}), own = el('div', {class: 'row top'}), pick = el('p', {class: 'note', 'aria-live': 'polite'});
  const head = el('div', {class: 'row'});
  add(root, el('h1', {}, 'Parameters and results'), el('div', {class: 'row top'}, filter.root), head, own, place, pick, note);

  function change(more) {
    Object.assign(q, more);
    noteState();
    draw();
  }
  function noteState() {
    page.note({...q, brush: [...brushes].map(([name, r]) => `${name}:${r.map((v) => v.toFixed(3)).join('-')}`).join(';')});
  }

  function choice(id, label, options) {
    const s = el('select', {id, onchange: () => change({[id]: s.value})}, options.map(([v, t]) => el('option', {value: v}, t)));
    s.value = value(id);
    return el('label', {}, label, s);
  }
  const named = (list) => [...new Set(list)].map((n) => [n, labelled(n, columnOf(n, fields.names).unit)]);
  const box = (id, label) => {
    const b = el('input', {type: 'checkbox', id, checked: q[id] === '1', onchange: () => change({[id]: b.checked ? '1' : '0'})});
    return el('label', {class: 'inline'}, b, label);
  };
  const wants = (id) => q[id] ? q[id] === '1' : undefined; // not said: as the values are spread

  const axes = () => (q.axes ? q.axes.split(',') : varied().slice(0, AXES_FIRST)).filter(Boolean);

  function controls() {
    const all = named([...params.map((n) => n.name), ...numbers.map((n) => n.name), ...OWN]);
    put(head, choice('mode', 'as', MODES), choice('y', value('mode') === 'scatter' ? 'colour' : 'result', named([...numbers.map((n) => n.name), 'wall_s'])));
    if (value('mode') === 'scatter') {
      put(own, choice('x', 'across', all), choice('up', 'up', all), choice('by', 'instead of colour, mark by', [['', 'nothing'], ...all]), box('logx', 'logarithmic across'), box('logy', 'logarithmic up'));
    } else if (value('mode') === 'contour') {
      const two = named(params.map((n) => n.name));
      put(own, choice('x', 'across', two), choice('up', 'up', two));
    } else if (value('mode') === 'parallel') {
      const now = axes();
      put(own, el('details', {class: 'grow', id: 'axes'}, el('summary', {}, 'axes'), el('div', {class: 'picks'}, [...new Set([...now, ...params.map((n) => n.name), ...numbers.map((n) => n.name), ...OWN])].map((name) => {
        const b = el('input', {type: 'checkbox', value: name, checked: now.includes(name), onchange: () => change({axes: [...axes().filter((a) => a !== name), ...(b.checked ? [name] : [])].join(',')})});
        return el('label', {class: 'inline'}, b, name);
      }))));
    } else {
      put(own);
    }
  }

  async function draw() {
    abort.abort();
    abort = new AbortController();
    const {signal} = abort;
    place.setAttribute('aria-busy', 'true');
    try {
      await readFields();
      if (signal.aborted) return;
      controls();
      const mode = value('mode');
      put(pick);
      chart?.end?.();
      chart = null;
      if (mode === 'importance') await importance(signal);
      else if (mode === 'contour') await contour(signal);
      else await runsAs(mode, signal);
      filter.fail(null);
      place.removeAttribute('aria-busy');
    } catch (error) {
      if (isAbort(error)) return;
      place.removeAttribute('aria-busy');
      if (error.status === 400) filter.fail(error);
      else put(place, errorBox(error));
    }
  }

  async function runsAs(mode, signal) {
    const wanted = mode === 'scatter' ? [value('x'), value('up'), q.by || value('y')] : [...new Set([...axes(), value('y')])];
    const answer = await get('runs', {where: q.where, columns: [...wanted, 'state', 'key'].join(','), limit: mode === 'scatter' ? RUNS_MAX : LINES_MAX}, {signal});
    mode === 'scatter' ? scatter(wanted, answer) : parallel(wanted, answer);
    if (answer.total > answer.rows.length) add(note, ` The newest ${number(answer.rows.length)} of ${number(answer.total)} runs.`);
  }

  function scatter(wanted, answer) {
    const [x, up, by] = wanted, label = (n) => labelled(n, columnOf(n, fields.names).unit);
    chart = scatterOf(place, {rows: answer.rows, x: label(x), up: label(up), by, isMarked: !!q.by, logX: wants('logx'), logY: wants('logy'),
      pick: (row) => put(pick, row ? [`run ${shortKey(row.at(-1))}: ${x} ${plain(row[0])}, ${up} ${plain(row[1])}, ${by} ${plain(row[2])}, ${row.at(-2)}. `, el('a', {href: `#/run/${row.at(-1)}`}, 'open it')] : '')});
    head.parentNode.querySelector('#logx').checked = chart.isLog.x;
    head.parentNode.querySelector('#logy').checked = chart.isLog.y;
    put(note, chart.words);
  }

  async function contour(signal) {
    const [x, up, by] = [value('x'), value('up'), value('y')], label = (n) => labelled(n, columnOf(n, fields.names).unit);
    put(note);
    if (params.length < 2 || x === up) { put(place, el('p', {id: 'why'}, params.length < 2 ? 'These runs have fewer than two parameters.' : 'Choose two different parameters.')); return; }
    const [surface, answer, {Contour}] = await Promise.all([get('surface', {where: q.where, number: by, x, y: up}, {signal, wait: 60000}),
      get('runs', {where: q.where, columns: [`param.${x}`, `param.${up}`, by, 'state', 'key', 'setting'].join(','), limit: RUNS_MAX}, {signal}), import('./contour.js')]);
    if (surface.why_none) { put(place, el('p', {id: 'why'}, `There is no surface: ${surface.why_none}. There are ${number(surface.runs)} such runs.`)); return; }
    const isThere = (v) => v !== null && Number.isFinite(Number(v));
    // a parameter that exists only under a condition is in the settings of the runs that have it
    const needed = [surface.x.is_conditional ? x : null, surface.y.is_conditional ? up : null].filter(Boolean), has = (text) => { const s = JSON.parse(text || '{}'); return needed.every((n) => n in s); };
    const runs = answer.rows.filter((r) => isThere(r[0]) && isThere(r[1]) && (!needed.length || has(r[5]))).map(([a, b, v, state, key]) => ({x: Number(a), y: Number(b), value: Number(v), state: state === 'ok' && !isThere(v) ? 'without a value' : state, key}));
    chart = new Contour(place, {surface, runs, x: label(x), y: label(up), z: label(by), pick: (words, key) => put(pick, `${words}. `, key ? el('a', {href: `#/run/${key}`}, 'open it') : null)});
    const inside = runs.filter((r) => chart.isInside(r)).length;
    put(note, `A Gaussian process fitted to ${surface.is_cut ? `${number(surface.runs)} of the newest` : number(surface.runs)} runs that ended ok${surface.is_log ? `, to the logarithms of ${by}` : ''}. Hatched: too few runs. ${number(inside)} runs are drawn${inside < runs.length ? `, ${number(runs.length - inside)} lie beyond the axes` : ''}; a click opens one.`);
  }

  function parallel(wanted, answer) {
    const logs = new Map((q.logs ?? '').split(',').filter(Boolean).map((t) => [t.slice(1), t[0] === '+']));
    const columns = wanted.map((name, k) => axisOf(name, answer.rows.map((r) => r[k]), logs.get(name)));
    const colour = columns[wanted.indexOf(value('y'))], states = answer.rows.map((r) => r.at(-2));
    for (const name of [...brushes.keys()]) if (!wanted.includes(name)) brushes.delete(name);
    if (!answer.rows.length) { put(place, el('p', {class: 'dim'}, 'no run matches')); put(note); return; }
    const scroll = el('div', {class: 'scroll'});
    put(place, scroll, legendOf(colour, states));
    const lines = new Parallel(scroll, {axes: columns, colour, states, brushes, width: Math.max(place.clientWidth - 30, 104 * columns.length), turn: (name, on) => {
      logs.set(name, on);
      brushes.delete(name);
      change({logs: [...logs].map(([n, v]) => `${v ? '+' : '-'}${n}`).join(',')});
    }, changed: () => { noteState(); said(); }});
    const said = () => {
      const inside = lines.inside(), where = [q.where ? `(${q.where})` : '', ...columns.filter((c) => brushes.has(c.name)).map((c) => conditionOf(c, brushes.get(c.name)))].filter(Boolean).join(' and ');
      put(pick, brushes.size ? [`${number(inside.length)} of ${number(states.length)} runs lie within the ranges: `, el('a', {href: address('runs', {where}), id: 'inside'}, 'the table of them'), ' ',
        inside.length && inside.length <= 50 ? link('overlay', {runs: inside.map((i) => answer.rows[i].at(-1)).join(',')}, 'their curves') : null, ' ', el('button', {type: 'button', class: 'small', id: 'clear', onclick: () => { brushes.clear(); noteState(); draw(); }}, 'all runs')] : '');
    };
    said();
    const lacking = states.filter((s, i) => colour.at[i] === null).length;
    put(note, `Each line is one of ${number(states.length)} runs, coloured by ${value('y')}.${lacking ? ` Grey: runs without it (${number(lacking)}).` : ''} Drag along an axis to select a range; click its name for a logarithmic axis.`);
  }

  /* The scale of the colours, and what the dashes mean. */
  function legendOf(axis, states) {
    const bar = el('canvas', {width: 160, height: 12, 'aria-hidden': 'true'}), g = bar.getContext('2d');
    for (let i = 0; i < 160; i++) { g.fillStyle = scale(i / 159); g.fillRect(i, 0, 1, 12); }
    const count = (test) => states.filter(test).length, sample = (dashes) => svg('svg', {width: 30, height: 8, 'aria-hidden': 'true'}, svg('line', {x1: 1, x2: 29, y1: 4, y2: 4, stroke: variable('--dim'), 'stroke-width': 1.6, 'stroke-dasharray': dashes}));
    const pruned = count((s) => s === 'pruned'), failed = count((s) => s !== 'ok' && s !== 'diverged' && s !== 'pruned');
    return el('p', {class: 'note keys'}, axis.words ? axis.name : [`${axis.name} `, number(axis.low), ' ', bar, ' ', number(axis.high), axis.isLog ? ' (logarithmic)' : ''],
      pruned ? [' ', sample('6 4'), ` pruned (${number(pruned)})`] : null, failed ? [' ', sample('1.5 4'), ` failed (${number(failed)})`] : null);
  }

  async function importance(signal) {
    const name = value('y');
    put(place, el('p', {class: 'dim'}, 'computed from the runs…'));
    put(note);
    const answer = await get('importance', {where: q.where, number: name}, {signal, wait: 60000});
    const rows = answer.params.filter((p) => p.share !== null).sort((a, b) => b.share - a.share);
    const settings = answer.points < answer.runs ? ` of ${number(answer.points)} settings` : '';
    const why = answer.points < answer.least ? `Importance needs ${answer.least} runs of different settings that ended ok and have ${name}; there are ${number(answer.points)}.` : !answer.params.length ? 'No parameter varies among these runs.' : answer.explained === null ? `All values of ${name} are equal.`
      : answer.explained <= 0 ? 'Unknown: a random forest cannot predict the results from the parameters.' : null;
    if (why || !rows.length) { put(place, el('p', {id: 'why'}, why ?? 'none')); return; }
    put(place, bars(rows), plainTable([{name: 'parameter', cell: (r) => link('explore', {...q, mode: 'scatter', x: r.name, up: name}, r.name)}, {name: 'importance', num: true, cell: (r) => percent(r.share)},
      {name: '95 % interval', num: true, cell: (r) => `${percent(r.low)} to ${percent(r.high)}`}, {name: 'over the whole range', num: true, cell: (r) => percent(r.whole)}], rows, 'importance of the parameters'));
    put(note, `For ${name}, from ${number(answer.runs)}${answer.is_cut ? ' of the newest' : ''} runs${settings}: a random forest predicts the ranks of the values, and explains ${percent(answer.explained)} of the variance in runs that it has not seen. Importance: how much less of this variance is explained when the values of the parameter are shuffled. A search mostly runs settings where values are good. Over the whole range: the importance among settings spread evenly, by a Gaussian process.${rows.some((r) => r.low > 0) ? '' : ' No interval lies above 0, so the order may be chance.'}`);
  }

  await draw();
  return () => { abort.abort(); chart?.end?.(); };
}

const percent = (v) => v === null ? '-' : `${Math.round(100 * v)} %`;

/* Bars with the interval of each. */
function bars(rows) {
  const width = 640, left = 150, high = Math.max(.01, ...rows.map((r) => Math.max(r.share, r.high ?? 0))), xOf = (v) => left + Math.max(0, Math.min(1, v / high)) * (width - left - 20);
  const picture = svg('svg', {viewBox: `0 0 ${width} ${rows.length * 28 + 8}`, class: 'bars', role: 'img', 'aria-label': `importance: ${rows.map((r) => `${r.name} ${percent(r.share)}`).join(', ')}`});
  rows.forEach((r, i) => {
    const y = 8 + i * 28;
    picture.append(svg('text', {x: left - 8, y: y + 14, 'text-anchor': 'end', fill: variable('--text'), 'font-size': 13}, r.name.slice(0, 20)),
      svg('rect', {x: left, y: y + 3, width: Math.max(0, xOf(r.share) - left), height: 15, fill: color(0)}),
      svg('line', {x1: xOf(r.low), x2: xOf(r.high), y1: y + 10, y2: y + 10, stroke: variable('--text'), 'stroke-width': 2}));
  });
  return picture;
}
