// SPDX-License-Identifier: GPL-3.0-or-later
// Parallel coordinates: a line for each run, an axis for each column. A range is chosen on an axis by a drag, or by the keys
// when the axis has the focus (arrows move it, + and - change its size, Delete lets it go); ranges on several axes hold
// together. A click on an axis' name turns its logarithm on or off.
import {put, svg} from './dom.js';
import {number} from './format.js';
import {scale, variable} from './palette.js';

const HEIGHT = 420, TOP = 52, BOTTOM = HEIGHT - 34, SIDE = 62, WORDS_MAX = 14, HALF = 13, LOG_RATIO = 10;

/* Whether the values lie more evenly along the logarithm: there the middle one is nearer to the middle. */
function isSpreadByLog(values, low, high) {
  const middle = [...values].sort((a, b) => a - b)[values.length >> 1];
  return high / low >= LOG_RATIO && Math.abs(Math.log(middle / low) / Math.log(high / low) - .5) < Math.abs((middle - low) / (high - low) - .5);
}

/** Numbers, or the places of words among themselves. values may have null. */
export function axisOf(name, values, wantsLog) {
  const there = values.filter((v) => v !== null && v !== undefined);
  const isText = there.some((v) => typeof v === 'string' && !(v.trim() && Number.isFinite(Number(v))));
  if (isText) {
    const words = [...new Set(there.map(String))].sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
    return {name, words, low: 0, high: Math.max(1, words.length - 1), isLog: false, at: values.map((v) => v === null || v === undefined ? null : words.indexOf(String(v)))};
  }
  const at = values.map((v) => v === null || v === undefined || !Number.isFinite(Number(v)) ? null : Number(v)), finite = at.filter((v) => v !== null);
  const low = finite.reduce((m, v) => Math.min(m, v), Infinity), high = finite.reduce((m, v) => Math.max(m, v), -Infinity), from = finite.length ? low : 0;
  const canLog = low > 0 && high > low, isLog = canLog && (wantsLog ?? isSpreadByLog(finite, low, high));
  return {name, words: null, canLog, isLog, low: from, high: high > low ? high : from + Math.max(1, Math.abs(from) / 10), at};
}

const place = (axis, v) => axis.isLog ? (Math.log(v) - Math.log(axis.low)) / (Math.log(axis.high) - Math.log(axis.low)) : (v - axis.low) / (axis.high - axis.low);
const back = (axis, f) => axis.isLog ? Math.exp(Math.log(axis.low) + f * (Math.log(axis.high) - Math.log(axis.low))) : axis.low + f * (axis.high - axis.low);

/** options: {axes: [axisOf...], colour: axisOf of the metric, states: [text], brushes: Map name -> [from, to] as shares of the
 * axis from 0 (below) to 1, changed(): a range was changed, turn(name): its logarithm, open(i): a run was clicked, width} */
export class Parallel {
  constructor(root, options) {
    this.o = options;
    this.canvas = document.createElement('canvas');
    this.canvas.setAttribute('role', 'img');
    this.front = svg('svg', {width: options.width, height: HEIGHT, class: 'axes'});
    const box = document.createElement('div');
    box.className = 'parallel';
    box.style.width = `${options.width}px`;
    box.append(this.canvas, this.front);
    put(root, box);
    this.gap = (options.width - 2 * SIDE) / Math.max(1, options.axes.length - 1);
    this.drawAxes();
    this.draw();
  }

  xOf(k) { return SIDE + k * this.gap; }
  yOf(axis, v) { return BOTTOM - place(axis, v) * (BOTTOM - TOP); }

  /** Whether a run lies within every range. */
  isIn(i) {
    for (const axis of this.o.axes) {
      const brush = this.o.brushes.get(axis.name);
      if (!brush) continue;
      const v = axis.at[i], f = v === null ? null : place(axis, v);
      if (f === null || f < brush[0] - 1e-9 || f > brush[1] + 1e-9) return false;
    }
    return true;
  }

  /** The runs within all ranges. */
  inside() {
    return this.o.states.map((_, i) => i).filter((i) => this.isIn(i));
  }

  draw() {
    const {width, axes, colour, states, brushes} = this.o, ratio = devicePixelRatio || 1, g = this.canvas.getContext('2d');
    this.canvas.width = width * ratio;
    this.canvas.height = HEIGHT * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    g.scale(ratio, ratio);
    const inside = new Set(this.inside()), order = states.map((_, i) => i).sort((a, b) => inside.has(a) - inside.has(b) || (colour.at[a] ?? -Infinity) - (colour.at[b] ?? -Infinity));
    for (const i of order) {
      const v = colour.at[i], isOk = states[i] === 'ok' || states[i] === 'diverged', isIn = inside.has(i);
      g.strokeStyle = !isIn ? variable('--line') : v !== null && isOk ? scale(place(colour, v)) : variable('--dim');
      g.globalAlpha = !isIn ? .5 : order.length > 300 ? .4 : .8;
      g.lineWidth = isIn && brushes.size ? 1.8 : 1.2;
      g.setLineDash(states[i] === 'pruned' ? [6, 4] : isOk ? [] : [1.5, 4]);
      this.line(g, axes, i);
    }
    this.canvas.setAttribute('aria-label', `parallel coordinates of ${axes.map((a) => a.name).join(', ')} for ${states.length} runs, ${inside.size} of them within the chosen ranges, coloured by ${colour.name}`);
    this.canvas.dataset.inside = inside.size;
  }

  line(g, axes, i) {
    let pen = false;
    g.beginPath();
    axes.forEach((axis, k) => {
      const v = axis.at[i];
      if (v === null || (axis.isLog && v <= 0)) { pen = false; return; }
      const y = this.yOf(axis, v);
      pen ? g.lineTo(this.xOf(k), y) : g.moveTo(this.xOf(k), y);
      pen = true;
    });
    g.stroke();
  }

  drawAxes() {
    put(this.front, this.o.axes.map((axis, k) => this.axis(axis, k)));
  }

  axis(axis, k) {
    const x = this.xOf(k), group = svg('g', {tabindex: 0, role: 'slider', 'data-axis': axis.name, 'aria-label': `${axis.name}${axis.isLog ? ', logarithmic' : ''}`, 'aria-orientation': 'vertical', 'aria-valuemin': 0, 'aria-valuemax': 100});
    const name = svg('text', {x, y: 16, 'text-anchor': 'middle', class: axis.words || !axis.canLog ? 'name' : 'name turns'}, axis.name.slice(0, Math.max(9, Math.floor(this.gap / 7))));
    if (axis.canLog) {
      name.append(svg('title', {}, axis.isLog ? 'logarithmic; a click makes it linear' : 'linear; a click makes it logarithmic'));
      name.addEventListener('click', () => this.o.turn(axis.name, !axis.isLog));
    }
    const brush = svg('rect', {x: x - HALF, width: 2 * HALF, class: 'brush'}), catcher = svg('rect', {x: x - HALF, y: TOP - 8, width: 2 * HALF, height: BOTTOM - TOP + 16, fill: 'transparent', class: 'catch'});
    group.append(name, svg('line', {x1: x, x2: x, y1: TOP, y2: BOTTOM, class: 'axis'}), ...this.labels(axis, x), brush, catcher);
    if (axis.isLog) group.append(svg('text', {x, y: 31, 'text-anchor': 'middle', class: 'small'}, 'log'));
    this.place(group, brush, axis);
    catcher.addEventListener('pointerdown', (event) => this.begin(event, axis, group, brush, catcher));
    group.addEventListener('keydown', (event) => this.onKey(event, axis, group, brush));
    return group;
  }

  labels(axis, x) {
    const marks = axis.words ? (axis.words.length <= WORDS_MAX ? axis.words : axis.words.filter((_, i) => i % Math.ceil(axis.words.length / WORDS_MAX) === 0)).map((w) => [axis.words.indexOf(w), w.slice(0, 12)])
      : [0, .25, .5, .75, 1].map((f) => back(axis, f)).map((v) => [v, number(Number(v.toPrecision(3)))]);
    return marks.flatMap(([v, text]) => {
      const y = this.yOf(axis, v), label = svg('text', {x: x + 6, y: y + 4, class: 'mark'}, text);
      return [svg('line', {x1: x - 4, x2: x + 4, y1: y, y2: y, class: 'axis'}), label];
    });
  }

  place(group, rect, axis) {
    const brush = this.o.brushes.get(axis.name), top = brush ? BOTTOM - brush[1] * (BOTTOM - TOP) : 0;
    rect.setAttribute('y', top);
    rect.setAttribute('height', brush ? Math.max(3, (brush[1] - brush[0]) * (BOTTOM - TOP)) : 0);
    const text = (f) => axis.words ? axis.words[Math.round(back(axis, f))] : number(Number(back(axis, f).toPrecision(3)));
    group.setAttribute('aria-valuenow', brush ? Math.round(50 * (brush[0] + brush[1])) : 50);
    group.setAttribute('aria-valuetext', brush ? `${text(brush[0])} to ${text(brush[1])}` : 'all');
  }

  set(axis, group, rect, from, to) {
    if (from === null) this.o.brushes.delete(axis.name);
    else this.o.brushes.set(axis.name, [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))]);
    this.place(group, rect, axis);
    this.draw();
  }

  begin(event, axis, group, rect, catcher) {
    const share = (e) => (BOTTOM - (e.clientY - this.front.getBoundingClientRect().top)) / (BOTTOM - TOP), first = share(event);
    let moved = false;
    catcher.setPointerCapture(event.pointerId);
    const move = (e) => { if (Math.abs(share(e) - first) > .01) moved = true; if (moved) this.set(axis, group, rect, first, share(e)); };
    const end = () => {
      catcher.removeEventListener('pointermove', move);
      if (!moved) this.set(axis, group, rect, null);
      this.o.changed();
    };
    catcher.addEventListener('pointermove', move);
    catcher.addEventListener('pointerup', end, {once: true});
    event.preventDefault();
    group.focus({preventScroll: true});
  }

  onKey(event, axis, group, rect) {
    const [from, to] = this.o.brushes.get(axis.name) ?? [0, 1], d = axis.words ? 1 / Math.max(1, axis.words.length - 1) : .05;
    const next = {ArrowUp: [from + d, to + d], ArrowDown: [from - d, to - d], '+': [from - d, to + d], '-': [from + d, to - d]}[event.key];
    if (event.key === 'Enter' && axis.canLog) this.o.turn(axis.name, !axis.isLog);
    else if (event.key === 'Delete' || event.key === 'Escape' || event.key === 'Backspace') this.set(axis, group, rect, null);
    else if (next && next[1] - next[0] > -1e-9 && next[1] > 0 && next[0] < 1) this.set(axis, group, rect, ...next);
    else return;
    event.preventDefault();
    this.o.changed();
  }
}

/** The condition that a range means, for the filter: "lr >= 0.01 and lr <= 0.1". */
export function conditionOf(axis, brush) {
  const quoted = (w) => `'${w.replaceAll("'", "''")}'`;
  if (axis.words) {
    const words = axis.words.filter((_, i) => place(axis, i) >= brush[0] - 1e-9 && place(axis, i) <= brush[1] + 1e-9);
    return words.length ? `(${words.map((w) => `${axis.name} = ${quoted(w)}`).join(' or ')})` : `${axis.name} = ''`;
  }
  const round = (v) => String(Number(v.toPrecision(6)));
  return [brush[0] > 0 ? `${axis.name} >= ${round(back(axis, brush[0]))}` : null, brush[1] < 1 ? `${axis.name} <= ${round(back(axis, brush[1]))}` : null].filter(Boolean).join(' and ');
}
