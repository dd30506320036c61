// SPDX-License-Identifier: GPL-3.0-or-later
// Curves of several runs over each other. What is drawn is what was measured: of each bucket of steps the least and
// the greatest point; choosing a range asks for that range again, in full detail.
import {get, isAbort} from './api.js';
import {Chart} from './chart.js';
import {add, el, errorBox, link, put} from './dom.js';
import {labelled, number, setting, shortKey} from './format.js';
import {slider, smoothed, weightOf} from './smooth.js';

const BUCKETS = 700, RUNS_MAX = 20;

async function describe(keys) {
  const rows = await Promise.all(keys.map((key) => get(`runs/${encodeURIComponent(key)}`).catch((error) => ({key, error}))));
  return rows.map((r) => ({...r, cell: r.error ? r.key : JSON.stringify([r.recipe, r.experiment, r.plugin, r.params]),
    group: r.error ? shortKey(r.key) : `${r.experiment} ${setting(r.facts?.coords ?? r.setting ?? {})}`.trim(), label: r.error ? shortKey(r.key) : `${r.experiment} ${setting(r.facts?.coords ?? r.setting ?? {})}${r.repeat > 1 ? ` #${r.repeat}` : ''}`}));
}

/* A curve, or the error instead of it. */
function ask(key, metric, from, to, signal) {
  return get(`runs/${encodeURIComponent(key)}/series`, {metric, buckets: BUCKETS, from: from === null ? null : Math.floor(from), to: to === null ? null : Math.ceil(to)},
    {signal}).catch((error) => error);
}

export async function show(root, page) {
  const q = {...page.query}, found = q.where && !q.runs ? await get('runs', {where: q.where, columns: 'key', limit: RUNS_MAX}) : null;
  const keys = found ? found.rows.map((r) => r[0]) : (q.runs ?? '').split(',').filter(Boolean).slice(0, RUNS_MAX);
  add(root, el('h1', {}, 'Curves of several runs'));
  if (!keys.length) {
    add(root, found ? el('p', {}, 'No run matches ', el('code', {}, q.where), '. ') : null, el('p', {}, 'Tick runs first, in the ', link('runs', {}, 'table of runs'), '; then press "show the curves".'));
    return null;
  }
  const described = describe(keys);
  const early = q.metric ? keys.map((key) => ask(key, q.metric, null, null)) : null; // beside what describes them
  const runs = await described;
  const place = el('div', {class: 'panel', id: 'overlay-chart'}), wrong = el('div'), note = el('p', {class: 'note', id: 'overlay-note'});
  let abort = new AbortController(), chart = null, metric = q.metric, loaded = 0, weight = weightOf(q.smooth), unsmoothed = [], later = 0;

  const select = el('select', {id: 'metric', onchange: () => { metric = select.value; change({metric}); }});
  const x = el('select', {id: 'x', onchange: () => change({x: x.value})}, el('option', {value: 'step'}, 'step'), el('option', {value: 'time'}, 'time since the start [s]'));
  x.value = q.x === 'time' ? 'time' : 'step';
  const logY = el('input', {type: 'checkbox', id: 'log', checked: q.log === '1', onchange: () => change({log: logY.checked ? '1' : ''})});
  const groups = cellsOf(runs);
  const repeats = el('select', {id: 'repeats', onchange: () => change({repeats: repeats.value})},
    el('option', {value: ''}, 'each run'), el('option', {value: 'mean'}, 'mean of the repeats, with a band'));
  repeats.value = q.repeats === 'mean' ? 'mean' : '';
  const smooth = slider(weight, (w) => {
    weight = w;
    chart?.set(smoothed(unsmoothed, weight));
    clearTimeout(later);
    later = setTimeout(() => page.note({...q, metric, smooth: weight || ''}), 300);
  });
  const whole = el('button', {type: 'button', hidden: true, onclick: () => { chart.reset(); }}, 'show all steps');
  add(root, el('div', {class: 'row'}, el('label', {}, 'metric', select), el('label', {}, 'by', x), el('label', {class: 'inline'}, logY, 'logarithmic'), smooth,
    groups.some((g) => g.length > 1) ? el('label', {}, 'repeats', repeats) : null, whole,
    link('runs', {chosen: keys.join(',')}, 'tick other runs')),
    found?.total > keys.length ? el('p', {class: 'note'}, `The newest ${keys.length} of ${number(found.total)} runs that match ${q.where}.`) : null, wrong, place, note);

  const have = metricsOf(runs);
  put(select, have.map((m) => el('option', {value: m.name}, labelled(m.name, m.unit))));
  metric = have.some((m) => m.name === metric) ? metric : have[0]?.name;
  if (!metric) { put(place, el('p', {class: 'dim'}, 'these runs have no metrics')); return null; }
  select.value = metric;

  function change(more) {
    Object.assign(q, more);
    page.note({...q, metric, smooth: weight || ''});
    fresh();
  }

  function fresh() {
    chart?.end();
    const unit = have.find((m) => m.name === metric)?.unit;
    const byTime = q.x === 'time';
    repeats.disabled = byTime; // repeats have steps in common, and no times
    chart = new Chart(place, {x: byTime ? 'time since the start [s]' : 'step', y: labelled(metric, unit), logY: q.log === '1', height: innerWidth < 600 ? 300 : 440,
      label: 'curves', zoom: byTime ? null : (from, to) => { whole.hidden = from === null; draw(from, to); }});
    whole.hidden = true;
    draw(null, null);
  }

  async function draw(from, to) {
    abort.abort();
    abort = new AbortController();
    const {signal} = abort, mine = ++loaded;
    place.setAttribute('aria-busy', 'true');
    if (q.repeats === 'mean' && q.x !== 'time') { await drawBands(from, to, signal, mine); return; }
    const ready = early && metric === page.query.metric && from === null && mine === 1;
    const answers = await Promise.all(ready ? early : runs.map((run) => run.error ? run.error : ask(run.key, metric, from, to, signal)));
    if (mine !== loaded || answers.some((a) => a instanceof Error && isAbort(a))) return;
    const series = [], failures = [];
    answers.forEach((a, i) => {
      if (a instanceof Error) { failures.push(`${runs[i].label}: ${a.message}`); return; }
      const s = {name: runs[i].label, href: `#/run/${runs[i].key}`, style: i, x: a.step, y: a.value};
      if (q.x === 'time') Object.assign(s, byTime(a));
      if (q.log === '1') s.y = s.y.map((v) => v > 0 ? v : null);
      series.push(s);
    });
    unsmoothed = series;
    chart.set(smoothed(series, weight));
    const points = answers.reduce((sum, a) => sum + (a.count ?? 0), 0), drawn = series.reduce((sum, s) => sum + s.x.length, 0);
    put(wrong, failures.length ? errorBox({message: failures.join('\n')}) : null);
    put(note, `${number(points)} points; ${drawn < points ? `${number(drawn)} are drawn: of each bucket of steps the least and the greatest, so no peak is lost. Choose a range with the mouse, or + and 0, for all of its points.` : 'all are drawn.'}`);
    place.removeAttribute('aria-busy');
    place.dataset.ready = String(mine);
    performance.mark('overlay-drawn');
  }

  /* A line and a band for the runs of each setting, out of the interval that the server computes. */
  async function drawBands(from, to, signal, mine) {
    const answers = await Promise.all(groups.map((g) => get('band', {runs: g.map((r) => r.key).join(','), metric, buckets: BUCKETS,
      from: from === null ? null : Math.floor(from), to: to === null ? null : Math.ceil(to)}, {signal}).catch((error) => error)));
    if (mine !== loaded || answers.some((a) => a instanceof Error && isAbort(a))) return;
    const series = [], failures = [];
    const shown = (values) => q.log === '1' ? values.map((v) => v > 0 ? v : null) : values;
    answers.forEach((a, i) => {
      if (a instanceof Error) { failures.push(`${groups[i][0].group}: ${a.message}`); return; }
      const name = `${groups[i][0].group} (${a.ended ?? `${a.runs.length} run${a.runs.length === 1 ? '' : 's'}`})`;
      const isFew = !a.form.some((f) => f === 'interval');
      const goOn = (r) => a.ended && r.value.some((v, k) => v !== null && a.step[k] > a.end);
      const alone = (r) => isFew ? r.value : r.value.map((v, k) => a.step[k] + a.width > a.end ? v : null); // beyond the common end
      if (a.runs.length > 1) a.runs.filter((r) => isFew || goOn(r)).forEach((r) => series.push({name: `${name}, ${shortKey(r.key)}`, style: i, faint: true, x: a.step, y: shown(alone(r))}));
      series.push({name, style: i, x: a.step, y: shown(a.centre), band: isFew ? null : {low: shown(a.low), high: shown(a.high)}});
    });
    unsmoothed = series;
    chart.set(smoothed(series, weight));
    put(wrong, failures.length ? errorBox({message: failures.join('\n')}) : null);
    const widths = answers.filter((a) => !(a instanceof Error)).map((a) => a.width), width = Math.max(1, ...widths);
    put(note, 'Thick: the mean over the runs of a setting. Filled: its 95 % interval, with five runs or more; with fewer the runs themselves are thin lines.',
      answers.some((a) => a.ended) ? ' A mean ends at the last step that all of its runs have reached; the runs that go on are thin lines.' : '',
      width > 1 ? ` Each point is of ${number(width)} steps.` : '');
    place.removeAttribute('aria-busy');
    place.dataset.ready = String(mine);
  }

  fresh();
  return () => { clearTimeout(later); abort.abort(); chart?.end(); };
}

/* Sorted by time: a resumed run's steps need not come in their order. */
function byTime(a) {
  const order = a.t_ms.map((t, i) => i).filter((i) => a.t_ms[i] !== null).sort((i, k) => a.t_ms[i] - a.t_ms[k]);
  return {x: order.map((i) => a.t_ms[i] / 1000), y: order.map((i) => a.value[i])};
}

/* The runs by setting: those that differ in repeat and seed alone stand together. */
function cellsOf(runs) {
  const found = new Map();
  for (const r of runs.filter((run) => !run.error)) found.set(r.cell, [...(found.get(r.cell) ?? []), r]);
  return [...found.values()];
}

/* Of all these runs, each once; those that more of them have come first, then those that matter (the server's rank). */
function metricsOf(runs) {
  const found = new Map();
  for (const m of runs.flatMap((r) => r.metrics ?? [])) {
    const known = found.get(m.name);
    known ? known.runs++ : found.set(m.name, {...m, runs: 1});
  }
  return [...found.values()].sort((a, b) => b.runs - a.runs || a.rank - b.rank || a.name.localeCompare(b.name));
}
