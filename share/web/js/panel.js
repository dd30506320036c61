// SPDX-License-Identifier: GPL-3.0-or-later
// One metric of several runs in a chart, with what the cursor reads and the buttons that keep what is seen.
import {get, isAbort} from './api.js';
import {Chart} from './chart.js';
import {saveChart} from './chart_files.js';
import {add, el, put} from './dom.js';
import {labelled, number, shortKey} from './format.js';
import {smoothed} from './smooth.js';

const BUCKETS = 700, AT_ONCE = 13, READ_OUT = 12, CUT = 0.02, CUT_LEAST = 20;

/** options: {metric {name, unit}, groups, runs, x: step, time or metric.NAME, logX, logY, clip, mean, weight, range, zoom, off, height} */
export class Panel {
  constructor(options) {
    this.o = options;
    this.abort = new AbortController();
    this.box = el('div');
    this.read = el('p', {class: 'note readout'});
    const save = (kind) => el('button', {type: 'button', class: 'small', 'data-save': kind, onclick: () => saveChart(kind, this.chart, this.names(), labelled(options.metric.name, options.metric.unit))}, kind.toUpperCase());
    this.root = el('section', {class: 'panel', 'data-metric': options.metric.name, 'aria-label': options.metric.name},
      el('div', {class: 'row head'}, el('h2', {}, labelled(options.metric.name, options.metric.unit)), el('span', {class: 'saves'}, ['svg', 'png', 'csv'].map(save))), this.box, this.read);
    this.series = [];
    this.failures = [];
    this.points = this.drawn = this.cut = 0;
  }

  end() {
    this.abort.abort();
    this.chart?.end();
  }

  names() {
    return this.o.groups.filter((g) => !this.o.off.has(g.style)).map((g) => ({name: g.label, style: g.style}));
  }

  xLabel() {
    const {x, xUnit} = this.o;
    return x === 'time' ? 'time since the start [s]' : x === 'step' ? 'step' : labelled(x.replace(/^metric\./, ''), xUnit);
  }

  /** Draws; of long curves first a sample. drawn() is called when the first picture stands. */
  async load(drawn) {
    const {x, range, mean} = this.o, byStep = x === 'step';
    if (mean) { await this.loadBands(); drawn(); return; }
    const query = {metric: this.o.metric.name, buckets: BUCKETS, x: x.startsWith('metric.') ? x.slice(7) : null, time: byStep ? '0' : null,
      from: byStep && range ? Math.floor(range[0]) : null, to: byStep && range ? Math.ceil(range[1]) : null};
    let curves = await this.ask(this.o.runs, {...query, quick: byStep && !range ? '1' : null});
    this.take(curves);
    drawn();
    const rest = curves.filter((c) => c.is_sampled).map((c) => c.key);
    if (!rest.length) return;
    this.isSampled = true;
    const full = new Map((await this.ask(rest.map((key) => ({key})), query)).map((c) => [c.key, c]));
    curves = curves.map((c) => full.get(c.key) ?? c);
    this.isSampled = false;
    this.take(curves);
  }

  /* Several requests side by side, as the server answers them on several threads. */
  async ask(runs, query) {
    const parts = [];
    for (let i = 0; i < runs.length; i += AT_ONCE) parts.push(runs.slice(i, i + AT_ONCE));
    const answers = await Promise.all(parts.map((part) => get('curves', {...query, runs: part.map((r) => r.key).join(',')}, {signal: this.abort.signal})));
    return answers.flatMap((a) => a.curves);
  }

  take(curves) {
    const {x, logX, logY, runs} = this.o, byKey = new Map(runs.map((r) => [r.key, r]));
    this.failures = [];
    this.series = curves.flatMap((c) => {
      const run = byKey.get(c.key);
      if (c.error) { if (!/has no metric/.test(c.error)) this.failures.push(`${run?.label ?? c.key}: ${c.error}`); return []; }
      const s = {name: run.label, key: c.key, style: run.style, ...across(c, x), y: c.value};
      if (x !== 'step') Object.assign(s, rising(s));
      s.y = s.y.map((v, i) => typeof v !== 'number' || (logY && v <= 0) || (logX && s.x[i] <= 0) ? null : v);
      return s.x.length ? [s] : [];
    });
    this.points = curves.reduce((sum, c) => sum + (c.count ?? 0), 0);
    this.drawn = this.series.reduce((sum, s) => sum + s.x.length, 0);
    this.lacking = curves.filter((c) => c.error).length;
    this.draw();
  }

  /* A line and a band for the runs of each setting, out of the interval that the server computes. */
  async loadBands() {
    const {groups, metric, range, logY} = this.o, {signal} = this.abort;
    const answers = await Promise.all(groups.map((g) => get('band', {runs: g.runs.slice(0, 20).map((r) => r.key).join(','), metric: metric.name, buckets: BUCKETS,
      from: range ? Math.floor(range[0]) : null, to: range ? Math.ceil(range[1]) : null}, {signal}).catch((error) => error)));
    if (answers.some((a) => a instanceof Error && isAbort(a))) return;
    const shown = (values) => logY ? values.map((v) => v > 0 ? v : null) : values;
    this.failures = [];
    this.series = answers.flatMap((a, i) => {
      const {style, label} = groups[i];
      if (a instanceof Error) { this.failures.push(`${label}: ${a.message}`); return []; }
      const isFew = !a.form.some((f) => f === 'interval'), goOn = (r) => a.ended && r.value.some((v, k) => v !== null && a.step[k] > a.end);
      const alone = (r) => isFew ? r.value : r.value.map((v, k) => a.step[k] + a.width > a.end ? v : null); // beyond the common end
      const singles = a.runs.length > 1 ? a.runs.filter((r) => isFew || goOn(r)).map((r) => ({name: `${label}, ${shortKey(r.key)}`, style, faint: true, x: a.step, y: shown(alone(r))})) : [];
      return [...singles, {name: a.ended ? `${label}, ${a.ended}` : label, style, x: a.step, y: shown(a.centre), band: isFew ? null : {low: shown(a.low), high: shown(a.high)}}];
    });
    this.bands = answers.filter((a) => !(a instanceof Error));
    this.draw();
  }

  draw() {
    const {off, weight, clip, logX, logY, range, zoom, height, metric} = this.o;
    const visible = this.series.filter((s) => !off.has(s.style));
    const yRange = clip ? this.clipped(visible) : null;
    this.chart?.end();
    this.chart = new Chart(this.box, {x: this.xLabel(), y: labelled(metric.name, metric.unit), logX, logY, height, range, zoom, yRange, bare: true, sync: 'curves', label: 'curves',
      cursor: (u, i) => this.readOut(u, i)});
    this.chart.set(smoothed(visible, weight));
    this.chart.place.dataset.curves = visible.length;
    put(this.read);
  }

  /* From the 2nd to the 98th per cent of what is drawn, and half their distance beyond them, so that the steep begin of a
   * curve stays and a peak far away does not decide the axis. */
  clipped(series) {
    const f = this.o.logY ? Math.log : (v) => v, back = this.o.logY ? Math.exp : (v) => v;
    const all = series.flatMap((s) => s.y).filter((v) => typeof v === 'number' && Number.isFinite(v)).map(f).sort((a, b) => a - b);
    if (all.length < CUT_LEAST) return null;
    const low = all[Math.ceil(CUT * (all.length - 1))], high = all[Math.floor((1 - CUT) * (all.length - 1))], beyond = (high - low) / 2;
    const room = (high - low || Math.abs(high) || 1) * .04, ends = [Math.max(all[0] - room, low - beyond), Math.min(all.at(-1) + room, high + beyond)];
    this.cut = all.filter((v) => v < ends[0] || v > ends[1]).length;
    return ends.map(back);
  }

  smooth(weight) {
    this.o.weight = weight;
    this.chart?.set(smoothed(this.series.filter((s) => !this.o.off.has(s.style)), weight));
  }

  show(off) {
    this.o.off = off;
    this.draw();
  }

  /* All runs at the cursor, the greatest first. */
  readOut(u, i) {
    if (i === null || i === undefined) { put(this.read); return; }
    const rows = [];
    this.chart.lines.forEach((s, k) => {
      if (s.edge || (s.faint && this.o.weight)) return;
      const v = near(u.data[k + 1], i);
      if (v !== null) rows.push([s.name, v]);
    });
    rows.sort((a, b) => b[1] - a[1]);
    put(this.read, `${this.xLabel()} ${number(u.data[0][i])}: `, rows.slice(0, READ_OUT).map(([name, v], k) => [k ? ', ' : '', name, ' ', el('strong', {}, number(v))]), rows.length > READ_OUT ? `, and ${rows.length - READ_OUT} more` : '');
  }

  /** What is drawn, in words. */
  words() {
    if (this.bands) {
      const width = Math.max(1, ...this.bands.map((a) => a.width));
      return `Thick line: the mean of the runs of a setting. Filled: its 95 % interval. With fewer than five runs, the runs are thin lines.${
        this.bands.some((a) => a.ended) ? ' A mean ends at the last step that all of its runs have reached.' : ''}${width > 1 ? ` Each point is of ${number(width)} steps.` : ''}`;
    }
    const all = this.drawn >= this.points;
    return `${number(this.points)} points${this.isSampled ? ', of which these are a sample so far' : all ? ', all are drawn.' : `; ${number(this.drawn)} are drawn. Choose a range with the mouse or the key + to see all of its points.`}${
      this.lacking ? ` ${this.lacking} run${this.lacking === 1 ? ' has' : 's have'} no such metric.` : ''}${this.o.clip && this.cut ? ` ${number(this.cut)} point${this.cut === 1 ? ' lies' : 's lie'} outside the axis.` : ''}`;
  }
}

/* The horizontal axis of a curve. */
function across(c, x) {
  return {x: x === 'step' ? c.step : x === 'time' ? c.t_ms.map((t) => t === null ? null : t / 1000) : c.x};
}

/* Sorted along the axis: a resumed run's times, or another metric, need not rise with the steps. Then marks are drawn, as a
 * line would join points that do not follow each other. */
function rising(s) {
  const order = s.x.map((v, i) => i).filter((i) => s.x[i] !== null), isRising = order.every((i, k) => !k || s.x[i] >= s.x[order[k - 1]]);
  if (!isRising) order.sort((a, b) => s.x[a] - s.x[b]);
  return {x: order.map((i) => s.x[i]), y: order.map((i) => s.y[i]), marks: !isRising};
}

function near(values, i) {
  for (let d = 0; d < 200; d++) for (const k of [i - d, i + d]) if (values[k] !== null && values[k] !== undefined) return values[k];
  return null;
}
