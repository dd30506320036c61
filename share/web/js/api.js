// SPDX-License-Identifier: GPL-3.0-or-later
// The server's interface. Every answer comes, or an error does: nothing waits for ever.

import {keyHeader} from './key.js';

const WAIT_MS = 30000;

export class ApiError extends Error {
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

/** GET /api/v1/PATH?query as JSON. signal: to give it up. */
export async function get(path, query = {}, {signal, wait = WAIT_MS} = {}) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') parts.set(name, value);
  const late = AbortSignal.timeout(wait);
  const both = signal ? AbortSignal.any([signal, late]) : late;
  let answer, body;
  try {
    answer = await fetch(`/api/v1/${path}${parts.size ? '?' + parts : ''}`, {signal: both, headers: keyHeader()});
    body = await answer.json();
  } catch (problem) {
    if (signal && signal.aborted) throw problem;
    if (late.aborted) throw new ApiError(`no answer within ${wait / 1000} s`, 'reload the page, or ask for less');
    throw new ApiError('the server does not answer', "is 'orch serve' still running?");
  }
  if (!answer.ok) throw new ApiError(body.error?.message ?? `status ${answer.status}`, body.error?.hint, answer.status);
  return body;
}

/** POST /api/v1/change: what is to be done with runs (docs/serve-api.md). Resolves to {done: [key], failed: [{run, message}]}. */
export async function change(what) {
  let answer, body;
  try {
    answer = await fetch('/api/v1/change', {method: 'POST', headers: {'Content-Type': 'application/json', ...keyHeader()}, body: JSON.stringify(what),
      signal: AbortSignal.timeout(4 * WAIT_MS)});
    body = await answer.json();
  } catch {
    throw new ApiError('the server does not answer', "is 'orch serve' still running?");
  }
  if (!answer.ok) throw new ApiError(body.error?.message ?? `status ${answer.status}`, body.error?.hint, answer.status);
  return body;
}

let aboutPromise = null;
/** What the server is, and whether this page may change the store. */
export function about() {
  aboutPromise ??= get('about').catch((e) => { aboutPromise = null; throw e; });
  return aboutPromise;
}

export const isAbort = (error) => error.name === 'AbortError';

let namesPromise = null;
/** Names of columns, parameters, results, metrics of the whole store; asked once, again after forgetFields. */
export function names() {
  namesPromise ??= get('names').then((a) => a.names).catch((e) => { namesPromise = null; throw e; });
  return namesPromise;
}

const fieldPromises = new Map();
/** What some runs have: {experiments, states, names: [{kind, name, unit, rank, runs, distinct, curves}]}, the names in the
 * order in which they are offered. query: {where} or {runs: keys with commas}. */
export function fields(query) {
  const key = JSON.stringify(query);
  if (fieldPromises.size > 20) fieldPromises.clear();
  if (!fieldPromises.has(key)) fieldPromises.set(key, get('fields', query).catch((e) => { fieldPromises.delete(key); throw e; }));
  return fieldPromises.get(key);
}
export function forgetFields() {
  namesPromise = null;
  fieldPromises.clear();
}

/** Follows running trials. handlers: {trials(data), series(data), points(data), gone()}. Rests while the page is
 * hidden: a browser has few connections a server. Returns a function that ends it. */
export function follow(points, handlers) {
  let source = null, ended = false;
  const open = () => {
    if (source || ended || document.hidden) return;
    source = new EventSource(`/api/v1/live${points ? '?points=' + encodeURIComponent(points) : ''}`);
    for (const name of ['trials', 'series', 'points'])
      source.addEventListener(name, (event) => handlers[name]?.(JSON.parse(event.data)));
    source.onerror = () => handlers.gone?.();
  };
  const close = () => { source?.close(); source = null; };
  const onHidden = () => document.hidden ? close() : open();
  document.addEventListener('visibilitychange', onHidden);
  open();
  return () => { ended = true; close(); document.removeEventListener('visibilitychange', onHidden); };
}
