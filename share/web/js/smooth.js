// SPDX-License-Identifier: GPL-3.0-or-later
// Smoothing of curves: the exponential moving average with its first values corrected, as in other tools. The measured
// line stays visible behind the smoothed one.
import {el} from './dom.js';

const MAX = 0.99;

/** The rule, in words. */
export const RULE = 'Smoothed: the exponential moving average. The thin line is measured.';

/** A weight from 0 (off) to 0.99 out of an address or a field. */
export function weightOf(text) {
  const value = Number(text);
  return Number.isFinite(value) ? Math.min(MAX, Math.max(0, value)) : 0;
}

/** The average of each value with those before it: `weight` is what stays of the past at each step. Gaps stay gaps. */
export function average(values, weight) {
  let sum = 0, share = 0;
  return values.map((v) => {
    if (v === null || v === undefined || !Number.isFinite(v)) return v;
    sum = sum * weight + (1 - weight) * v;
    share = share * weight + (1 - weight); // of the first values, less than 1
    return sum / share;
  });
}

/** Each series as a faint line, and over it its average. With a weight of 0 the series as they are. */
export function smoothed(series, weight) {
  if (!weight) return series;
  return series.flatMap((s, i) => {
    const style = s.style ?? i;
    if (s.faint) return [s];
    return [{...s, style, faint: true, name: `${s.name}, measured`, band: null}, {...s, style, y: average(s.y, weight), marks: false}];
  });
}

/** The slider. change(weight) when it moves. */
export function slider(weight, change) {
  const value = el('output', {class: 'num'}, weight ? weight.toFixed(2) : 'off');
  const input = el('input', {type: 'range', id: 'smooth', min: 0, max: MAX, step: 0.01, value: weight,
    title: 'weight of earlier values in the moving average',
    oninput: () => { const w = weightOf(input.value); value.textContent = w ? w.toFixed(2) : 'off'; change(w); }});
  return el('label', {class: 'smooth'}, el('span', {}, 'smoothing ', value), input);
}
