// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters against a result: a scatter of two columns, or parallel coordinates of several.
import {get, isAbort, names} from './api.js';
import {Chart} from './chart.js';
import {add, el, errorBox, link, put} from './dom.js';
import {labelled, number, plain, shortKey} from './format.js';
import {scale, variable} from './palette.js';
import {columnOf, filterBox} from './runs.js';

const RUNS_MAX = 5000, LINES_MAX = 1500, GROUPS_MAX = 12;

/* What the newest runs' experiments sweep, most often first: what is worth looking at. */
async function sweptNames() {
  const {rows} = await get('runs', {columns: 'setting', limit: 100}), counts = new Map();
  for (const [text] of rows) {
    try {
      for (const name of Object.keys(JSON.parse(text ?? '{}'))) counts.set(name, (counts.get(name) ?? 0) + 1);
    } catch { /* no setting */ }
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
}

/* Numbers, or the places of texts among themselves. */
function axisOf(values) {
  const there = values.filter((v) => v !== null);
  const isText = there.some((v) => typeof v === 'string' && !Number.isFinite(Number(v)));
  if (!isText) return {names: null, at: values.map((v) => v === null ? null : Number(v))};
  const texts = [...new Set(there.map(String))].sort();
  return {names: texts, at: values.map((v) => v === null ? null : texts.indexOf(String(v)))};
}

export async function show(root, page) {
  const all = await names(), q = {...page.query};
  const params = all.filter((n) => n.kind === 'param' && n.name !== 'seed'), told = all.filter((n) => n.kind === 'result' || n.kind === 'metric');
  const best = told.find((n) => n.better && n.better !== 'none') ?? told[0];
  const swept = await sweptNames(), rank = (name) => swept.includes(name) ? swept.indexOf(name) : swept.length;
  params.sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
  q.x ??= params[0]?.name ?? 'started';
  q.y ??= best?.name ?? 'wall_s';
  q.mode ??= 'scatter';
  const choice = (name, value, label) => {
    const s = el('select', {id: name, onchange: () => change({[name]: s.value})}, name === 'by' ? el('option', {value: ''}, 'nothing') : null,
      [...new Set(['wall_s', 'experiment', 'who', 'repeat', ...params.map((n) => n.name), ...told.map((n) => n.name)])].map((n) => el('option', {value: n}, labelled(n, columnOf(n, all).unit))));
    s.value = value ?? '';
    return el('label', {}, label, s);
  };
  const filter = filterBox(q.where ?? '', (text) => { if (text !== (q.where ?? '')) change({where: text}); }, all);
  const mode = el('select', {id: 'mode', onchange: () => change({mode: mode.value})}, el('option', {value: 'scatter'}, 'scatter'), el('option', {value: 'parallel'}, 'parallel coordinates'));
  mode.value = q.mode;
  const box = (name, label) => {
    const b = el('input', {type: 'checkbox', id: name, checked: q[name] === '1', onchange: () => change({[name]: b.checked ? '1' : ''})});
    return el('label', {class: 'inline'}, b, label);
  };
  const place = el('div', {class: 'panel', id: 'explore-chart'}), note = el('p', {class: 'note'});
  const own = el('div', {class: 'row'}), pick = el('p', {class: 'note', 'aria-live': 'polite'});
  add(root, el('h1', {}, 'Parameters and results'), el('div', {class: 'row'}, filter.root, el('label', {}, 'as', mode), choice('y', q.y, 'result (up)')), own, place, pick, note);
  let abort = new AbortController(), chart = null;

  function change(more) {
    Object.assign(q, more);
    page.note(q);
    draw();
  }

  function axes() {
    return (q.axes ? q.axes.split(',') : (swept.length ? swept : params.map((n) => n.name)).slice(0, 6)).filter(Boolean);
  }

  function controls() {
    if (q.mode === 'scatter') {
      put(own, choice('x', q.x, 'parameter (across)'), choice('by', q.by, 'marked by'), box('logx', 'logarithmic across'), box('logy', 'logarithmic up'));
      return;
    }
    const now = axes();
    put(own, el('details', {open: true, class: 'grow'}, el('summary', {}, 'axes'), el('div', {class: 'picks'}, [...params.map((n) => n.name), 'experiment', 'who', 'repeat', 'wall_s'].map((name) => {
      const b = el('input', {type: 'checkbox', checked: now.includes(name), onchange: () => change({axes: [...axes().filter((a) => a !== name), ...(b.checked ? [name] : [])].join(',')})});
      return el('label', {class: 'inline'}, b, name);
    }))));
  }

  async function draw() {
    abort.abort();
    abort = new AbortController();
    controls();
    const wanted = q.mode === 'scatter' ? [q.x, q.y, ...(q.by ? [q.by] : [])] : [...axes(), q.y];
    try {
      const answer = await get('runs', {where: q.where, columns: [...wanted, 'key'].join(','), limit: RUNS_MAX}, {signal: abort.signal});
      filter.fail(null);
      chart?.end();
      chart = null;
      put(pick);
      (q.mode === 'scatter' ? scatter : parallel)(wanted, answer);
      if (answer.total > answer.rows.length) add(note, ` The newest ${number(answer.rows.length)} of ${number(answer.total)} runs.`);
    } catch (error) {
      if (isAbort(error)) return;
      if (error.status === 400) filter.fail(error);
      else put(place, errorBox(error));
    }
  }

  function scatter(wanted, answer) {
    const isLog = {x: q.logx === '1', y: q.logy === '1'};
    const x = axisOf(answer.rows.map((r) => r[0])), y = axisOf(answer.rows.map((r) => r[1]));
    const groups = new Map();
    let missing = 0;
    answer.rows.forEach((row, i) => {
      if (x.at[i] === null || y.at[i] === null || (isLog.x && !x.names && x.at[i] <= 0) || (isLog.y && !y.names && y.at[i] <= 0)) { missing++; return; }
      const name = q.by ? `${q.by} ${plain(row[2])}` : 'runs';
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push([x.at[i], y.at[i], row.at(-1)]);
    });
    const some = [...groups].sort((a, b) => a[0].localeCompare(b[0], 'en', {numeric: true})).slice(0, GROUPS_MAX);
    const series = some.map(([name, points]) => {
      points.sort((a, b) => a[0] - b[0]);
      return {name, x: points.map((p) => p[0]), y: points.map((p) => p[1]), keys: points.map((p) => p[2])};
    });
    const table = stacked(series);
    chart = new Chart(place, {x: labelled(q.x, columnOf(q.x, all).unit), y: labelled(q.y, columnOf(q.y, all).unit), points: true, xNames: x.names, yNames: y.names,
      logX: isLog.x && !x.names, logY: isLog.y && !y.names, height: innerWidth < 600 ? 320 : 460, label: 'scatter',
      cursor: (u, i) => { const key = i === null || i === undefined ? null : table.keys[i]; put(pick, key ? [`run ${shortKey(key)}: `, el('a', {href: `#/run/${key}`}, 'open it')] : ''); }});
    chart.set(table.series);
    put(note, `${number(answer.rows.length - missing)} runs${missing ? `; ${number(missing)} have no ${q.x} or ${q.y}${isLog.x || isLog.y ? ', or none above 0' : ''}` : ''}.`, groups.size > GROUPS_MAX ? ` The first ${GROUPS_MAX} of ${groups.size} values of ${q.by} are shown.` : '');
  }

  function parallel(wanted, answer) {
    const rows = answer.rows.slice(0, LINES_MAX), columns = wanted.map((name, k) => ({name, ...axisOf(rows.map((r) => r[k]))}));
    const canvas = el('canvas', {role: 'img', 'aria-label': `parallel coordinates of ${wanted.join(', ')} for ${rows.length} runs, coloured by ${q.y}`});
    put(place, el('div', {class: 'scroll'}, canvas), legendOf(columns.at(-1)));
    drawParallel(canvas, columns, Math.max(place.clientWidth - 30, 95 * columns.length));
    put(note, `${number(rows.length)} runs, a line each; its colour is its ${q.y}, dark for the least and light for the greatest. A value that a run has not is left out of its line.`);
  }

  await draw();
  return () => { abort.abort(); chart?.end(); };
}

/* Points of all groups on one rising x, repeated where several share one. */
function stacked(series) {
  const points = series.flatMap((s, k) => s.x.map((x, i) => [x, k, s.y[i], s.keys[i]])).sort((a, b) => a[0] - b[0]);
  const x = points.map((p) => p[0]);
  return {keys: points.map((p) => p[3]), series: series.map((s, k) => ({name: s.name, marks: true, x, y: points.map((p) => p[1] === k ? p[2] : undefined)}))};
}

function rangeOf(column) {
  const there = column.at.filter((v) => v !== null && Number.isFinite(v));
  const low = there.reduce((m, v) => Math.min(m, v), Infinity), high = there.reduce((m, v) => Math.max(m, v), -Infinity);
  return there.length ? [low, high > low ? high : low + 1] : [0, 1];
}

function legendOf(column) {
  const [low, high] = rangeOf(column), bar = el('canvas', {width: 160, height: 12, 'aria-hidden': 'true'}), g = bar.getContext('2d');
  for (let i = 0; i < 160; i++) { g.fillStyle = scale(i / 159); g.fillRect(i, 0, 1, 12); }
  return el('p', {class: 'note'}, `${column.name} `, number(low), ' ', bar, ' ', number(high));
}

function drawParallel(canvas, columns, width) {
  const height = 380, top = 34, bottom = height - 26, ratio = devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const g = canvas.getContext('2d'), ranges = columns.map(rangeOf), gap = (width - 100) / Math.max(1, columns.length - 1);
  g.scale(ratio, ratio);
  const xOf = (k) => 50 + k * gap, yOf = (k, v) => bottom - (v - ranges[k][0]) / (ranges[k][1] - ranges[k][0]) * (bottom - top);
  const last = columns.length - 1, order = columns[last].at.map((v, i) => [v ?? -Infinity, i]).sort((a, b) => a[0] - b[0]);
  g.lineWidth = 1.3;
  for (const [value, i] of order) {
    g.strokeStyle = Number.isFinite(value) ? scale((value - ranges[last][0]) / (ranges[last][1] - ranges[last][0])) : variable('--line');
    g.globalAlpha = order.length > 300 ? .35 : .75;
    g.beginPath();
    let pen = false;
    columns.forEach((c, k) => {
      const v = c.at[i];
      if (v === null || !Number.isFinite(v)) { pen = false; return; }
      pen ? g.lineTo(xOf(k), yOf(k, v)) : g.moveTo(xOf(k), yOf(k, v));
      pen = true;
    });
    g.stroke();
  }
  g.globalAlpha = 1;
  g.fillStyle = g.strokeStyle = variable('--text');
  g.font = '12px system-ui, "DejaVu Sans", sans-serif';
  g.textAlign = 'center';
  columns.forEach((c, k) => {
    g.beginPath();
    g.moveTo(xOf(k), top);
    g.lineTo(xOf(k), bottom);
    g.stroke();
    g.fillText(c.name.slice(0, Math.max(8, Math.floor(gap / 7))), xOf(k), 14);
    const marks = c.names ? c.names.slice(0, 12).map((n, v) => [v, n.slice(0, 12)]) : [[ranges[k][0], number(ranges[k][0])], [ranges[k][1], number(ranges[k][1])]];
    for (const [v, text] of marks) {
      const y = c.names ? yOf(k, v) + 4 : v === ranges[k][0] ? bottom + 16 : top - 6;
      const wide = g.measureText(text).width;
      g.fillStyle = variable('--panel');
      g.globalAlpha = .8;
      g.fillRect(xOf(k) - wide / 2 - 2, y - 11, wide + 4, 14);
      g.globalAlpha = 1;
      g.fillStyle = variable('--text');
      g.fillText(text, xOf(k), y);
    }
  });
}
