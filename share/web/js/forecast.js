// SPDX-License-Identifier: GPL-3.0-or-later
// What a training would take and cost: what 'orch predict --gpu all' answers, as a chart and a table.
import {get, isAbort} from './api.js';
import {Chart} from './chart.js';
import {add, el, errorBox, plainTable, put} from './dom.js';
import {bytes, duration, money, number} from './format.js';

const FIELDS = [
  {name: 'dataset', label: 'data set, or number of images', placeholder: 'imagenet', list: ['imagenet', 'cifar10', 'cifar100', 'fashion-mnist', 'mnist', 'svhn']},
  {name: 'batch', label: 'batch [images a worker]', placeholder: '64'},
  {name: 'epochs', label: 'epochs', placeholder: 'as usual'},
  {name: 'workers', label: 'workers [GPUs]', placeholder: '1'},
  {name: 'precision', label: 'precision', placeholder: 'auto', list: ['auto', 'fp32', 'fp32-ieee', 'tf32', 'fp16', 'bf16', 'fp64']},
  {name: 'input', label: 'input [C x H x W]', placeholder: "the network's own"},
  {name: 'cloud', label: "price of", placeholder: 'any cloud', list: ['aws', 'azure', 'gcp', 'lambda', 'runpod', 'verda']},
  {name: 'budget', label: 'at most [US dollars]', placeholder: '50usd'},
  {name: 'deadline', label: 'within', placeholder: '36h'},
];

const listOf = (answer, field) => (Array.isArray(answer) ? answer : Object.values(answer).find(Array.isArray) ?? []).map((x) => x[field]).filter(Boolean);

export async function show(root, page) {
  const q = {net: 'resnet50', gpu: 'all', ...page.query};
  const inputs = {};
  const field = (name, label, placeholder, list) => {
    inputs[name] = el('input', {id: `f-${name}`, value: q[name] ?? '', placeholder, list: list ? `l-${name}` : null, autocomplete: 'off', spellcheck: 'false'});
    return el('label', {}, label, inputs[name], list ? el('datalist', {id: `l-${name}`}, list.map((v) => el('option', {value: v}))) : null);
  };
  const place = el('div'), wrong = el('div');
  const go = el('button', {class: 'main', id: 'forecast'}, 'compute the forecast');
  const nets = el('datalist', {id: 'l-net'}), gpus = el('datalist', {id: 'l-gpu'});
  const form = el('form', {class: 'fields', onsubmit: (event) => { event.preventDefault(); ask(); }},
    field('net', 'network', 'resnet50', []), field('gpu', "GPU, or 'all'", 'all', []), FIELDS.map((f) => field(f.name, f.label, f.placeholder, f.list)), go);
  add(root, el('h1', {}, 'Forecast'), form, wrong, place);
  inputs.net.nextSibling.replaceWith(nets);
  inputs.gpu.nextSibling.replaceWith(gpus);
  get('forecast').then((choices) => {
    put(nets, listOf(choices.nets, 'network').concat(listOf(choices.nets, 'name')).filter((n) => !/[A-Z]/.test(n)).map((n) => el('option', {value: n})));
    put(gpus, ['all', ...listOf(choices.gpus, 'gpu'), ...listOf(choices.gpus, 'name')].map((n) => el('option', {value: n})));
  }).catch(() => {});
  let abort = new AbortController(), chart = null;

  async function ask() {
    abort.abort();
    abort = new AbortController();
    for (const [name, input] of Object.entries(inputs)) q[name] = input.value.trim();
    q.gpu ||= 'all';
    page.note(q);
    place.setAttribute('aria-busy', 'true');
    go.disabled = true;
    try {
      draw(await get('forecast', q, {signal: abort.signal, wait: 65000}));
      put(wrong);
    } catch (error) {
      if (!isAbort(error)) put(wrong, errorBox(error));
    } finally {
      place.removeAttribute('aria-busy');
      go.disabled = false;
    }
  }

  function draw(answer) {
    chart?.end();
    chart = null;
    const rows = answer.predictions, priced = rows.filter((r) => r.cost_usd && r.total_s && r.fits);
    const box = el('div', {class: 'panel', id: 'pareto'}), pick = el('p', {class: 'note'});
    const chosen = rows.find((r) => r.recommended);
    put(place, chosen ? el('p', {}, 'Recommended: ', el('strong', {}, chosen.gpu), `: ${duration(chosen.total_s)} (90 %: ${duration(chosen.low_s)} to ${duration(chosen.high_s)}), ${money(chosen.cost_usd)} (${money(chosen.cost_low_usd)} to ${money(chosen.cost_high_usd)}), ${chosen.price_from}.`) : null,
      priced.length > 1 ? [box, pick] : null, table(rows), el('h2', {}, 'Assumptions'),
      el('ul', {}, answer.assumptions.map((a) => el('li', {}, `${a.what}: ${a.value}`, a.option ? el('span', {class: 'dim'}, ` (${a.option})`) : null))),
      el('p', {class: 'note'}, 'The tier names the basis of a forecast. measured: runs of this configuration; fitted: runs of this store; same-step, same-chip, same-network: similar published measurements; transferred: public measurements of other GPUs; prior: the specification.'));
    if (priced.length > 1) drawPareto(box, pick, priced);
  }

  function drawPareto(box, pick, rows) {
    const sorted = [...rows].sort((a, b) => a.total_s - b.total_s), x = sorted.map((r) => r.total_s / 3600);
    const on = sorted.map((r) => r.pareto ? r.cost_usd : undefined), off = sorted.map((r) => r.pareto ? undefined : r.cost_usd);
    chart = new Chart(box, {x: 'time [h]', y: 'cost [US$]', logX: true, logY: true, points: true, height: innerWidth < 600 ? 320 : 420, label: 'time and cost',
      cursor: (u, i) => { const r = sorted[i]; put(pick, r ? `${r.gpu}: ${duration(r.total_s)}, ${money(r.cost_usd)} (${r.price_from})` : ''); },
      draw: (u) => names(u, sorted)});
    chart.set([{name: 'no GPU that fits is both faster and cheaper', x, y: on, marks: true, line: true, style: 1}, {name: 'another GPU', x, y: off, marks: true, style: 0}]);
  }

  /* The names of what is on the front, where they do not lie over each other. */
  function names(u, rows) {
    const g = u.ctx, taken = [];
    const ratio = devicePixelRatio || 1;
    g.save();
    g.font = `${12 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
    g.textAlign = 'left';
    g.textBaseline = 'alphabetic';
    g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--text');
    for (const r of rows.filter((p) => p.pareto)) {
      const px = u.valToPos(r.total_s / 3600, 'x', true), y = u.valToPos(r.cost_usd, 'y', true), w = g.measureText(r.gpu).width;
      const x = Math.min(px + 9 * ratio, u.bbox.left + u.bbox.width - w);
      for (const dy of [-8, 16, -24, 32]) {
        const at = {x0: x, x1: x + w, y0: y + (dy - 11) * ratio, y1: y + (dy + 3) * ratio};
        if (at.y0 < u.bbox.top || at.y1 > u.bbox.top + u.bbox.height || taken.some((t) => t.x0 < at.x1 && at.x0 < t.x1 && t.y0 < at.y1 && at.y0 < t.y1)) continue;
        taken.push(at);
        g.fillText(r.gpu, x, y + dy * ratio);
        break;
      }
    }
    g.restore();
  }

  function table(rows) {
    return plainTable([{name: 'GPU', cell: (r) => r.gpu}, {name: 'total', num: true, cell: (r) => duration(r.total_s)},
      {name: '90 % interval', num: true, cell: (r) => `${duration(r.low_s)} to ${duration(r.high_s)}`}, {name: 'cost', num: true, cell: (r) => money(r.cost_usd)},
      {name: 'step [ms]', num: true, cell: (r) => number(r.step_s * 1000)}, {name: 'images/s', num: true, cell: (r) => number(r.images_per_s)},
      {name: 'workers', num: true, cell: (r) => r.workers}, {name: 'batch each', num: true, cell: (r) => r.batch_per_worker},
      {name: 'fits', cell: (r) => r.fits ? 'yes' : `no (${bytes(r.memory_bytes)})`}, {name: 'Pareto', cell: (r) => r.pareto ? '★' : ''}, {name: 'tier', cell: (r) => r.tier},
      {name: 'price', cell: (r) => r.price_from ?? '-'}], rows.map((r) => ({...r, class: r.recommended ? 'best' : null})), 'forecasts');
  }

  await ask();
  return () => { abort.abort(); chart?.end(); };
}
