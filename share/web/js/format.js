// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers and times for people.

/** 4 significant digits, no exponent between 1e-4 and 1e6. */
export function number(value) {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'string') return value; // "nan", "inf"
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return value.toLocaleString('en');
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(3);
  return String(Number(value.toPrecision(4)));
}

/** The name of "Ada Lovelace <ada@example.org>". */
export function person(who) {
  return String(who ?? '-').replace(/\s*<[^<>]*>$/, '') || String(who);
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '-';
  if (seconds < 0.9995) return `${Number((seconds * 1000).toPrecision(3))} ms`;
  if (seconds < 59.5) return `${Number(seconds.toPrecision(3))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${Math.floor(whole % 3600 / 60)} min`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole % 86400 / 3600)} h`;
}

export function bytes(count) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (count >= 1024 && i < units.length - 1) { count /= 1024; i++; }
  return `${i ? count.toFixed(1) : count} ${units[i]}`;
}

export function time(ms) {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19) + ' UTC';
}

export function ago(ms) {
  const seconds = (Date.now() - ms) / 1000;
  return seconds < 5 ? 'just now' : `${duration(seconds)} ago`.replace(/ (\d+ s|\d+ min|\d+ h) ago/, (m, small) =>
    seconds > 600 && /^\d+ s$/.test(small) ? ' ago' : m);
}

export function shortKey(key) {
  return key.slice(-8);
}

/** {"lr": 0.1} as "lr=0.1" */
export function setting(value) {
  let object = value;
  if (typeof value === 'string') {
    try { object = JSON.parse(value); } catch { return value; }
  }
  if (!object || typeof object !== 'object') return '';
  return Object.entries(object).map(([name, v]) => `${name}=${plain(v)}`).join(' ');
}

export function plain(value) {
  if (value === null || value === undefined) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

export function money(usd) {
  return usd === null || usd === undefined ? '-' : `$${usd < 100 ? usd.toFixed(2) : Math.round(usd).toLocaleString('en')}`;
}

/** "loss" and "ms" as "loss [ms]" */
export function labelled(name, unit) {
  return unit ? `${name} [${unit}]` : name;
}
