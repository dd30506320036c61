// SPDX-License-Identifier: GPL-3.0-or-later
// Curves of several runs, a panel for each metric. What is drawn is what was measured: of each bucket of steps the least
// and the greatest point; a range asks for that range again, in full detail.
import {fields as fieldsOf, get, isAbort} from './api.js';
import {CURVES_MAX} from './actions.js';
import {keep as keepChoice, recall} from './columns.js';
import {Panel} from './panel.js';
import {add, el, errorBox, link, put} from './dom.js';
import {labelled, number, setting, shortKey} from './format.js';
import {swatch} from './palette.js';
import {RULE, slider, weightOf} from './smooth.js';

const PANELS_FIRST = 2, PANELS_MAX = 8, EXPERIMENTS_MAX = 12;

/* The runs of the page: by key, in the order of the address, else those that match. */
async function readRuns(q) {
  const keys = (q.runs ?? '').split(',').filter(Boolean).slice(0, CURVES_MAX);
  if (!keys.length && !q.where) return {runs: [], total: 0};
  const {rows, total} = await get('runs', {...(keys.length ? {runs: keys.join(',')} : {where: q.where}), columns: 'key,experiment,setting,repeat,cell,state', limit: CURVES_MAX});
  const runs = rows.map(([key, experiment, settings, repeat, cell, state]) => {
    const group = `${experiment ?? ''} ${setting(settings ?? {})}`.trim();
    return {key, experiment, cell, state, group, label: `${group}${repeat > 1 ? ` #${repeat}` : ''}`};
  });
  return {runs, total: keys.length ? runs.length : total, missing: keys.length - runs.length};
}

/* The runs by setting, each with the style of its curves: those that differ in repeat and seed alone stand together. */
function groupsOf(runs) {
  const found = new Map();
  for (const r of runs) found.set(r.cell, [...(found.get(r.cell) ?? []), r]);
  const groups = [...found.values()].map((of, style) => ({name: of[0].group, runs: of, style}));
  const same = (g) => groups.filter((o) => o.name === g.name).length > 1;
  for (const g of groups) {
    g.label = `${same(g) ? `${g.name} ${shortKey(g.runs[0].key)}` : g.name}${g.runs.length > 1 ? ` (${g.runs.length} runs)` : ''}`;
    for (const r of g.runs) Object.assign(r, {style: g.style, of: g});
  }
  return groups;
}

export async function show(root, page) {
  const q = {...page.query}, {runs, total, missing} = await readRuns(q);
  add(root, el('h1', {}, 'Curves of several runs'));
  if (!runs.length) {
    const {experiments} = await fieldsOf({});
    const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
    add(root, q.where ? el('p', {}, 'No run matches ', el('code', {}, q.where), '. ') : null, el('p', {}, 'Tick runs first, in the ', link('runs', {}, 'table of runs'), '; then press "show the curves".'),
      experiments.length ? el('p', {}, 'Or see those of an experiment: ', experiments.slice(0, EXPERIMENTS_MAX).map((name, i) => [i ? ', ' : '', link('overlay', {where: `experiment = ${quoted(name)}`}, name)])) : null);
    return null;
  }
  const {names, experiments} = await fieldsOf({runs: runs.map((r) => r.key).join(',')});
  const metrics = names.filter((n) => n.kind === 'metric'), groups = groupsOf(runs);
  if (!metrics.length) { add(root, el('p', {class: 'dim'}, 'these runs have no metrics')); return null; }
  const off = new Set((q.off ?? '').split(',').filter(Boolean).map(Number));
  let weight = weightOf(q.smooth), panels = [], later = 0, ended = false;

  /* The metrics of the address, else those chosen for these experiments, else the first curves. */
  const chosen = () => {
    const has = (list) => list.filter((name) => metrics.some((m) => m.name === name)).slice(0, PANELS_MAX);
    const asked = has((q.metrics ?? q.metric ?? '').split(',')), kept = has((recall('metrics', experiments) ?? '').split(','));
    const curves = metrics.filter((m) => m.curves > 0 && m.rank < 3000);
    return asked.length ? asked : kept.length ? kept : (curves.length ? curves : metrics).slice(0, PANELS_FIRST).map((m) => m.name);
  };
  const note = () => page.note({...q, metric: null, metrics: chosen().join(','), smooth: weight || '', off: [...off].join(',')});
  const change = (more) => { Object.assign(q, more); note(); draw(); };

  const place = el('div', {class: 'panels', id: 'overlay-chart'}), wrong = el('div'), said = el('p', {class: 'note', id: 'overlay-note', 'aria-live': 'polite'});
  const whole = el('button', {type: 'button', id: 'whole', hidden: !q.from, onclick: () => change({from: '', to: ''})}, 'show all');
  add(root, controls(), total > runs.length ? el('p', {class: 'note'}, `The newest ${runs.length} of ${number(total)} runs that match ${q.where}.`) : missing > 0 ? el('p', {class: 'note'}, `${missing} of the runs are not in the store, or hidden.`) : null,
    legend(), wrong, place, said);

  function choice(id, label, options, value) {
    const select = el('select', {id, onchange: () => change({[id]: select.value, ...(id === 'x' ? {from: '', to: ''} : {})})}, options.map(([v, t]) => el('option', {value: v}, t)));
    select.value = options.some(([v]) => v === value) ? value : options[0][0];
    return el('label', {}, label, select);
  }

  function tick(id, label) {
    const box = el('input', {type: 'checkbox', id, checked: q[id] === '1', onchange: () => change({[id]: box.checked ? '1' : ''})});
    return el('label', {class: 'inline'}, box, label);
  }

  function controls() {
    const picks = el('details', {id: 'metrics', class: 'grow'}, el('summary', {}, 'metrics, a panel each'), el('div', {class: 'picks'}, metrics.slice(0, 200).map((m) => {
      const box = el('input', {type: 'checkbox', value: m.name, checked: chosen().includes(m.name), onchange: () => {
        const now = [...chosen().filter((n) => n !== m.name), ...(box.checked ? [m.name] : [])];
        if (!now.length || now.length > PANELS_MAX) { box.checked = !box.checked; return; }
        keepChoice('metrics', experiments, now.join(','));
        change({metrics: now.join(','), metric: ''});
      }});
      return el('label', {class: 'inline'}, box, labelled(m.name, m.unit), m.runs < runs.length ? el('span', {class: 'dim'}, ` ${m.runs} of ${runs.length}`) : null);
    })));
    const smooth = slider(weight, (w) => {
      weight = w;
      panels.forEach((p) => p.smooth(w));
      clearTimeout(later);
      later = setTimeout(note, 300);
    });
    const across = [['step', 'step'], ...(metrics.some((m) => m.name === 'epoch') ? [['metric.epoch', 'epoch']] : []), ['time', 'time since the start [s]'],
      ...metrics.filter((m) => m.name !== 'epoch').slice(0, 100).map((m) => [`metric.${m.name}`, labelled(m.name, m.unit)])];
    return [el('div', {class: 'row top'}, picks),
      el('div', {class: 'row'}, choice('x', 'by', across, q.x), tick('logx', 'logarithmic across'), tick('log', 'logarithmic up'), tick('clip', 'cut outliers off'), smooth,
        groups.some((g) => g.runs.length > 1) ? choice('repeats', 'repeats', [['', 'each run'], ['mean', 'mean of the repeats, with a band']], q.repeats) : null, whole,
        link('runs', {chosen: runs.map((r) => r.key).join(',')}, 'select other runs'))];
  }

  /* One legend for all panels: the settings, each with its runs; a click hides it. */
  function legend() {
    const list = el('ul', {class: 'legend', id: 'overlay-legend'});
    const drawList = () => put(list, groups.map((g) => el('li', {class: off.has(g.style) ? 'off' : null}, el('button', {type: 'button', class: 'key', 'aria-pressed': off.has(g.style) ? 'false' : 'true', title: 'show or hide', onclick: () => {
      off.has(g.style) ? off.delete(g.style) : off.add(g.style);
      note();
      drawList();
      panels.forEach((p) => p.show(off));
    }}, swatch(g.style), g.label), g.runs.length <= 8 ? g.runs.map((r, i) => [i ? ' ' : '', el('a', {href: `#/run/${r.key}`, title: r.state === 'ok' ? r.label : `${r.label}: ${r.state}`}, `${g.runs.length > 1 ? shortKey(r.key) : '↗'}${r.state === 'ok' ? '' : ` ${r.state}`}`)]) : null)));
    drawList();
    return list;
  }

  /* A range that was chosen in one panel holds in all. */
  function zoom(from, to) {
    const text = (v) => v === null ? '' : String(Number(v.toPrecision(8)));
    if (text(from) === (q.from ?? '') && text(to) === (q.to ?? '')) return;
    change({from: text(from), to: text(to)});
  }

  async function draw() {
    panels.forEach((p) => p.end());
    const range = q.from && q.to ? [Number(q.from), Number(q.to)] : null, wanted = chosen();
    whole.hidden = !range;
    place.setAttribute('aria-busy', 'true');
    delete place.dataset.ready;
    panels = wanted.map((name) => new Panel({metric: metrics.find((m) => m.name === name), groups, runs, x: q.x || 'step', xUnit: metrics.find((m) => `metric.${m.name}` === q.x)?.unit, logX: q.logx === '1', logY: q.log === '1', clip: q.clip === '1', mean: q.repeats === 'mean' && (q.x || 'step') === 'step',
      weight, range, zoom, off, height: innerWidth < 600 ? 280 : wanted.length > 1 ? 330 : 440}));
    place.classList.toggle('one', panels.length === 1);
    put(place, panels.map((p) => p.root));
    const mine = panels;
    try {
      await Promise.all(mine.map((p) => p.load(() => performance.mark('overlay-drawn'))));
    } catch (error) {
      if (!isAbort(error)) put(wrong, errorBox(error));
    }
    if (mine !== panels || ended) return;
    const failures = [...new Set(mine.flatMap((p) => p.failures))];
    put(wrong, failures.length ? errorBox({message: failures.join('\n')}) : null);
    put(said, mine.map((p) => `${mine.length > 1 ? `${p.o.metric.name}: ` : ''}${p.words()}`).join(' '), weight ? ` ${RULE}` : '');
    place.removeAttribute('aria-busy');
    place.dataset.ready = '1';
    performance.mark('overlay-whole');
  }

  note();
  draw();
  return () => { ended = true; clearTimeout(later); panels.forEach((p) => p.end()); };
}
