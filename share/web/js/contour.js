// SPDX-License-Identifier: GPL-3.0-or-later
// The surface of a number over two parameters: its mean at a grid in colours, lines of equal height, and each run as a dot in
// the colour of its own value. Where there is no data the picture is hatched. The arrows read it cell by cell.
import {el, put} from './dom.js';
import {number} from './format.js';
import {scale, variable} from './palette.js';

const LEFT = 74, BOTTOM = 46, TOP = 12, RIGHT = 12, LEVELS = 8, DOT = 4;

const place = (axis, v) => axis.is_log ? Math.log(v / axis.low) / Math.log(axis.high / axis.low) : (v - axis.low) / (axis.high - axis.low);
const back = (axis, f) => axis.is_log ? axis.low * (axis.high / axis.low) ** f : axis.low + f * (axis.high - axis.low);

/* Round numbers within an axis. */
function ticks(axis) {
  if (axis.is_log) {
    const found = [];
    for (let e = Math.floor(Math.log10(axis.low)); e <= Math.ceil(Math.log10(axis.high)); e++) found.push(10 ** e);
    const inside = found.filter((v) => v >= axis.low * .999 && v <= axis.high * 1.001), every = Math.ceil(inside.length / 6);
    return inside.length > 1 ? inside.filter((v, i) => i % every === 0) : [axis.low, axis.high];
  }
  const rough = (axis.high - axis.low) / 5, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const found = [];
  for (let k = Math.ceil(axis.low / step); k * step <= axis.high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/* The pieces of the line of one height: [x1, y1, x2, y2] in cells, by marching squares. A square with a missing corner has none. */
function lines(grid, level) {
  const n = grid.side, at = (i, j) => grid.mean[j * n + i], pieces = [];
  for (let j = 0; j + 1 < n; j++) for (let i = 0; i + 1 < n; i++) {
    const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]], v = corners.map(([a, b]) => at(a, b));
    if (v.some((one) => one === null)) continue;
    const cuts = [];
    for (let k = 0; k < 4; k++) {
      const a = v[k], b = v[(k + 1) % 4];
      if ((a < level) === (b < level)) continue;
      const f = (level - a) / (b - a), [p, q] = [corners[k], corners[(k + 1) % 4]];
      cuts.push([p[0] + f * (q[0] - p[0]), p[1] + f * (q[1] - p[1])]);
    }
    for (let k = 0; k + 1 < cuts.length; k += 2) pieces.push([...cuts[k], ...cuts[k + 1]]);
  }
  return pieces;
}

export class Contour {
  /** options: {surface: the server's answer, runs: [{x, y, value, state, key}], x, y, z: labels, pick(text, key or null)} */
  constructor(root, options) {
    this.o = options;
    this.grid = options.surface.grid;
    this.canvas = el('canvas', {tabindex: '0', role: 'img', id: 'contour', 'aria-label': this.words()});
    put(root, this.canvas, this.legend());
    this.cell = null;
    this.canvas.addEventListener('mousemove', (event) => this.point(event));
    this.canvas.addEventListener('mouseleave', () => { this.cell = null; this.draw(); });
    this.canvas.addEventListener('click', (event) => { const run = this.runAt(event); if (run) location.hash = `#/run/${run.key}`; });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.seen = new ResizeObserver(() => this.draw());
    this.seen.observe(root);
    this.draw();
  }

  end() { this.seen.disconnect(); }

  range() {
    const all = [...this.grid.mean.filter((v) => v !== null), ...this.o.runs.filter((r) => r.state === 'ok').map((r) => r.value)];
    const [low, high] = [all.reduce((m, v) => Math.min(m, v), Infinity), all.reduce((m, v) => Math.max(m, v), -Infinity)];
    return {low, high: high > low ? high : low + 1, is_log: this.o.surface.is_log && low > 0};
  }

  words() {
    const known = this.grid.mean.filter((v) => v !== null).length, share = Math.round(100 * known / this.grid.mean.length), {low, high} = this.range();
    return `${this.o.z} over ${this.o.x} and ${this.o.y}, ${number(low)} to ${number(high)}; ${share} % of the area has data. Arrows read it.`;
  }

  legend() {
    const {low, high, is_log} = this.range(), bar = el('canvas', {width: 160, height: 12, 'aria-hidden': 'true'}), g = bar.getContext('2d');
    for (let i = 0; i < 160; i++) { g.fillStyle = scale(i / 159); g.fillRect(i, 0, 1, 12); }
    return el('p', {class: 'note keys'}, `${this.o.z} `, number(low), ' ', bar, ' ', number(high), is_log ? ' (logarithmic)' : '', ' · dots: runs that ended ok · crosses: pruned, failed or without a value · hatched: no data');
  }

  xOf(f) { return LEFT + f * (this.width - LEFT - RIGHT); }
  yOf(f) { return this.height - BOTTOM - f * (this.height - BOTTOM - TOP); }

  draw() {
    const ratio = devicePixelRatio || 1, g = this.canvas.getContext('2d');
    this.width = Math.max(260, this.canvas.parentElement.clientWidth - 26);
    this.height = this.width < 500 ? 320 : 460;
    Object.assign(this.canvas.style, {width: `${this.width}px`, height: `${this.height}px`});
    if (this.canvas.width !== this.width * ratio || this.canvas.height !== this.height * ratio) Object.assign(this.canvas, {width: this.width * ratio, height: this.height * ratio});
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    this.area(g);
    this.levels(g);
    this.dots(g);
    this.axes(g);
  }

  /* Each grid point colours the cell around it. */
  area(g) {
    const n = this.grid.side, range = this.range();
    g.save();
    g.beginPath();
    g.rect(this.xOf(0), this.yOf(1), this.xOf(1) - this.xOf(0), this.yOf(0) - this.yOf(1));
    g.clip();
    g.strokeStyle = variable('--line');
    g.lineWidth = 1;
    for (let d = -this.height; d < this.width; d += 9) { g.beginPath(); g.moveTo(d, this.height); g.lineTo(d + this.height, 0); g.stroke(); }
    for (let k = 0; k < n * n; k++) {
      const v = this.grid.mean[k];
      if (v === null) continue;
      const i = k % n, j = Math.floor(k / n), x = this.xOf((i - .5) / (n - 1)), y = this.yOf((j + .5) / (n - 1));
      g.fillStyle = scale(place(range, v));
      g.fillRect(x, y, this.xOf((i + .5) / (n - 1)) - x + .6, this.yOf((j - .5) / (n - 1)) - y + .6);
    }
    g.restore();
  }

  /* White within black, so that it is seen on every colour of the scale. */
  twice(g, path, width) {
    for (const [colour, more] of [['#000', 2], ['#fff', 0]]) {
      g.strokeStyle = colour;
      g.lineWidth = width + more;
      g.stroke(path);
    }
  }

  levels(g) {
    const range = this.range(), n = this.grid.side - 1, path = new Path2D();
    for (let k = 1; k <= LEVELS; k++)
      for (const [a, b, c, d] of lines(this.grid, back(range, k / (LEVELS + 1)))) { path.moveTo(this.xOf(a / n), this.yOf(b / n)); path.lineTo(this.xOf(c / n), this.yOf(d / n)); }
    g.globalAlpha = .5;
    this.twice(g, path, 1);
    g.globalAlpha = 1;
  }

  dots(g) {
    const range = this.range(), {x, y} = this.o.surface;
    for (const run of this.o.runs.filter((one) => this.isInside(one))) {
      const a = this.xOf(place(x, run.x)), b = this.yOf(place(y, run.y)), path = new Path2D();
      if (run.state === 'ok') {
        path.arc(a, b, DOT, 0, 2 * Math.PI);
        g.fillStyle = scale(place(range, run.value));
        g.fill(path);
      } else {
        path.moveTo(a - DOT, b - DOT); path.lineTo(a + DOT, b + DOT); path.moveTo(a - DOT, b + DOT); path.lineTo(a + DOT, b - DOT);
      }
      this.twice(g, path, 1.5);
    }
    if (this.cell) {
      const n = this.grid.side - 1, [a, b] = [this.xOf(this.cell[0] / n), this.yOf(this.cell[1] / n)];
      g.strokeStyle = variable('--bad');
      g.lineWidth = 2;
      g.strokeRect(a - 6, b - 6, 12, 12);
    }
  }

  /** The axes end at the runs that the surface is fitted to; others may lie beyond. */
  isInside(run) {
    const f = [place(this.o.surface.x, run.x), place(this.o.surface.y, run.y)];
    return f.every((v) => v > -1e-9 && v < 1 + 1e-9);
  }

  axes(g) {
    const {x, y} = this.o.surface, text = variable('--text');
    g.strokeStyle = variable('--dim');
    g.lineWidth = 1;
    g.strokeRect(this.xOf(0), this.yOf(1), this.xOf(1) - this.xOf(0), this.yOf(0) - this.yOf(1));
    g.fillStyle = text;
    g.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    g.textAlign = 'center';
    g.textBaseline = 'top';
    for (const v of ticks(x)) g.fillText(number(v), this.xOf(place(x, v)), this.yOf(0) + 5);
    g.fillText(this.o.x + (x.is_log ? ' (logarithmic)' : ''), (this.xOf(0) + this.xOf(1)) / 2, this.height - 17);
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const v of ticks(y)) g.fillText(number(v), this.xOf(0) - 6, this.yOf(place(y, v)));
    g.save();
    g.translate(11, (this.yOf(0) + this.yOf(1)) / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = 'center';
    g.fillText(this.o.y + (y.is_log ? ' (logarithmic)' : ''), 0, 0);
    g.restore();
  }

  runAt(event) {
    const {x, y} = this.o.surface, near = this.o.runs.filter((run) => this.isInside(run)).map((run) => [Math.hypot(this.xOf(place(x, run.x)) - event.offsetX, this.yOf(place(y, run.y)) - event.offsetY), run]).filter(([d]) => d < 9);
    return near.sort((a, b) => a[0] - b[0])[0]?.[1] ?? null;
  }

  point(event) {
    const run = this.runAt(event), n = this.grid.side - 1;
    const f = [(event.offsetX - LEFT) / (this.width - LEFT - RIGHT), (this.height - BOTTOM - event.offsetY) / (this.height - BOTTOM - TOP)];
    this.canvas.style.cursor = run ? 'pointer' : '';
    if (run) this.o.pick(run.state === 'ok' ? `${this.o.z} ${number(run.value)} measured at ${this.o.x} ${number(run.x)}, ${this.o.y} ${number(run.y)}` : `${run.state} at ${this.o.x} ${number(run.x)}, ${this.o.y} ${number(run.y)}`, run.key);
    else if (f.every((v) => v >= 0 && v <= 1)) this.read(f.map((v) => Math.round(v * n)), false);
  }

  key(event) {
    const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key], n = this.grid.side - 1;
    if (!step) return;
    event.preventDefault();
    const [i, j] = this.cell ?? [n / 2 - step[0], n / 2 - step[1]];
    this.read([Math.min(n, Math.max(0, i + step[0])), Math.min(n, Math.max(0, j + step[1]))], true);
  }

  /* Says what the surface is at a cell. */
  read([i, j], isMarked) {
    const n = this.grid.side, k = j * n + i, {x, y} = this.o.surface, at = `at ${this.o.x} ${number(back(x, i / (n - 1)))}, ${this.o.y} ${number(back(y, j / (n - 1)))}`;
    this.cell = isMarked ? [i, j] : null;
    this.draw();
    this.o.pick(this.grid.mean[k] === null ? `no data ${at}` : `${this.o.z} about ${number(this.grid.mean[k])} (${number(this.grid.low[k])} to ${number(this.grid.high[k])}, one standard deviation) ${at}`, null);
  }
}
