// SPDX-License-Identifier: GPL-3.0-or-later
// A table of any length: only the rows that are seen are in the page, and are asked for by blocks. A row may be a line
// that stands for several runs and opens. Arrow keys, page up and down, home and end move; with Shift they select;
// right and left open and close a line; Enter opens a run; the space bar selects it. A click on a box selects, with
// Shift all rows up to it, and a drag over the boxes all rows that it passes.
import {el, put} from './dom.js';
import {isAbort} from './api.js';

const ROW = 30, BLOCKS_KEPT = 60;
/** Rows that are asked for at once. */
export const BLOCK = 100;

/** options: columns [{name, label, unit, num, width, show(row)}], fetch(offset, limit, signal) -> {rows, total},
 * open(row), unfold(row, on), choose(rows, on), isChosen(row), sorts [{name, order}], setSort(name, isFurther),
 * failed(error), drawn(rows), label. A row has `kind`: run, line or member. */
export class Grid {
  constructor(options) {
    this.o = options;
    this.total = 0;
    this.blocks = new Map(); // index -> rows, or null while it is asked for
    this.turn = 0; // how often all was asked for again
    this.active = 0;
    this.anchor = 0; // where a selection by Shift begins
    this.drag = null; // {from, on} while the mouse selects
    this.moved = false; // it has selected since it was pressed
    this.abort = new AbortController();
    this.body = el('tbody');
    this.above = this.spacer();
    this.below = this.spacer();
    this.there = [0, 0]; // the rows that are in the page
    this.table = el('table', {role: 'treegrid', 'aria-label': options.label, 'aria-rowcount': -1, 'aria-colcount': options.columns.length,
      'aria-multiselectable': 'true'},
    el('colgroup', {}, options.columns.map((c) => el('col', {width: c.width ?? 120}))), this.head(), this.body);
    this.table.style.width = `${options.columns.reduce((sum, c) => sum + (c.width ?? 120), 0)}px`;
    this.box = el('div', {class: 'grid', onscroll: () => this.scrolled()}, this.table);
    this.body.addEventListener('keydown', (event) => this.onKey(event));
    this.body.addEventListener('click', (event) => this.onClick(event));
    this.body.addEventListener('pointerdown', (event) => this.onPress(event));
    this.body.addEventListener('pointerover', (event) => this.onOver(event));
    this.onRelease = () => { this.drag = null; };
    addEventListener('pointerup', this.onRelease);
    this.resized = new ResizeObserver(() => this.draw());
    this.resized.observe(this.box);
  }

  head() {
    const {columns, sorts, setSort} = this.o;
    return el('thead', {}, el('tr', {'aria-rowindex': 1}, columns.map((c) => {
      const at = c.sort === false ? -1 : sorts.findIndex((s) => s.name === c.name), is = at < 0 ? null : sorts[at].order;
      const mark = is ? `${is === 'up' ? ' ▲' : ' ▼'}${sorts.length > 1 ? at + 1 : ''}` : '';
      const text = [c.label ?? c.name, c.unit ? el('span', {class: 'unit'}, ` [${c.unit}]`) : null, mark];
      return el('th', {scope: 'col', class: c.num ? 'num' : null, 'aria-sort': is ? (is === 'up' ? 'ascending' : 'descending') : null},
        c.sort === false || !setSort ? el('span', {class: 'plain', title: c.title ?? c.label ?? c.name}, text)
          : el('button', {type: 'button', title: `sort by ${c.label ?? c.name}; with Shift within the present order`, 'data-sort': c.name,
            onclick: (event) => setSort(c.name, event.shiftKey)}, text));
    })));
  }

  /** Draws the first block: the answer of fetch(0, BLOCK). */
  start(answer) {
    this.take(0, answer);
    this.draw();
  }

  /** Asks for everything again, and keeps the place. */
  async renew() {
    const [from] = this.seen(), index = Math.floor(from / BLOCK), turn = ++this.turn;
    const answer = await this.o.fetch(index * BLOCK, BLOCK, this.abort.signal);
    if (turn !== this.turn) return; // a later one has asked
    this.blocks.clear();
    this.take(index, answer);
    this.active = Math.min(this.active, Math.max(0, this.total - 1));
    this.draw();
  }

  end() {
    this.abort.abort();
    this.resized.disconnect();
    removeEventListener('pointerup', this.onRelease);
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
    const turn = this.turn;
    try {
      const answer = await this.o.fetch(index * BLOCK, BLOCK, this.abort.signal);
      if (turn !== this.turn) return; // it numbers the rows as they were
      this.take(index, answer);
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

  rowsBetween(a, b) {
    const rows = [];
    for (let i = Math.min(a, b); i <= Math.max(a, b); i++) if (this.rowAt(i)) rows.push(this.rowAt(i));
    return rows;
  }

  seen() {
    const top = Math.max(0, this.box.scrollTop - 40), from = Math.max(0, Math.floor(top / ROW) - 5);
    const count = Math.ceil((this.box.clientHeight || 600) / ROW) + 12;
    return [from, Math.min(this.total, from + count)];
  }

  draw() {
    const [from, to] = this.seen();
    this.askFor(from, to);
    const focused = this.body.contains(document.activeElement);
    this.there = [from, to];
    put(this.body, this.above, this.rowsOf(from, to), this.below);
    this.setSpace();
    if (focused) this.body.querySelector(`tr[data-i="${this.active}"]`)?.focus({preventScroll: true});
    this.o.drawn?.(this.rowsBetween(from, Math.max(from, to - 1)));
  }

  /* Draws the rows that have come into view and drops those that have left it; the others stay as they are. */
  scrolled() {
    const [from, to] = this.seen(), [first, last] = this.there;
    if (from === first && to === last) return;
    if (from >= last || to <= first) { this.draw(); return; }
    this.askFor(from, to);
    to > last ? this.askFor(to, Math.min(this.total, to + BLOCK)) : this.askFor(Math.max(0, from - BLOCK), from); // where it goes
    for (let i = first; i < Math.min(from, last); i++) this.above.nextSibling.remove();
    for (let i = Math.max(to, first); i < last; i++) this.below.previousSibling.remove();
    if (from < first) this.above.after(...this.rowsOf(from, first));
    if (to > last) this.below.before(...this.rowsOf(last, to));
    this.there = [from, to];
    this.setSpace();
    this.o.drawn?.(this.rowsBetween(from, Math.max(from, to - 1)));
  }

  rowsOf(from, to) {
    const rows = [];
    for (let i = from; i < to; i++) rows.push(this.drawRow(i));
    return rows;
  }

  askFor(from, to) {
    for (let b = Math.floor(from / BLOCK); b <= Math.floor(Math.max(from, to - 1) / BLOCK) && to > from; b++)
      if (!this.blocks.has(b)) this.ask(b);
  }

  /* The room of the rows that are not in the page. */
  setSpace() {
    const [from, to] = this.there;
    for (const [row, count] of [[this.above, from], [this.below, this.total - to]]) {
      row.hidden = count <= 0;
      row.style.height = `${Math.max(0, count) * ROW}px`;
    }
  }

  spacer() {
    return el('tr', {class: 'spacer', 'aria-hidden': 'true', hidden: true}, el('td', {colspan: this.o.columns.length}));
  }

  drawRow(i) {
    const row = this.rowAt(i);
    const attributes = {'data-i': i, 'aria-rowindex': i + 2, tabindex: i === this.active ? '0' : '-1'};
    if (!row) return el('tr', {...attributes, class: 'waiting'}, el('td', {colspan: this.o.columns.length}, '…'));
    if (this.o.choose) attributes['aria-selected'] = this.o.isChosen(row) ? 'true' : 'false';
    attributes['aria-level'] = row.kind === 'member' ? 2 : 1;
    if (row.kind === 'line') attributes['aria-expanded'] = row.is_open ? 'true' : 'false';
    return el('tr', {...attributes, class: row.kind}, this.o.columns.map((c) => {
      const shown = c.show(row);
      const text = typeof shown === 'string' ? shown : null;
      return el('td', {class: c.num ? 'num' : null, title: text && text.length > 12 ? text : null}, shown);
    }));
  }

  /** Moves to a row and brings it into view. */
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
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 2), row = this.rowAt(this.active);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in moves) {
      if (!event.shiftKey) this.anchor = null;
      else this.anchor ??= this.active;
      this.moveTo(this.active + moves[event.key]);
      if (event.shiftKey) this.choose(this.rowsBetween(this.anchor, this.active), true);
    } else if (event.key === 'Enter' && row) {
      row.kind === 'line' ? this.o.unfold(row, !row.is_open) : this.o.open(row);
    } else if ((event.key === 'ArrowRight' || event.key === 'ArrowLeft') && row?.kind === 'line') {
      if (row.is_open !== (event.key === 'ArrowRight')) this.o.unfold(row, event.key === 'ArrowRight');
    } else if (event.key === ' ' && this.o.choose && row) {
      this.anchor = this.active;
      this.choose([row], !this.o.isChosen(row));
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey) && this.o.choose) {
      this.choose(this.rowsBetween(0, this.total - 1), true);
    } else {
      return;
    }
    event.preventDefault();
  }

  choose(rows, on) {
    this.o.choose(rows, on);
    this.draw();
  }

  indexOf(event) {
    const tr = event.target.closest?.('tr[data-i]');
    return tr ? Number(tr.dataset.i) : null;
  }

  onPress(event) {
    const i = this.indexOf(event);
    this.moved = false;
    if (i === null || event.button || event.pointerType !== 'mouse' || !event.target.closest('td')?.querySelector('input[type=checkbox]')) return;
    const row = this.rowAt(i);
    if (row && !event.shiftKey) this.drag = {from: i, on: !this.o.isChosen(row)};
  }

  onOver(event) {
    const i = this.drag ? this.indexOf(event) : null;
    if (i === null || (i === this.drag.from && !this.moved)) return;
    this.moved = true; // the click that ends a drag is none
    this.choose(this.rowsBetween(this.drag.from, i), this.drag.on);
  }

  onClick(event) {
    const i = this.indexOf(event), row = i === null ? null : this.rowAt(i);
    const wasDrag = this.moved;
    this.moved = false;
    if (!row || wasDrag) return;
    this.active = i;
    const isBox = event.target.closest('td')?.querySelector('input[type=checkbox]');
    if (isBox) {
      const on = !this.o.isChosen(row);
      this.choose(event.shiftKey && this.anchor !== null ? this.rowsBetween(this.anchor, i) : [row], event.shiftKey || on);
      this.anchor = i;
    } else if (event.target.closest('.opener')) {
      this.o.unfold(row, !row.is_open);
    } else if (!event.target.closest('a')) {
      row.kind === 'line' ? this.o.unfold(row, !row.is_open) : this.o.open(row);
    }
  }
}
