// SPDX-License-Identifier: GPL-3.0-or-later
// Trials that run now: progress, remaining time with its interval, their curves as they grow, and the end of their logs. Where
// the reader allows it, the browser says when a trial has ended.
import {about, follow, get} from './api.js';
import {carryOut} from './actions.js';
import {Chart} from './chart.js';
import {add, el, put} from './dom.js';
import {bytes, duration, labelled, number, person, setting, shortKey} from './format.js';

const POINTS_MAX = 6000, LOG_LINES = 12, LOG_MS = 4000;

const MB = 1e6;

/* What the trial uses of its machine, as orch-host measured it last: processor and memory, and each GPU. */
function machineWords(machine = []) {
  const of = new Map(machine.map((m) => [m.name, m.value])), has = (name) => of.get(name) !== undefined && of.get(name) !== null, words = [];
  const part = (label, names) => {
    const texts = names.filter(([name]) => has(name)).map(([name, text]) => text(of.get(name)));
    if (texts.length) words.push([`${label} `, el('strong', {}, texts.join(', ')), '  ']);
  };
  const percent = (what) => (v) => `${number(Math.round(v))} %${what}`;
  part('CPU', [['cpu_trial', percent(' of its threads')], ['cpu_machine', percent(' of the machine')]]);
  part('memory', [['memory_trial', (v) => bytes(v * MB)]]);
  for (let g = 0; g < 16; g++)
    part(`GPU ${g}`, [[`gpu${g}_core`, percent('')], [`gpu${g}_memory`, (v) => bytes(v * MB)], [`gpu${g}_power`, (v) => `${number(Math.round(v))} W`], [`gpu${g}_temperature`, (v) => `${number(Math.round(v))} °C`]]);
  return words.length ? el('p', {class: 'last machine'}, words) : null;
}

/** What a trial is and how far it got. */
export function trialHead(t) {
  const share = t.total ? Math.min(1, Math.max(0, t.done / t.total)) : null;
  const left = t.remaining ? `${duration(t.remaining.seconds)} left (90 %: ${duration(t.remaining.low_s)} to ${duration(t.remaining.high_s)})` : t.is_alive ? 'remaining time not known yet' : '';
  const bar = el('div', {});
  bar.style.width = `${100 * (share ?? 0)}%`;
  return [
    el('p', {}, el('span', {class: 'state', 'data-mark': t.is_alive ? '▶' : '!'}, t.is_alive ? 'running' : "interrupted (the next 'orch run' closes it)"),
      ` ${t.phase ? `${t.phase}, ` : ''}for ${duration(t.elapsed_s)}, by ${person(t.who)}`),
    share === null ? null : el('div', {class: 'bar', role: 'progressbar', 'aria-valuenow': Math.round(100 * share), 'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-label': 'progress'}, bar),
    el('p', {class: 'remaining'}, share === null ? '' : `${number(t.done)} of ${number(t.total)} (${Math.floor(100 * share)} %). `, left,
      t.forecast?.p50_s ? el('span', {class: 'dim'}, ` Forecast of the whole: ${duration(t.forecast.p50_s)}.`) : null),
    el('p', {class: 'last'}, Object.entries(t.last).slice(0, 8).map(([name, value]) => [labelled(name, t.units?.[name]), ' ', el('strong', {}, number(value)), '  ']),
      el('span', {class: 'dim'}, ` ${number(t.points)} points${t.metrics_left_out ? ', some metrics left out' : ''}`)),
    ...t.notes.map((note) => el('p', {class: 'last'}, el('strong', {}, note))),
    machineWords(t.machine),
  ];
}

/* Halves a series: of two neighbours' pairs the least and the greatest stay. */
function halve(s) {
  const keep = [];
  for (let i = 0; i < s.x.length; i += 4) {
    let low = i, high = i;
    for (let k = i; k < Math.min(i + 4, s.x.length); k++) {
      if (s.y[k] < s.y[low]) low = k;
      if (s.y[k] > s.y[high]) high = k;
    }
    keep.push(...[...new Set([low, high])].sort((a, b) => a - b));
  }
  s.x = keep.map((k) => s.x[k]);
  s.y = keep.map((k) => s.y[k]);
}

/** The curves of one trial, a chart a metric; fed by 'series' and 'points' events. */
export class Curves {
  constructor() {
    this.root = el('div', {class: 'cards'});
    this.metrics = new Map();
  }

  of(told) {
    let m = this.metrics.get(told.metric);
    if (!m) {
      const box = el('div', {class: 'panel', 'data-metric': told.metric});
      this.root.append(box);
      m = {x: [], y: [], dirty: true, chart: new Chart(box, {x: 'step', y: labelled(told.metric, told.unit), height: 220, label: 'growing curve'})};
      this.metrics.set(told.metric, m);
    }
    return m;
  }

  all(told) {
    const m = this.of(told);
    m.x = told.step;
    m.y = told.value;
    this.draw(told.metric, m);
  }

  more(told) {
    const m = this.of(told);
    const last = m.x.at(-1) ?? -Infinity;
    told.step.forEach((step, i) => { if (step > last) { m.x.push(step); m.y.push(told.value[i]); } });
    if (m.x.length > POINTS_MAX) halve(m);
    this.draw(told.metric, m);
  }

  draw(name, m) {
    if (m.waits) return;
    m.waits = true; // once a frame, however many events
    requestAnimationFrame(() => {
      m.waits = false;
      if (!m.ended) m.chart.set([{name, x: m.x, y: m.y}]);
      m.chart.place.dataset.points = m.x.length;
    });
  }

  end() {
    for (const m of this.metrics.values()) { m.ended = true; m.chart.end(); }
  }
}

/* The last lines of what a trial printed, asked for while they are open. */
class LogTail {
  constructor(key) {
    this.key = key;
    this.lines = el('pre', {class: 'log', tabindex: '0', 'aria-label': 'end of the log'});
    this.root = el('details', {class: 'tail', ontoggle: () => this.turn()}, el('summary', {}, 'end of the log'), this.lines);
  }

  turn() {
    clearInterval(this.timer);
    if (!this.root.open) return;
    this.timer = setInterval(() => this.read(), LOG_MS);
    this.read();
  }

  async read() {
    try {
      const logs = await get(`runs/${this.key}/log`), text = Object.values(logs).map((l) => l.text).join('\n');
      put(this.lines, text.trimEnd().split('\n').slice(-LOG_LINES).join('\n') || 'nothing so far');
    } catch { /* it has ended, or the next time says more */ }
  }

  end() { clearInterval(this.timer); }
}

const canNotify = () => 'Notification' in window;

/* A box that asks the browser to say when a trial has ended; the choice holds while the page is open. */
function notifyBox(state) {
  if (!canNotify()) return null;
  const box = el('input', {type: 'checkbox', id: 'notify', checked: state.on, onchange: async () => {
    state.on = box.checked && (Notification.permission === 'granted' || await Notification.requestPermission() === 'granted');
    if (box.checked && !state.on) put(state.why, 'the browser does not allow it for this page');
    box.checked = state.on;
  }});
  return el('label', {class: 'inline'}, box, 'tell me when a trial ends', state.why);
}

async function tellOf(key, name) {
  const run = await get(`runs/${key}`).catch(() => null);
  const note = new Notification(`${name}: ${run?.state ?? 'ended'}`, {tag: key, body: run?.wall_s ? `took ${duration(run.wall_s)}` : ''});
  note.onclick = () => { focus(); location.hash = `#/run/${key}`; };
}

const notifying = {on: false, why: el('span', {class: 'dim'})};

export async function show(root) {
  const cards = new Map(), place = el('div', {class: 'cards', id: 'trials'}), none = el('p', {class: 'dim'}), gone = el('p', {class: 'bad', hidden: true}, 'the server does not answer; trying again');
  const {changes} = await about();
  add(root, el('h1', {}, 'Running trials'), el('div', {class: 'row'}, notifyBox(notifying), changes.allowed ? null : el('span', {class: 'dim'}, changes.why)), gone, none, place);
  const cardOf = (t) => {
    let card = cards.get(t.key);
    if (!card) {
      const head = el('div'), curves = new Curves(), tail = new LogTail(t.key), name = `${t.experiment} ${setting(t.setting)}${t.repeat > 1 ? ` #${t.repeat}` : ''}`.trim();
      const cancel = el('button', {type: 'button', class: 'small', 'aria-label': `cancel ${name}`, disabled: !changes.allowed, onclick: () => carryOut('cancel', [t.key])}, 'cancel');
      card = {head, curves, tail, cancel, name, box: el('section', {class: 'panel', 'data-key': t.key}, el('h2', {}, el('a', {href: `#/run/${t.key}`}, name), el('span', {class: 'dim mono'}, ` ${shortKey(t.key)}`), cancel), head, tail.root, curves.root)};
      cards.set(t.key, card);
      place.append(card.box);
    }
    return card;
  };
  const ended = (key, card) => {
    if (!card.left) {
      put(card.head, el('p', {}, 'it has ended: ', el('a', {href: `#/run/${key}`}, 'show its results')));
      card.cancel.remove();
      card.tail.end();
      card.left = Date.now();
      if (notifying.on) tellOf(key, card.name);
    }
    if (Date.now() - card.left > 60000) { card.curves.end(); card.box.remove(); cards.delete(key); }
  };
  const stop = follow('*', {
    trials: (data) => {
      gone.hidden = true;
      for (const t of data.trials) put(cardOf(t).head, trialHead(t));
      for (const [key, card] of cards) if (!data.trials.some((t) => t.key === key)) ended(key, card);
      put(none, data.trials.length ? '' : "nothing runs now; 'orch run RECIPE' starts trials", data.left_out ? ` ${data.left_out} more trials are not followed here.` : '');
    },
    series: (s) => cards.get(s.key)?.curves.all(s),
    points: (s) => cards.get(s.key)?.curves.more(s),
    gone: () => { gone.hidden = false; },
  });
  return () => { stop(); for (const card of cards.values()) { card.curves.end(); card.tail.end(); } };
}
