// SPDX-License-Identifier: GPL-3.0-or-later
// Elements and texts. Text gets into the page as text alone: nothing here, or anywhere in this folder,
// sets innerHTML, so a run named <script> is a name. Characters that turn the direction of writing or that nobody
// sees are shown as U+FFFD: a name cannot look like another (the same ranges as HIDDEN of lib/base/text.c).

// eslint-disable-next-line no-control-regex
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
export function plain(text) {
  return String(text).replace(HIDDEN, '\ufffd');
}

/** el('a', {href: '#', class: 'x', onclick: f}, 'text', element, null) */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'disabled') node[name] = value;
    else node.setAttribute(name, value === true ? '' : name === 'href' ? String(value) : plain(value));
  }
  add(node, children);
  return node;
}

export function add(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(plain(child)));
  }
  return node;
}

export function put(node, ...children) {
  node.replaceChildren();
  return add(node, ...children);
}

const SVG = 'http://www.w3.org/2000/svg';
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  for (const child of children) node.append(child instanceof Node ? child : plain(child));
  return node;
}

/** A link into this page: link('runs', {where: 'lr=1'}, 'text'). */
export function link(page, query, ...children) {
  return el('a', {href: address(page, query)}, ...children);
}

export function address(page, query = {}) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') parts.set(name, value);
  const text = parts.toString();
  return `#/${page}${text ? '?' + text : ''}`;
}

/** A box that says what went wrong, and what to do about it. */
export function errorBox(error) {
  return el('div', {class: 'error', role: 'alert'}, error.message || String(error),
    error.hint ? el('span', {class: 'hint'}, 'hint: ', error.hint) : null);
}

/** A short message that goes away. */
export function say(text) {
  const box = el('div', {}, text);
  document.getElementById('status').append(box);
  setTimeout(() => box.remove(), 6000);
}

/** Rows of [name, value]; null values are left out. */
export function pairs(rows) {
  return el('table', {class: 'pairs'}, el('tbody', {}, rows.filter(([, v]) => v !== null && v !== undefined && v !== '')
    .map(([name, value]) => el('tr', {}, el('th', {scope: 'row'}, name), el('td', {}, value)))));
}

/** A plain table in a box that scrolls. columns: [{name, num, cell(row)}] */
export function plainTable(columns, rows, caption) {
  return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
    el('table', {},
      el('thead', {}, el('tr', {}, columns.map((c) => el('th', {scope: 'col', class: c.num ? 'num' : null}, c.name)))),
      el('tbody', {}, rows.map((row) => el('tr', {class: row.class},
        columns.map((c) => el('td', {class: c.num ? 'num' : c.wrap ? 'wrap' : null}, c.cell(row))))))));
}
