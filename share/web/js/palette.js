// SPDX-License-Identifier: GPL-3.0-or-later
// Okabe and Ito's colours, which people with any kind of colour vision tell apart; and since a colour alone is never
// enough, each curve also has dashes and a mark of its own.
import {svg} from './dom.js';

const LIGHT = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9', '#1a1c20'];
const DARK = ['#56B4E9', '#E69F00', '#2fc79c', '#e39cc4', '#F0E442', '#ff8a3d', '#e6e8ec'];
const DASHES = [[], [8, 4], [2, 3], [9, 3, 2, 3], [14, 4]];
const MARKS = ['circle', 'square', 'triangle', 'diamond', 'cross'];

export const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;
export const color = (i) => (isDark() ? DARK : LIGHT)[i % LIGHT.length];
export const dash = (i) => DASHES[i % DASHES.length];
export const mark = (i) => MARKS[i % MARKS.length];
export const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Adds the outline of a mark to a Path2D or canvas path. */
export function markPath(path, kind, x, y, r) {
  if (kind === 'circle') { path.moveTo(x + r, y); path.arc(x, y, r, 0, 2 * Math.PI); return; }
  const corners = {
    square: [[-r, -r], [r, -r], [r, r], [-r, r]],
    triangle: [[0, -1.25 * r], [1.2 * r, r], [-1.2 * r, r]],
    diamond: [[0, -1.4 * r], [1.4 * r, 0], [0, 1.4 * r], [-1.4 * r, 0]],
    cross: [[-r, -.35 * r], [-.35 * r, -.35 * r], [-.35 * r, -r], [.35 * r, -r], [.35 * r, -.35 * r], [r, -.35 * r],
      [r, .35 * r], [.35 * r, .35 * r], [.35 * r, r], [-.35 * r, r], [-.35 * r, .35 * r], [-r, .35 * r]],
  }[kind];
  corners.forEach(([dx, dy], k) => k ? path.lineTo(x + dx, y + dy) : path.moveTo(x + dx, y + dy));
  path.closePath();
}

/** A sample of a curve, or of a mark, for legends. */
export function swatch(i, kind = 'line') {
  const picture = svg('svg', {width: 30, height: 12, viewBox: '0 0 30 12', 'aria-hidden': 'true'});
  if (kind === 'line') {
    picture.append(svg('line', {x1: 1, x2: 29, y1: 6, y2: 6, stroke: color(i), 'stroke-width': 2.5, 'stroke-dasharray': dash(i).join(' ')}));
  } else {
    const parts = [];
    markPath({moveTo: (x, y) => parts.push(`M${x} ${y}`), lineTo: (x, y) => parts.push(`L${x} ${y}`),
      arc: (x, y, r) => parts.push(`a${r} ${r} 0 1 0 ${-2 * r} 0a${r} ${r} 0 1 0 ${2 * r} 0`), closePath: () => parts.push('Z')}, mark(i), 15, 6, 4.5);
    picture.append(svg('path', {d: parts.join(''), fill: color(i)}));
  }
  return picture;
}

/** Cividis, from 0 to 1: light and dark for every kind of colour vision; on a dark page without its darkest third. */
export function scale(t) {
  const stops = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];
  const at = Math.min(.9999, Math.max(0, isDark() ? .33 + .67 * t : t)) * (stops.length - 1), k = Math.floor(at), f = at - k;
  const c = stops[k].map((v, j) => Math.round(v + f * (stops[k + 1][j] - v)));
  return `rgb(${c.join(' ')})`;
}
