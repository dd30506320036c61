// SPDX-License-Identifier: GPL-3.0-or-later
// One run: what it was, what came of it, its curves; of a running one, as it goes on.
import {about, follow, get} from './api.js';
import {carryOut, changeRuns, guarded, showCommands} from './actions.js';
import {showChanges} from './changes.js';
import {Chart} from './chart.js';
import {stateOf} from './columns.js';
import {add, el, errorBox, link, pairs, plainTable, put} from './dom.js';
import {bytes, duration, labelled, number, person, plain, setting, shortKey, time} from './format.js';
import {slider, smoothed} from './smooth.js';
import {picturesOf} from './pictures.js';
import {trialHead, Curves} from './live.js';

export async function show(root, page) {
  const run = await get(`runs/${encodeURIComponent(page.rest[0] ?? '')}`);
  page.title(`run ${shortKey(run.key)}`);
  return run.state === 'running' || run.state === 'interrupted' ? showRunning(root, run) : showEnded(root, run, page);
}

/* ---- running ---- */

function showRunning(root, run) {
  const head = el('div'), curves = new Curves(), log = el('div'), cancel = el('div');
  about().then(({changes}) => put(cancel, run.is_alive ? el('button', {type: 'button', id: 'cancel', disabled: !changes.allowed, title: changes.why ?? '', onclick: () => carryOut('cancel', [run.key])}, 'cancel this trial') : null)).catch(() => {});
  add(root, el('h1', {}, `${run.experiment} ${setting(run.setting)}`), head, cancel, curves.root, el('h2', {}, 'parameters'), params(run.params),
    el('h2', {}, 'log'), log);
  const showLog = () => drawLogs(log, run.key);
  showLog();
  const timer = setInterval(showLog, 5000);
  let seen = false;
  const stop = follow(run.key, {
    trials: (data) => {
      const trial = data.trials.find((t) => t.key === run.key);
      if (trial) {
        seen = true;
        put(head, trialHead(trial));
      } else if (seen || !run.is_alive) {
        put(head, el('p', {}, 'it has ended. ', el('a', {href: `#/run/${run.key}`, onclick: () => setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')))}, 'show its results')));
        if (seen) setTimeout(() => dispatchEvent(new HashChangeEvent('hashchange')), 300);
        seen = false;
      }
    },
    series: (s) => curves.all(s), points: (s) => curves.more(s),
  });
  return () => { stop(); clearInterval(timer); curves.end(); };
}

/* ---- ended ---- */

function params(object) {
  const rows = Object.entries(object ?? {});
  return rows.length ? pairs(rows.map(([name, value]) => [name, el('span', {class: 'mono'}, plain(value))])) : el('p', {class: 'dim'}, 'none');
}

async function drawLogs(place, key) {
  try {
    const logs = await get(`runs/${key}/log`);
    const entries = Object.entries(logs);
    put(place, entries.length ? entries.map(([name, log]) => [
      el('h3', {}, name, el('span', {class: 'dim'}, ` ${bytes(log.bytes)}${log.is_cut ? ', its end' : ''}`)),
      el('pre', {class: 'log', tabindex: '0', 'aria-label': name}, log.text ?? '')]) : el('p', {class: 'dim'}, 'it printed nothing'));
  } catch (error) {
    put(place, errorBox(error));
  }
}

function head(run) {
  return [el('h1', {}, `${run.name ? `${run.name}: ` : ''}${run.experiment ?? '-'} `, el('span', {class: 'dim mono'}, shortKey(run.key))),
    run.tags?.length ? el('p', {}, run.tags.map((tag) => el('code', {}, plain(tag))).flatMap((tag) => [tag, ' '])) : '',
    el('p', {}, stateOf(run.removed ? 'removed' : run.state), run.reason ? `: ${run.reason}` : '', `, took ${duration(run.wall_s)}, by ${person(run.who)}, ended ${time(Date.parse(run.ended))}`)];
}

function outcome(run) {
  const f = run.forecast;
  if (!f) return el('p', {class: 'dim'}, 'no forecast was kept for it');
  const inside = run.wall_s >= f.p5_s && run.wall_s <= f.p95_s;
  const longer = 100 * (run.wall_s / f.p50_s - 1); // as in the table of runs
  return pairs([['forecast', `${duration(f.p50_s)} (90 %: ${duration(f.p5_s)} to ${duration(f.p95_s)})`], ['it took', duration(run.wall_s)],
    ['difference', `${Math.abs(longer).toFixed(1)} % ${longer < 0 ? 'shorter' : 'longer'} than forecast, ${inside ? 'within the interval' : 'outside of the interval'}`], ['tier', f.tier], ['model', f.model], ['made', time(f.made_ms)]]);
}

function machine(run) {
  const m = run.machine_facts ?? {}, gpus = (m.gpus ?? []).map((g) => g.model).join(', ');
  return pairs([['device key', run.device_key], ['host', m.hostname], ['processor', m.cpu_model], ['GPUs', gpus], ['system', m.os],
    ['load', run.facts?.load !== undefined ? `${number(run.facts.load)} when it started, ${run.facts.co_runners ?? 0} other trials beside it` : null],
    ['memory', run.facts?.max_rss_bytes ? `${bytes(run.facts.max_rss_bytes)} at most` : null]]);
}

function source(run) {
  return pairs([['recipe', run.recipe], ['plugin', `${run.plugin} ${run.plugin_version ?? ''}`],
    ['commit', run.commit ? `${run.commit}${run.branch ? ` on ${run.branch}` : ''}${run.dirty ? ', with uncommitted changes' : ''}` : 'none'],
    ['tree', run.tree], ['remote', run.remote], ['fingerprint', run.fingerprint], ['digest', run.digest], ['key', run.key],
    ['seed', run.seed], ['repeat', run.repeat], ['attempt', run.attempt]].map(([n, v]) => [n, v === null || v === undefined ? v : el('span', {class: 'mono'}, String(v))]));
}

// The rows of a CSV text (RFC 4180), at most `limit` of them.
function csvRows(text, limit) {
  const rows = [[]];
  let field = '', quoted = false;
  for (let i = 0; i < text.length && rows.length <= limit; i++) {
    const c = text[i];
    if (quoted && c === '"' && text[i + 1] === '"') field += text[++i];
    else if (c === '"') quoted = !quoted;
    else if (!quoted && (c === ',' || c === '\n')) {
      rows.at(-1).push(field);
      field = '';
      if (c === '\n') rows.push([]);
    } else if (c !== '\r' || quoted) field += c;
  }
  if (field || rows.at(-1).length) rows.at(-1).push(field);
  return rows.filter((row) => row.length).slice(0, limit);
}

// A place for a table that was kept as an artifact; it is filled when the file is here.
function csvTable(a, url) {
  const place = el('figure', {}, el('figcaption', {}, a.name));
  fetch(url(a)).then((answer) => answer.ok ? answer.text() : '').then((text) => {
    const [names, ...rows] = csvRows(text, 201);
    if (rows.length) place.prepend(plainTable(names.map((name, i) => ({name: plain(name), wrap: true, cell: (row) => plain(row[i] ?? '')})), rows, a.name));
  }).catch(() => {});
  return place;
}

function files(run) {
  const url = (a) => `/api/v1/runs/${encodeURIComponent(run.key)}/artifact?name=${encodeURIComponent(a.name)}`;
  const isPicture = (a) => a.here && a.bytes < 8e6 && /\.(png|jpe?g)$/i.test(a.name);
  const pictures = run.artifacts.filter(isPicture), others = run.artifacts.filter((a) => !isPicture(a));
  const tables = run.artifacts.filter((a) => a.here && a.bytes < 1e6 && /\.csv$/i.test(a.name)).slice(0, 20);
  return [...tables.map((a) => csvTable(a, url)), picturesOf(pictures, url),
    others.length ? plainTable([{name: 'artifact', wrap: true, cell: (a) => a.here ? el('a', {href: url(a), download: ''}, a.name) : a.name},
      {name: 'size', num: true, cell: (a) => bytes(a.bytes)}, {name: 'SHA-256', cell: (a) => el('span', {class: 'mono'}, a.sha256.slice(0, 12))},
      {name: '', cell: (a) => a.here ? '' : 'not on this machine'}], others, 'artifacts') : null,
    run.artifacts.length ? null : el('p', {class: 'dim'}, 'none')];
}

function notes(run) {
  const lines = [...(run.facts?.notes ?? []), ...run.notes.map((n) => n.text ?? ''),
    ...(run.facts?.left_out ?? []).map(([path, why]) => `not in the captured tree: ${path} (${why})`)];
  return lines.length ? [el('h2', {}, 'notes'), el('ul', {}, lines.map((text) => el('li', {}, plain(text))))] : null;
}

async function showMetrics(place, run, charts) {
  let told;
  try {
    told = (await get(`runs/${run.key}/metrics`)).metrics;
  } catch (error) {
    put(place, errorBox(error));
    return;
  }
  if (!told.length) { put(place, el('p', {class: 'dim'}, run.purged ? 'its points were removed from this store' : 'none')); return; }
  told.sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name));
  const pictures = el('div', {class: 'cards'});
  let weight = 0;
  const smooth = el('div', {class: 'row'}, slider(0, (w) => { weight = w; for (const c of charts) c.chart.set(smoothed(c.series, weight)); }));
  put(place, plainTable([{name: 'metric', cell: (m) => link('overlay', {runs: run.key, metrics: m.name}, labelled(m.name, m.unit))},
    ...['points', 'first', 'last', 'mean'].map((n) => ({name: n, num: true, cell: (m) => number(m[n])})),
    {name: 'least (at step)', num: true, cell: (m) => `${number(m.min)} (${m.min_step})`},
    {name: 'greatest (at step)', num: true, cell: (m) => `${number(m.max)} (${m.max_step})`}], told, 'metrics'), told.some((m) => m.points > 2) ? smooth : null, pictures);
  for (const m of told.filter((t) => t.points > 1).slice(0, 8)) {
    const box = el('div', {class: 'panel'});
    pictures.append(box);
    const s = await get(`runs/${run.key}/series`, {metric: m.name, buckets: 400}).catch((error) => error);
    if (s instanceof Error) { put(box, errorBox(s)); continue; }
    const chart = new Chart(box, {x: 'step', y: labelled(m.name, m.unit), height: 220, label: 'curve'});
    const series = [{name: m.name, x: s.step, y: s.value}];
    chart.set(smoothed(series, weight));
    charts.push({chart, series});
  }
}

const again = () => dispatchEvent(new HashChangeEvent('hashchange'));

/* What can be done with this run. */
function buttons(run) {
  const root = el('div', {class: 'row actions', id: 'actions'});
  const place = `recipe = '${run.recipe}' and experiment = '${run.experiment}'`;
  const changes = ['tag', 'untag', 'note', 'name', 'hide'].map((verb) => el('button', {type: 'button', id: `do-${verb}`, disabled: true, onclick: async () => { if (await changeRuns(verb, [run.key])) again(); }}, verb === 'untag' ? 'remove a tag' : verb));
  const why = el('span', {class: 'dim'});
  about().then(({changes: c}) => { changes.forEach((b) => { b.disabled = !c.allowed; }); put(why, c.allowed ? null : c.why); }).catch(() => {});
  return add(root, link('overlay', {where: place}, 'curves of its experiment'), link('runs', {where: place}, 'runs of its experiment'),
    run.argv ? el('button', {type: 'button', id: 'commands', onclick: guarded(() => showCommands([run.key]))}, 'command to rerun') : null, changes, why);
}

function showEnded(root, run, page) {
  const metrics = el('div'), log = el('div'), changes = el('div', {id: 'changes'}, el('p', {class: 'dim'}, 'compared with the run before…')), charts = [];
  const choose = (other) => { page.note({...page.query, with: other}); showChanges(changes, run, other, choose); };
  add(root, head(run), buttons(run), el('h2', {}, 'what changed'), changes,
    el('div', {class: 'two'},
      el('section', {}, el('h2', {}, 'parameters'), params(run.params)),
      el('section', {}, el('h2', {}, 'results'), Object.keys(run.results).length ? pairs(Object.entries(run.results).map(([name, value]) => [labelled(name, run.units[name]), number(value)])) : el('p', {class: 'dim'}, 'none'),
        el('h2', {}, 'forecast and outcome'), outcome(run))),
    el('h2', {}, 'metrics'), metrics, el('h2', {}, 'files'), files(run), notes(run),
    el('div', {class: 'two'}, el('section', {}, el('h2', {}, 'source'), source(run)), el('section', {}, el('h2', {}, 'machine'), machine(run),
      run.inputs.length ? [el('h2', {}, 'read'), pairs(run.inputs.map((i) => [i.name, i.run ? el('a', {href: `#/run/${i.run}`}, `run ${shortKey(i.run)}`) : (i.sha256 ?? '-').slice(0, 16)]))] : null)),
    el('h2', {}, 'log'), log);
  showMetrics(metrics, run, charts);
  drawLogs(log, run.key);
  showChanges(changes, run, page.query.with, choose);
  return () => charts.forEach((c) => c.chart.end());
}
