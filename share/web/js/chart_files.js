// SPDX-License-Identifier: GPL-3.0-or-later
// A chart as it is seen, for a paper or another program: SVG, PNG, or the drawn points as CSV.
import {csvCell, download} from './actions.js';
import {svg} from './dom.js';
import {number} from './format.js';
import {color, dash, variable} from './palette.js';

const LEFT = 70, TOP = 34, RIGHT = 20, BOTTOM = 52, LINE = 18, FONT = 'DejaVu Sans, Helvetica, Arial, sans-serif';

/** About `count` round numbers between two ends; on a logarithmic axis 1, 2, 5 of each power, or the powers alone. */
export function ticks(low, high, count, isLog) {
  const out = [];
  if (isLog) {
    const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
    for (let e = from; e <= to; e++) for (const f of to - from > 3 ? [1] : [1, 2, 5]) out.push(Number(`${f}e${e}`));
    return out.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
  }
  const raw = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((f) => f * power >= raw) * power;
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) out.push(Math.abs(v) < step * 1e-6 ? 0 : Number(v.toPrecision(12)));
  return out;
}

/* What is drawn of a chart: its scales and its lines within them. */
function seen(chart) {
  const u = chart.plot, scale = (name) => ({low: u.scales[name].min, high: u.scales[name].max, isLog: u.scales[name].distr === 3});
  return {x: scale('x'), y: scale('y'), lines: chart.lines.filter((s) => !s.hidden)};
}

const place = (scale, v, from, to) => scale.isLog ? from + (Math.log(v) - Math.log(scale.low)) / (Math.log(scale.high) - Math.log(scale.low)) * (to - from)
  : from + (v - scale.low) / (scale.high - scale.low) * (to - from);

function pathOf(s, x, y, box) {
  let text = '', pen = false;
  s.x.forEach((v, i) => {
    const w = s.y[i];
    const is = w !== null && w !== undefined && Number.isFinite(w) && v >= x.low && v <= x.high && (!y.isLog || w > 0);
    if (is) text += `${pen ? 'L' : 'M'}${place(x, v, box.left, box.right).toFixed(1)} ${place(y, w, box.bottom, box.top).toFixed(1)}`;
    pen = is;
  });
  return text;
}

/** An SVG of the chart with its axes and a legend. names: [{name, style}] of what the legend has. */
export function svgOf(chart, names, title) {
  const {x, y, lines} = seen(chart), width = 860, rows = Math.ceil(names.length / 2), height = 430 + rows * LINE;
  const box = {left: LEFT, right: width - RIGHT, top: TOP, bottom: height - BOTTOM - rows * LINE}, text = variable('--text'), line = variable('--line');
  const root = svg('svg', {xmlns: 'http://www.w3.org/2000/svg', width, height, viewBox: `0 0 ${width} ${height}`, 'font-family': FONT, 'font-size': 12});
  root.append(svg('rect', {width, height, fill: variable('--back')}), svg('text', {x: LEFT, y: 20, fill: text, 'font-size': 15}, title));
  for (const v of ticks(x.low, x.high, 8, x.isLog)) {
    const at = place(x, v, box.left, box.right);
    root.append(svg('line', {x1: at, x2: at, y1: box.top, y2: box.bottom, stroke: line}), svg('text', {x: at, y: box.bottom + 16, 'text-anchor': 'middle', fill: text}, number(v)));
  }
  for (const v of ticks(y.low, y.high, 6, y.isLog)) {
    const at = place(y, v, box.bottom, box.top);
    root.append(svg('line', {x1: box.left, x2: box.right, y1: at, y2: at, stroke: line}), svg('text', {x: box.left - 6, y: at + 4, 'text-anchor': 'end', fill: text}, number(v)));
  }
  const clip = svg('clipPath', {id: 'seen'}, svg('rect', {x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top}));
  const drawn = svg('g', {'clip-path': 'url(#seen)', fill: 'none'});
  for (const s of lines) if (!s.edge) drawn.append(svg('path', {d: pathOf(s, x, y, box), stroke: color(s.style), 'stroke-width': s.faint ? .8 : 1.8, 'stroke-opacity': s.faint ? .4 : 1, 'stroke-dasharray': s.faint ? 'none' : dash(s.style).join(' ') || 'none'}));
  root.append(clip, drawn, svg('rect', {x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, fill: 'none', stroke: text}),
    svg('text', {x: (box.left + box.right) / 2, y: box.bottom + 36, 'text-anchor': 'middle', fill: text}, chart.o.x),
    svg('text', {transform: `translate(16 ${(box.top + box.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle', fill: text}, chart.o.y));
  names.forEach((n, i) => {
    const at = {x: LEFT + (i % 2) * (width - LEFT) / 2, y: box.bottom + BOTTOM + Math.floor(i / 2) * LINE};
    root.append(svg('line', {x1: at.x, x2: at.x + 28, y1: at.y - 4, y2: at.y - 4, stroke: color(n.style), 'stroke-width': 2, 'stroke-dasharray': dash(n.style).join(' ') || 'none'}),
      svg('text', {x: at.x + 34, y: at.y, fill: text}, n.name.slice(0, 60)));
  });
  return root;
}

/** A PNG of the chart as the screen has it, with a title and a legend. */
function pngOf(chart, names, title) {
  const plot = chart.plot.ctx.canvas, ratio = devicePixelRatio || 1, rows = Math.ceil(names.length / 2);
  const canvas = Object.assign(document.createElement('canvas'), {width: plot.width, height: plot.height + (34 + rows * LINE + 8) * ratio}), g = canvas.getContext('2d');
  g.fillStyle = variable('--back');
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.drawImage(plot, 0, 30 * ratio);
  g.scale(ratio, ratio);
  g.fillStyle = variable('--text');
  g.font = `15px ${FONT}`;
  g.fillText(title, 12, 20);
  g.font = `12px ${FONT}`;
  names.forEach((n, i) => {
    const x = 14 + (i % 2) * canvas.width / ratio / 2, y = plot.height / ratio + 44 + Math.floor(i / 2) * LINE;
    g.strokeStyle = color(n.style);
    g.lineWidth = 2;
    g.setLineDash(dash(n.style));
    g.beginPath();
    g.moveTo(x, y - 4);
    g.lineTo(x + 28, y - 4);
    g.stroke();
    g.fillText(n.name.slice(0, 60), x + 34, y);
  });
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

/** The points that are seen: a line for each. */
export function csvOf(chart) {
  const {x, lines} = seen(chart), rows = [['series', chart.o.x, chart.o.y]];
  for (const s of lines)
    if (!s.edge) s.x.forEach((v, i) => { if (v >= x.low && v <= x.high && s.y[i] !== null && s.y[i] !== undefined) rows.push([s.name, v, s.y[i]]); });
  return rows.map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';
}

/** Lets the browser keep a chart. kind: svg, png or csv. */
export async function saveChart(kind, chart, names, title) {
  const file = `${title.replace(/[^\w.-]+/g, '-').slice(0, 60) || 'chart'}.${kind}`;
  if (kind === 'svg') download(file, new XMLSerializer().serializeToString(svgOf(chart, names, title)), 'image/svg+xml');
  else if (kind === 'png') download(file, await pngOf(chart, names, title));
  else download(file, csvOf(chart));
}
