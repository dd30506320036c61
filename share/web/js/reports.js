// SPDX-License-Identifier: GPL-3.0-or-later
// A recipe's report, as 'orch report' makes it.
import {get, isAbort} from './api.js';
import {Chart} from './chart.js';
import {add, el, errorBox, plainTable, put} from './dom.js';
import {number, person, plain, shortKey} from './format.js';

const STATES = {complete: 'complete', small_scale: 'complete at small scale', simulated: 'simulated', partial: 'partly missing', missing: 'not run yet', skipped: 'not in this profile', student: 'to be written by you'};

export async function show(root, page) {
  const {recipes} = await get('reports'), q = {...page.query};
  add(root, el('h1', {}, 'Reports'));
  if (!recipes.length) {
    add(root, el('p', {class: 'dim'}, "there is no *.recipe here or in recipes/; 'orch serve RECIPE' names one"));
    return null;
  }
  const select = el('select', {id: 'recipe', onchange: () => { q.recipe = select.value; draw(); }}, recipes.map((r) => el('option', {value: r}, r)));
  select.value = recipes.includes(q.recipe) ? q.recipe : recipes[0];
  q.recipe = select.value;
  const profile = el('input', {id: 'profile', value: q.profile ?? '', placeholder: 'its default', onchange: () => { q.profile = profile.value.trim(); draw(); }});
  const place = el('div'), charts = [];
  let abort = new AbortController();
  add(root, el('div', {class: 'row'}, el('label', {}, 'recipe', select), el('label', {}, 'profile', profile), el('button', {type: 'button', onclick: () => draw()}, 'compute it again')), place);

  async function draw() {
    abort.abort();
    abort = new AbortController();
    page.note(q);
    put(place, el('p', {class: 'dim'}, 'computed from the store…'));
    charts.splice(0).forEach((c) => c.end());
    try {
      const document = await get('report', {recipe: q.recipe, profile: q.profile}, {signal: abort.signal, wait: 65000});
      const address = `api/v1/page?${new URLSearchParams(Object.entries({recipe: q.recipe, profile: q.profile}).filter(([, v]) => v))}`;
      put(place, el('p', {}, el('a', {href: address, target: '_blank', rel: 'noopener'}, 'open it as one page'), ', with all charts, pictures and fitted models'), el('p', {class: 'note'}, [document.about?.replace(/\.$/, ''), document.commit ? `commit ${String(document.commit).slice(0, 8)}${document.dirty ? ', with uncommitted changes' : ''}` : null, document.made].filter(Boolean).join('. ')));
      for (const section of document.sections) place.append(sectionOf(section, charts));
    } catch (error) {
      if (!isAbort(error)) put(place, errorBox(error));
    }
  }
  await draw();
  return () => { abort.abort(); charts.forEach((c) => c.end()); };
}

function sectionOf(s, charts) {
  const state = el('span', {class: s.state === 'complete' || s.state === 'small_scale' || s.state === 'simulated' ? 'good' : s.state === 'missing' ? 'bad' : 'dim'}, STATES[s.state] ?? s.state);
  return el('section', {class: 'panel report'}, el('h2', {}, [s.question, s.title].filter(Boolean).join('  ')),
    el('p', {class: 'note'}, state, s.planned ? `, ${s.done} of ${s.planned} trials` : '', s.points ? `, ${number(s.points)} points` : ''),
    s.blocks.map((b) => blockOf(b, charts, s.title)),
    s.runs?.length ? el('details', {}, el('summary', {}, `made of ${s.runs.length} run${s.runs.length === 1 ? '' : 's'}`),
      el('ul', {}, s.runs.map((r) => el('li', {}, el('a', {href: `#/run/${r.key}`}, shortKey(r.key)), ` ${r.experiment ?? ''} ${r.label ?? ''} `, el('span', {class: 'dim'}, r.who ? person(r.who) : ''))))) : null);
}

function blockOf(b, charts, title) {
  if (b.rows) return tableOf(b);
  if (b.chart) return chartOf(b.chart, charts, title);
  if (b.pictures) return el('p', {class: 'note'}, 'pictures: ', b.pictures.map((p) => p.caption ?? '').filter(Boolean).join('; '), ' (the page of the report shows them)');
  if (b.kind === 'missing') return el('p', {class: 'missing'}, b.text, b.hint ? [': ', el('code', {}, b.hint)] : null);
  if (b.kind === 'code') return el('pre', {}, b.text ?? '');
  return el('p', {class: b.kind === 'note' ? 'note' : null}, (b.text ?? '').replaceAll('+-', '±'));
}

function tableOf(b) {
  const {labels, groups, is_right, cells} = b.shown;
  const columns = labels.map((label, k) => ({name: groups[k] ? `${groups[k]}: ${label}` : label, num: is_right[k],
    cell: (r) => r[k] === 'missing' ? el('span', {class: 'missing'}, 'missing') : (r[k] ?? '').replaceAll('+-', '±')}));
  return el('div', {}, b.text ? el('p', {}, b.text) : null, plainTable(columns, cells, 'table'));
}

const finite = (v) => v !== null && v !== undefined && v !== '' && Number.isFinite(Number(v)) ? Number(v) : null;

function chartOf(chart, charts, title) {
  const panels = new Map();
  for (const s of chart.series) {
    const name = s.panel ?? '';
    if (!panels.has(name)) panels.set(name, []);
    panels.get(name).push(s);
  }
  const isLine = chart.kind === 'line';
  const root = el('div', {}, chart.title && chart.title !== title ? el('h3', {}, chart.title) : null);
  for (const [name, list] of panels) {
    const box = el('div');
    add(root, name ? el('p', {}, name) : null, box);
    const series = list.filter((s) => s.role !== 'run').map((s) => {
      const points = s.points.filter((p) => p.x !== null && Number.isFinite(Number(p.x))).sort((a, b) => a.x - b.x);
      return {name: s.role && s.role !== 'measured' ? `${s.label ?? s.name} (${s.role})` : s.label ?? s.name, marks: !isLine || points.length < 40, line: isLine, x: points.map((p) => Number(p.x)), low: points.map((p) => finite(p.low)), high: points.map((p) => finite(p.high)),
        y: points.map((p) => Number.isFinite(Number(p.y)) && p.y !== null ? Number(p.y) : null)};
    });
    const c = new Chart(box, {x: chart.x_label ?? chart.x ?? '', y: chart.y_label ?? chart.y ?? '', logX: chart.log_x, logY: chart.log_y, xNames: chart.x_names ?? null, points: false, label: chart.title ?? 'chart'});
    charts.push(c);
    requestAnimationFrame(() => c.set(series));
  }
  return add(root, chart.note ? el('p', {class: 'note'}, plain(chart.note)) : null);
}
