// SPDX-License-Identifier: GPL-3.0-or-later
// Small curves in the lines of the table: a few points of each run that is seen, of the first of several metrics that it has.
import {get, isAbort} from './api.js';
import {svg} from './dom.js';
import {number} from './format.js';
import {variable} from './palette.js';

const WIDTH = 84, HEIGHT = 20, AT_ONCE = 60, KEPT = 2000;

/** Draws small curves into the places that it hands out, and asks for what it lacks when rows are seen. */
export class Sparks {
  constructor(metrics) {
    this.metrics = metrics;
    this.curves = new Map(); // key -> {metric, values}; null: the run has none, or it is asked for
    this.abort = new AbortController();
  }

  end() {
    this.abort.abort();
  }

  /** A picture for a run. */
  of(key) {
    const picture = svg('svg', {width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'spark', 'data-spark': key, 'aria-hidden': 'true'});
    this.fill(picture, this.curves.get(key));
    return picture;
  }

  fill(picture, curve) {
    const values = curve?.values ?? [], there = values.filter((v) => typeof v === 'number');
    if (there.length < 2) return;
    const low = Math.min(...there), span = Math.max(...there) - low || 1;
    const points = values.map((v, i) => typeof v === 'number' ? `${(2 + i * (WIDTH - 4) / (values.length - 1)).toFixed(1)},${(HEIGHT - 3 - (v - low) / span * (HEIGHT - 6)).toFixed(1)}` : null);
    picture.replaceChildren(svg('polyline', {points: points.filter(Boolean).join(' '), fill: 'none', stroke: variable('--accent'), 'stroke-width': 1.5}));
    picture.append(svg('title', {}, `${curve.metric}: ${number(there[0])} to ${number(there.at(-1))}`));
    picture.setAttribute('role', 'img');
    picture.removeAttribute('aria-hidden');
  }

  /** Asks for the curves of these runs, and draws them where they stand. */
  async seen(keys) {
    const lacking = [...new Set(keys)].filter((k) => !this.curves.has(k)).slice(0, AT_ONCE);
    if (!lacking.length) return;
    if (this.curves.size > KEPT) this.curves.clear();
    lacking.forEach((k) => this.curves.set(k, null));
    try {
      const {curves} = await get('sparks', {metrics: this.metrics.join(','), runs: lacking.join(',')}, {signal: this.abort.signal});
      for (const [key, curve] of Object.entries(curves)) {
        this.curves.set(key, curve);
        for (const picture of document.querySelectorAll(`svg[data-spark="${CSS.escape(key)}"]`)) this.fill(picture, curve);
      }
    } catch (error) {
      if (!isAbort(error)) lacking.forEach((k) => this.curves.delete(k));
    }
  }
}
