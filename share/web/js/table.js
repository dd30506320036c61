// SPDX-License-Identifier: GPL-3.0-or-later
// A table of any length: only the rows that are seen are in the page, and are asked for by blocks.
// Arrow keys, page up and down, home and end move; Enter opens; the space bar chooses.
import {el, put} from './dom.js';
import {isAbort} from './api.js';

const ROW = 30, BLOCK = 100, BLOCKS_KEPT = 60;

/** options: columns [{name, label, unit, num, width, cell(value, row)}], fetch(offset, limit, signal) -> {rows, total},
 * keyOf(row), open(row), choose(row, on), isChosen(row), sort {name, order}, setSort(name), failed(error), label */
export class Grid {
  constructor(options) {
    this.o = options;
    this.total = 0;
    this.blocks = new Map(); // index -> rows, or null while it is asked for
    this.active = 0;
    this.abort = new AbortController();
    this.body = el('tbody');
    this.table = el('table', {role: 'grid', 'aria-label': options.label, 'aria-rowcount': -1, 'aria-colcount': options.columns.length},
      el('colgroup', {}, options.columns.map((c) => el('col', {width: c.width ?? 120}))), this.head(), this.body);
    this.table.style.width = `${options.columns.reduce((sum, c) => sum + (c.width ?? 120), 0)}px`;
    this.box = el('div', {class: 'grid', onscroll: () => this.draw()}, this.table);
    this.body.addEventListener('keydown', (event) => this.onKey(event));
    this.body.addEventListener('click', (event) => this.onClick(event));
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.box);
  }

  head() {
    const {columns, sort, setSort} = this.o;
    return el('thead', {}, el('tr', {'aria-rowindex': 1}, columns.map((c) => {
      const is = sort && c.sort !== false && sort.name === c.name;
      const mark = is ? (sort.order === 'up' ? ' ▲' : ' ▼') : '';
      const text = [c.label ?? c.name, c.unit ? el('span', {class: 'unit'}, ` [${c.unit}]`) : null, mark];
      return el('th', {scope: 'col', class: c.num ? 'num' : null, 'aria-sort': is ? (sort.order === 'up' ? 'ascending' : 'descending') : null},
        c.sort === false || !setSort ? el('button', {disabled: true, title: c.label ?? c.name}, text)
          : el('button', {type: 'button', title: `sort by ${c.label ?? c.name}`, 'data-sort': c.name, onclick: () => setSort(c.name)}, text));
    })));
  }

  /** The first block; rejects with what the server says. */
  async start() {
    const first = await this.o.fetch(0, BLOCK, this.abort.signal);
    this.take(0, first);
    this.draw();
  }

  end() {
    this.abort.abort();
    this.resized.disconnect();
  }

  take(index, answer) {
    this.total = answer.total;
    this.blocks.set(index, answer.rows);
    this.table.setAttribute('aria-rowcount', this.total + 1);
    if (this.blocks.size > BLOCKS_KEPT) // the one that was asked for first
      this.blocks.delete(this.blocks.keys().next().value);
  }

  async ask(index) {
    this.blocks.set(index, null);
    try {
      this.take(index, await this.o.fetch(index * BLOCK, BLOCK, this.abort.signal));
      this.draw();
    } catch (error) {
      if (isAbort(error)) return;
      this.blocks.delete(index);
      this.o.failed(error);
    }
  }

  rowAt(i) {
    return this.blocks.get(Math.floor(i / BLOCK))?.[i % BLOCK];
  }

  seen() {
    const top = Math.max(0, this.box.scrollTop - 40), from = Math.max(0, Math.floor(top / ROW) - 5);
    const count = Math.ceil((this.box.clientHeight || 600) / ROW) + 12;
    return [from, Math.min(this.total, from + count)];
  }

  draw() {
    const [from, to] = this.seen();
    for (let b = Math.floor(from / BLOCK); b <= Math.floor(Math.max(from, to - 1) / BLOCK) && to > from; b++)
      if (!this.blocks.has(b)) this.ask(b);
    const focused = this.body.contains(document.activeElement);
    const rows = [];
    for (let i = from; i < to; i++) rows.push(this.drawRow(i));
    put(this.body, this.spacer(from), rows, this.spacer(this.total - to));
    if (focused) this.body.querySelector(`tr[data-i="${this.active}"]`)?.focus({preventScroll: true});
  }

  spacer(count) {
    if (count <= 0) return null;
    const row = el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td', {colspan: this.o.columns.length}));
    row.style.height = `${count * ROW}px`;
    return row;
  }

  drawRow(i) {
    const row = this.rowAt(i);
    const attributes = {'data-i': i, 'aria-rowindex': i + 2, tabindex: i === this.active ? '0' : '-1'};
    if (!row) return el('tr', {...attributes, class: 'waiting'}, el('td', {colspan: this.o.columns.length}, '…'));
    if (this.o.choose) attributes['aria-selected'] = this.o.isChosen(row) ? 'true' : 'false';
    return el('tr', attributes, this.o.columns.map((c, k) => {
      const shown = c.cell(row[k], row);
      const text = typeof shown === 'string' ? shown : null;
      return el('td', {class: c.num ? 'num' : null, title: text && text.length > 12 ? text : null}, shown);
    }));
  }

  moveTo(i) {
    this.active = Math.min(Math.max(0, i), Math.max(0, this.total - 1));
    const top = this.active * ROW, room = this.box.clientHeight - 2 * ROW;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top > this.box.scrollTop + room - ROW) this.box.scrollTop = top - room + ROW;
    this.draw();
    this.body.querySelector(`tr[data-i="${this.active}"]`)?.focus({preventScroll: true});
  }

  onKey(event) {
    if (event.target.tagName !== 'TR') return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 2);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in moves) {
      event.preventDefault();
      this.moveTo(this.active + moves[event.key]);
    } else if (event.key === 'Enter') {
      const row = this.rowAt(this.active);
      if (row) this.o.open(row);
    } else if (event.key === ' ' && this.o.choose) {
      event.preventDefault();
      this.toggle(this.active);
    }
  }

  toggle(i) {
    const row = this.rowAt(i);
    if (!row) return;
    this.o.choose(row, !this.o.isChosen(row));
    this.draw();
  }

  onClick(event) {
    const tr = event.target.closest('tr[data-i]');
    if (!tr) return;
    this.active = Number(tr.dataset.i);
    const row = this.rowAt(this.active);
    if (event.target.closest('input[type=checkbox]')) this.toggle(this.active);
    else if (row && !event.target.closest('a')) this.o.open(row);
  }
}
