// SPDX-License-Identifier: GPL-3.0-or-later
// Which page is shown. All that a page is asked for stands behind the '#' of the address: a reload, a bookmark and
// the back button lose nothing.
import {about as aboutServer, fields} from './api.js';
import {add, address, el, errorBox, put} from './dom.js';

const PAGES = [
  {name: 'runs', title: 'Runs', load: () => import('./runs.js')},
  {name: 'live', title: 'Live', load: () => import('./live.js')},
  {name: 'overlay', title: 'Curves', load: () => import('./overlay.js')},
  {name: 'explore', title: 'Explore', load: () => import('./explore.js')},
  {name: 'forecast', title: 'Forecast', load: () => import('./forecast.js')},
  {name: 'coverage', title: 'Coverage', load: () => import('./coverage.js')},
  {name: 'group', title: 'Group', load: () => import('./group.js')},
  {name: 'reports', title: 'Reports', load: () => import('./reports.js')},
  {name: 'run', title: 'Run', hidden: true, load: () => import('./run.js')},
];

// what charts need, asked for before the page that asks for it is read
const OF_CHARTS = ['js/chart.js', 'js/palette.js', 'vendor/uplot/uPlot.esm.js'];
const PLAIN = ['runs', 'coverage', 'group'];

let leave = null, shown = null, turn = 0;

function parse() {
  const text = location.hash.replace(/^#\/?/, '');
  const [path, query] = [text.split('?')[0], text.slice(text.indexOf('?') + 1)];
  const [name, ...rest] = path.split('/');
  const page = PAGES.find((p) => p.name === name) ?? PAGES[0];
  return {page, rest: rest.map(decodeURIComponent), query: Object.fromEntries(new URLSearchParams(text.includes('?') ? query : ''))};
}

/** Notes the page's state in the address without leaving it. */
function note(page, rest, query) {
  const url = address([page.name, ...rest.map(encodeURIComponent)].join('/'), query);
  if (url !== location.hash) history.replaceState(null, '', url);
}

async function show() {
  const {page, rest, query} = parse();
  const view = document.getElementById('view');
  const mine = ++turn;
  leave?.();
  leave = null;
  for (const a of document.querySelectorAll('nav a'))
    a.dataset.page === page.name ? a.setAttribute('aria-current', 'page') : a.removeAttribute('aria-current');
  document.title = `${page.title} - orch`;
  if (!PLAIN.includes(page.name)) preload();
  if (page.name === 'runs') fields({where: query.where}).catch(() => {}); // asked for while the page is read; it says what is wrong
  const module = await page.load();
  if (mine !== turn) return;
  const root = el('div');
  put(view, root);
  try {
    const end = await module.show(root, {query, rest, note: (q) => { if (mine === turn) note(page, rest, q); },
      title: (text) => { document.title = `${text} - orch`; }});
    if (mine === turn) leave = end;
    else end?.();
  } catch (error) {
    if (mine === turn) put(root, errorBox(error));
  }
  if (shown && shown !== page.name) view.focus({preventScroll: true});
  shown = page.name;
}

function preload() {
  for (const href of OF_CHARTS.splice(0)) document.head.append(el('link', {rel: 'modulepreload', href}));
}

async function head() {
  const about = await aboutServer();
  const label = about.path;
  const store = document.getElementById('store');
  put(store, label);
  store.title = label;
  if (!about.has_group) document.querySelector('nav a[data-page=group]')?.remove();
  if (!about.has_reports) document.querySelector('nav a[data-page=reports]')?.remove();
}

/* When the first view is drawn, which it would delay. */
async function views() {
  const {viewsMenu} = await import('./views.js');
  await viewsMenu(document.getElementById('saved'), document.getElementById('pinned'));
}

add(document.getElementById('nav'), PAGES.filter((p) => !p.hidden).map((p) =>
  el('a', {href: `#/${p.name}`, 'data-page': p.name}, p.title)));
addEventListener('hashchange', show);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show); // colours of legends and pictures
show().finally(() => views().catch((error) => document.getElementById('status').append(errorBox(error))));
head().catch((error) => document.getElementById('status').append(errorBox(error)));
