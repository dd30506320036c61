// SPDX-License-Identifier: GPL-3.0-or-later
// A scatter of two columns of runs, coloured by a number or marked by a third column. Runs that were pruned or failed have
// their own marks.
import {el} from './dom.js';
import {Chart} from './chart.js';
import {number, plain} from './format.js';
import {scale, variable} from './palette.js';
import {axisOf} from './parallel.js';

const BINS = 9, GROUPS_MAX = 12;

/* Which series a run belongs to: {name, order, color}; color undefined: the palette's. */
function classOf(state, i, third, isMarked, text) {
  if (state === 'pruned') return {name: 'pruned', order: 1e6, color: variable('--dim'), mark: 3};
  if (state !== 'ok' && state !== 'diverged') return {name: 'failed', order: 1e6 + 1, color: variable('--bad'), mark: 4};
  if (isMarked || third.words) return {name: text, order: third.at[i] ?? -1};
  if (third.at[i] === null) return {name: `without ${third.name}`, order: -1};
  const f = third.isLog ? Math.log(third.at[i] / third.low) / Math.log(third.high / third.low) : (third.at[i] - third.low) / (third.high - third.low);
  const bin = Math.min(BINS - 1, Math.floor(f * BINS));
  return {name: `bin ${bin}`, order: bin, color: scale((bin + .5) / BINS)};
}

/** options: {rows: [x, up, by, state, key], x, up: labels, by: name, isMarked, logX, logY (undefined: as the values are spread), pick(row)}. Returns the chart, with
 * `words` for what is drawn. */
export function scatterOf(root, o) {
  const x = axisOf(o.x, o.rows.map((r) => r[0]), o.logX), y = axisOf(o.up, o.rows.map((r) => r[1]), o.logY), third = axisOf(o.by, o.rows.map((r) => r[2]));
  const isLog = {x: (o.logX ?? x.isLog) && !x.words, y: (o.logY ?? y.isLog) && !y.words}, found = new Map();
  let missing = 0;
  o.rows.forEach((row, i) => {
    if (x.at[i] === null || y.at[i] === null || (isLog.x && x.at[i] <= 0) || (isLog.y && y.at[i] <= 0)) { missing++; return; }
    const c = classOf(row[3], i, third, o.isMarked, `${o.by} ${plain(row[2])}`);
    if (!found.has(c.name)) found.set(c.name, {...c, points: []});
    found.get(c.name).points.push([x.at[i], y.at[i], row]);
  });
  const classes = [...found.values()].sort((a, b) => a.order - b.order || a.name.localeCompare(b.name, 'en', {numeric: true})), some = classes.slice(0, GROUPS_MAX);
  // points of all classes on one rising x, as several may share one
  const points = some.flatMap((c, k) => c.points.map((p) => [...p, k])).sort((a, b) => a[0] - b[0]);
  const series = some.map((c, k) => ({name: c.name, marks: true, color: c.color, style: c.mark ?? (c.color ? 0 : k), x: points.map((p) => p[0]), y: points.map((p) => p[3] === k ? p[1] : undefined)}));
  const chart = new Chart(root, {x: o.x, y: o.up, points: true, xNames: x.words, yNames: y.words, logX: isLog.x, logY: isLog.y, height: innerWidth < 600 ? 320 : 460, label: 'scatter', bare: !o.isMarked && !third.words,
    cursor: (u, i) => o.pick(i === null || i === undefined ? null : points[i]?.[2])});
  chart.set(series);
  if (!o.isMarked && !third.words) root.append(colours(third, some));
  chart.isLog = isLog;
  chart.words = `${number(o.rows.length - missing)} runs${missing ? `; ${number(missing)} have no ${o.x} or ${o.up}${isLog.x || isLog.y ? ', or none above 0' : ''}` : ''}.${classes.length > GROUPS_MAX ? ` The first ${GROUPS_MAX} of ${classes.length} values of ${o.by} are shown.` : ''}`;
  return chart;
}

const SIGNS = {pruned: '◆', failed: '✚'};

/* The scale, and the signs of what has no colour of it. */
function colours(axis, classes) {
  const bar = el('canvas', {width: 160, height: 12, 'aria-hidden': 'true'}), g = bar.getContext('2d');
  for (let i = 0; i < 160; i++) { g.fillStyle = scale((Math.floor(i / 160 * BINS) + .5) / BINS); g.fillRect(i, 0, 1, 12); }
  return el('p', {class: 'note'}, `${axis.name} `, number(axis.low), ' ', bar, ' ', number(axis.high), classes.filter((c) => !c.name.startsWith('bin ')).map((c) => ` ${SIGNS[c.name] ?? '●'} ${c.name} (${number(c.points.length)})`));
}
