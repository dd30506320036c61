// SPDX-License-Identifier: GPL-3.0-or-later
// Charts on uPlot: lines and points, with the page's colours, units on both axes, a legend that does not rest on
// colour, and keys: arrows move the cursor, + and - zoom, 0 shows all.
import uPlot from '../vendor/uplot/uPlot.esm.js';
import {el, put} from './dom.js';
import {number} from './format.js';
import {color, dash, mark, markPath, swatch, variable} from './palette.js';

/** series: [{name, x[], y[], color}], x rising; y null: no number there. A series may have `band` {low[], high[]}, filled behind
 * its line, and `faint`: a thin pale line without a place in the legend, such as the raw values behind smoothed ones.
 * options: {x, y: labels, logX, logY, height, time,
 * points: marks instead of lines, xNames: [text] of categories, zoom(from, to) when a range is chosen (null, null: all),
 * range: [from, to] that is shown first, yRange: [low, high] instead of all values, sync: name of the charts whose cursors
 * move together, bare: no legend, cursor(u, i), label} */
export class Chart {
  constructor(root, options) {
    this.o = options;
    this.place = el('div', {class: 'chart', tabindex: '0', role: 'img'});
    this.legend = el('ul', {class: 'legend'});
    this.place.addEventListener('keydown', (event) => this.onKey(event));
    put(root, this.place, options.bare ? null : this.legend);
    this.plot = null;
    this.range = options.range ?? null; // [from, to] that is looked at
    this.seen = new ResizeObserver(() => this.fit());
    this.seen.observe(this.place);
    this.scheme = matchMedia('(prefers-color-scheme: dark)');
    this.onScheme = () => this.set(this.series ?? []);
    this.scheme.addEventListener('change', this.onScheme);
  }

  end() {
    this.seen.disconnect();
    this.scheme.removeEventListener('change', this.onScheme);
    this.plot?.destroy();
    this.plot = null;
  }

  width() {
    return Math.max(240, Math.floor(this.place.clientWidth || 600));
  }

  fit() {
    if (this.plot && this.plot.width !== this.width()) this.plot.setSize({width: this.width(), height: this.height()});
  }

  height() {
    return this.o.height ?? (this.width() < 500 ? 240 : 330);
  }

  /** New data; the same names in the same order keep the plot and its zoom. */
  set(series) {
    const {lines, bands} = drawn(series);
    const data = join(lines), names = lines.map((s) => s.name).join('\n');
    const keep = this.plot && this.names === names && this.dark === this.scheme.matches && !this.o.rebuild;
    this.series = series;
    this.say(series.filter((s) => !s.faint));
    if (keep) {
      this.plot.setData(data, !this.range);
      if (this.range) this.plot.setScale('x', {min: this.range[0], max: this.range[1]});
      return;
    }
    this.names = names;
    this.dark = this.scheme.matches;
    this.plot?.destroy();
    this.lines = lines;
    this.drawLegend(lines);
    this.plot = new uPlot(this.options(lines, bands), data, this.place);
    if (this.range) this.plot.setScale('x', {min: this.range[0], max: this.range[1]});
  }

  say(series) {
    const parts = series.slice(0, 20).map((s) => {
      const last = s.y.findLast((v) => v !== null && v !== undefined);
      return `${s.name}: ${s.x.length} points, last ${number(last)}`;
    });
    this.place.setAttribute('aria-label', `${this.o.label ?? 'chart'} of ${this.o.y} by ${this.o.x}. ${parts.join('; ')}`);
  }

  options(series, bands) {
    const text = variable('--text'), line = variable('--line');
    const font = '12px system-ui, "DejaVu Sans", sans-serif';
    const axis = {stroke: text, font, labelFont: font, labelSize: 22, grid: {stroke: line, width: 1}, ticks: {stroke: line}};
    const {o} = this;
    return {
      width: this.width(), height: this.height(), legend: {show: false}, padding: [10, 26, 0, 0],
      scales: {x: {time: false, distr: o.logX ? 3 : 1, range: o.xNames ? () => [-.6, o.xNames.length - .4] : o.points ? (u, a, b) => padded(a, b, o.logX) : undefined},
        y: {distr: o.logY ? 3 : 1, range: o.yRange ? () => o.yRange : o.yNames ? () => [-.6, o.yNames.length - .4] : o.points ? (u, a, b) => padded(a, b, o.logY) : undefined}},
      cursor: {drag: {x: !!o.zoom || !o.points, y: false, setScale: true}, points: {size: 7}, focus: {prox: 20}, ...(o.sync ? {sync: {key: o.sync, setSeries: false}} : {})},
      focus: {alpha: .35},
      axes: [
        {...axis, label: o.x, size: 38, space: o.logX ? 30 : 50, values: (u, splits) => tick(splits, o.xNames, u), ...splitsOf(o.xNames, o.logX)},
        {...axis, label: o.y, size: 62, values: (u, splits) => tick(splits, o.yNames, u), ...splitsOf(o.yNames, o.logY)},
      ],
      series: [{label: o.x}, ...series.map((s) => this.lineOf(s, s.style))],
      bands,
      hooks: {setCursor: [(u) => this.onCursor(u)], setScale: [(u, name) => this.onScale(u, name)],
        draw: [(u) => intervals(u, series), ...(o.draw ? [(u) => o.draw(u)] : [])]},
    };
  }

  lineOf(s, i) {
    if (s.edge) return {label: s.name, stroke: 'transparent', width: 0, points: {show: false}};
    const base = {label: s.name, stroke: s.faint ? `${color(i)}66` : color(i), width: s.faint ? 1 : 2, dash: s.faint ? [] : dash(i), spanGaps: false};
    if (s.faint) return {...base, points: {show: false}};
    if (!this.o.points && !s.marks) return {...base, points: {show: s.x.length < 2, size: 6}};
    const points = {show: true, size: 8, width: 1, stroke: s.color ?? color(i), fill: s.color ?? color(i), paths: marks(mark(i))};
    return {...base, dash: s.line ? dash(i) : undefined, paths: s.line ? undefined : () => null, points};
  }

  drawLegend(series) {
    this.now = series.map(() => el('span', {class: 'now'}));
    const named = series.filter((s) => !s.faint && !s.edge);
    const isSaid = named.length === 1 && !named[0].href && (this.o.y === named[0].name || this.o.y?.startsWith(`${named[0].name} `)); // the axis has just said it
    put(this.legend, named.length > 40 ? el('li', {class: 'dim'}, `${named.length} series`) : series.map((s, i) =>
      s.faint || s.edge ? null : isSaid ? el('li', {}, this.now[i]) : el('li', {}, swatch(s.style, this.o.points || (s.marks && !s.line) ? 'mark' : 'line'), s.href ? el('a', {href: s.href}, s.name) : s.name, this.now[i])));
  }

  onCursor(u) {
    const i = u.cursor.idx;
    if (this.o.cursor) this.o.cursor(u, i);
    if (this.o.points) return;
    this.now?.forEach((place, k) => {
      const v = i === null || i === undefined ? null : nearest(u.data[0], u.data[k + 1], i);
      put(place, v === null ? '' : `${number(v)}`);
    });
  }

  onScale(u, name) {
    if (name !== 'x' || !this.o.zoom || !u.data?.[0]?.length || this.quiet) return;
    const {min, max} = u.scales.x, all = [this.series.reduce((m, s) => Math.min(m, s.x[0] ?? Infinity), Infinity),
      this.series.reduce((m, s) => Math.max(m, s.x.at(-1) ?? -Infinity), -Infinity)];
    const whole = !this.range && min <= all[0] && max >= all[1];
    if (whole || min === null || (this.range && min === this.range[0] && max === this.range[1])) return;
    this.range = [min, max];
    this.o.zoom(min, max);
  }

  /** Shows everything again. */
  reset() {
    if (!this.range) return;
    this.range = null;
    this.o.zoom?.(null, null);
  }

  onKey(event) {
    const u = this.plot;
    if (!u || event.ctrlKey || event.metaKey || event.altKey) return;
    const {min, max} = u.scales.x, span = max - min;
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      const step = event.key === 'ArrowRight' ? 1 : -1, count = u.data[0].length;
      const i = Math.min(count - 1, Math.max(0, (u.cursor.idx ?? (step > 0 ? -1 : count)) + step));
      u.setCursor({left: u.valToPos(u.data[0][i], 'x'), top: u.over.clientHeight / 2});
    } else if (event.key === '+' && this.o.zoom) {
      u.setScale('x', {min: min + span / 4, max: max - span / 4});
    } else if ((event.key === '-' || event.key === '0') && this.o.zoom) {
      this.reset();
    } else {
      return;
    }
    event.preventDefault();
  }
}

/* Two edges that are not drawn for each band, and what fills the room between them: [{series: [high, low], fill}]. */
function drawn(series) {
  const lines = [], bands = [];
  series.forEach((s, i) => {
    const style = s.style ?? i;
    if (s.band) {
      lines.push({name: `${s.name}, high`, x: s.x, y: s.band.high, edge: true, style}, {name: `${s.name}, low`, x: s.x, y: s.band.low, edge: true, style});
      bands.push({series: [lines.length - 1, lines.length], fill: `${color(style)}2e`});
    }
    lines.push({...s, style});
  });
  return {lines, bands};
}

/* A line from the low to the high end of each point's interval, where it has one. */
function intervals(u, series) {
  const g = u.ctx;
  g.save();
  g.beginPath();
  g.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  g.clip();
  g.lineWidth = 1.5 * devicePixelRatio;
  g.globalAlpha = .6;
  series.forEach((s, i) => {
    g.strokeStyle = color(s.style ?? i);
    s.low?.forEach((low, k) => {
      if (low === null || s.high[k] === null || s.y[k] === null) return;
      const x = u.valToPos(s.x[k], 'x', true);
      g.beginPath();
      g.moveTo(x, u.valToPos(low, 'y', true));
      g.lineTo(x, u.valToPos(s.high[k], 'y', true));
      g.stroke();
    });
  });
  g.restore();
}

/* One x for all curves; undefined where a curve has no point there, null where it had no number. */
function join(series) {
  if (!series.length) return [[]];
  const first = series[0].x;
  if (series.every((s) => s.x === first || (s.x.length === first.length && s.x.every((v, i) => v === first[i]))))
    return [first, ...series.map((s) => s.y)];
  return uPlot.join(series.map((s) => [s.x, s.y]), series.map(() => [2])); // 2: nulls stay, alignment leaves undefined
}

/* Categories each once; logarithmic axes at 1, 2, 5, 10, or at powers of ten alone where there are many. */
function splitsOf(names, isLog) {
  if (names) return {splits: () => names.map((_, i) => i)};
  if (!isLog) return {};
  return {filter: (u, splits) => splits, splits: (u, axis, low, high) => {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high)), all = [];
    const steps = to - from > 4 ? [1] : [1, 2, 5];
    for (let e = from; e <= to; e++) for (const f of steps) all.push(Number(`${f}e${e}`));
    return all.filter((v) => v >= low && v <= high);
  }};
}

/* A range with some room to its sides. */
function padded(low, high, isLog) {
  if (low === null || low === undefined) return isLog ? [1, 10] : [0, 1];
  if (isLog) {
    const room = Math.max(1.15, (high / low) ** .06);
    return [low / room, high * room];
  }
  const room = high > low ? (high - low) * .06 : Math.abs(low) * .1 || .5;
  return [low - room, high + room];
}

function nearest(x, y, i) {
  for (let d = 0; d < 200; d++) {
    for (const k of [i - d, i + d])
      if (y[k] !== null && y[k] !== undefined) return y[k];
  }
  return null;
}

function tick(splits, names, u) {
  if (names) {
    const room = Math.max(3, Math.floor((u.width - 80) / Math.max(1, names.length) / 7));
    return splits.map((v) => Number.isInteger(v) && names[v] !== undefined ? names[v].slice(0, Math.max(room, 8)) : '');
  }
  return splits.map((v) => v === null || v === undefined ? '' : number(Math.abs(v) < 1e-12 ? 0 : v));
}

function marks(kind) {
  return (u, seriesIdx, from, to) => {
    const path = new Path2D(), r = 4 * devicePixelRatio;
    const [x, y] = [u.data[0], u.data[seriesIdx]];
    for (let i = from; i <= to; i++)
      if (y[i] !== null && y[i] !== undefined)
        markPath(path, kind, u.valToPos(x[i], 'x', true), u.valToPos(y[i], 'y', true), r);
    return {stroke: path, fill: path, flags: 3};
  };
}
