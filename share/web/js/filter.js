// SPDX-License-Identifier: GPL-3.0-or-later
// The box with the condition of a list of runs: what is wrong with it is said below, and while you type it offers
// names, operators and the values that these runs have.
import {get} from './api.js';
import {el, errorBox, put} from './dom.js';
import {plain} from './format.js';

const STATES = ['ok', 'diverged', 'failed', 'crashed', 'timeout', 'cancelled', 'skipped', 'lost', 'preempted', 'protocol-error', 'pruned'];
const OPERATORS = ['=', '!=', '<', '<=', '>', '>=', '~'];
const OFFERED = 12, WAIT_MS = 450;

/* What stands before the cursor: the start of a name, of an operator, of a value or of a joining word. */
export function partBefore(text) {
  const value = /([\w.()/-]+)\s*(=|!=|<=|>=|<|>|~)\s*('[^']*|[^\s'()]*)$/.exec(text);
  if (value) return {kind: 'value', name: value[1], start: text.length - value[3].length, typed: value[3].replace(/^'/, '')};
  const operator = /(?:^|[\s(])([\w./-]+)\s+$/.exec(text);
  if (operator && !/^(and|or|not)$/.test(operator[1])) {
    const done = /(=|!=|<=|>=|<|>|~)\s*('[^']*'|[^\s'()]+)\s+$/.test(text);
    return {kind: done ? 'join' : 'operator', start: text.length, typed: ''};
  }
  if (/'\s+$|\)\s+$/.test(text)) return {kind: 'join', start: text.length, typed: ''};
  const name = /[\w./-]*$/.exec(text)[0];
  return {kind: 'name', start: text.length - name.length, typed: name};
}

const quoted = (value) => typeof value === 'number' || /^[\w./+-]+$/.test(String(value)) ? String(value) : `'${String(value).replaceAll("'", "''")}'`;

/** Where a condition is typed. all(): a promise of the names that may stand in it, asked for when the box is entered;
 * fields: what these runs have.
 * apply(text) is called when typing rests, and by Enter. */
export function filterBox(text, apply, all, fields = null) {
  const input = el('input', {type: 'search', id: 'filter', value: text, spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
    role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'filter-offers',
    placeholder: 'lr >= 0.01 and state = ok', 'aria-describedby': 'filter-error'});
  const wrong = el('div', {id: 'filter-error'}), list = el('ul', {id: 'filter-offers', role: 'listbox', class: 'offers', hidden: true, 'aria-label': 'suggestions'});
  const values = new Map(); // name -> promise of values
  let timer = 0, part = null, at = -1, names = [], turn = 0;
  const now = () => { clearTimeout(timer); close(); apply(input.value.trim()); };

  function close() {
    turn++;
    at = -1;
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  async function valuesOf(name) {
    const bare = name.replace(/^param\./, '');
    if (bare === 'state') return STATES;
    if (bare === 'experiment') return fields?.experiments ?? [];
    if (!names.some((n) => n.kind === 'param' && n.name === bare)) return [];
    if (!values.has(bare)) values.set(bare, get('values', {name: bare}).then((a) => a.values.filter((v) => typeof v !== 'object')));
    return values.get(bare);
  }

  async function offers() {
    if (part.kind === 'operator') return OPERATORS;
    if (part.kind === 'join') return ['and', 'or'];
    if (part.kind === 'value') return (await valuesOf(part.name)).map(quoted);
    return part.typed ? [...new Set(names.map((n) => n.name))] : [];
  }

  async function offer() {
    const mine = ++turn;
    part = partBefore(input.value.slice(0, input.selectionStart));
    let found = [];
    try { names = await all(); found = await offers(); } catch { /* nothing is offered */ }
    if (mine !== turn || document.activeElement !== input) return;
    const typed = part.typed.toLowerCase(), bare = (o) => o.replace(/^'/, '').toLowerCase();
    const fitting = found.filter((o) => bare(o).includes(typed) && bare(o) !== typed)
      .sort((a, b) => bare(b).startsWith(typed) - bare(a).startsWith(typed)).slice(0, OFFERED);
    if (!fitting.length) { close(); return; }
    at = -1;
    put(list, fitting.map((o, i) => el('li', {role: 'option', id: `offer-${i}`, 'aria-selected': 'false', onpointerdown: (event) => { event.preventDefault(); take(o); }}, plain(o))));
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
  }

  function take(word) {
    const end = input.selectionStart;
    input.setRangeText(`${word} `, part.start, end, 'end');
    input.focus();
    close();
    input.dispatchEvent(new Event('input'));
  }

  function move(step) {
    const options = [...list.children];
    at = (at + step + options.length + (at < 0 && step < 0 ? 1 : 0)) % options.length;
    options.forEach((o, i) => o.setAttribute('aria-selected', i === at ? 'true' : 'false'));
    options[at].scrollIntoView({block: 'nearest'});
    input.setAttribute('aria-activedescendant', `offer-${at}`);
  }

  input.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(() => apply(input.value.trim()), WAIT_MS); offer(); });
  input.addEventListener('focus', () => all().then((found) => { names = found; }).catch(() => {}));
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    const isOpen = !list.hidden;
    if (isOpen && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) move(event.key === 'ArrowDown' ? 1 : -1);
    else if (!isOpen && event.key === 'ArrowDown') offer();
    else if (isOpen && at >= 0 && (event.key === 'Enter' || event.key === 'Tab')) take(list.children[at].textContent);
    else if (isOpen && event.key === 'Escape') close();
    else if (event.key === 'Enter') now();
    else return;
    event.preventDefault();
  });
  const help = el('details', {}, el('summary', {}, 'operators'),
    el('p', {class: 'note'}, '= != < <= > >= ~ (contains), joined by and, or, not and parentheses. Times: started > 2d. The key arrow down shows suggestions.'));
  return {root: el('div', {class: 'grow combo'}, el('label', {for: 'filter'}, 'filter'), input, list, wrong, help), input,
    fail: (error) => { put(wrong, error ? errorBox(error) : null); input.setAttribute('aria-invalid', error ? 'true' : 'false'); }};
}
