// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to the reader, in a window above the page that the keyboard leaves with Escape.
import {add, el, put} from './dom.js';

/** Asks for what `fields` has: [{name, label, placeholder, value, note, list}]. Resolves to the values, or to null. */
export function ask(title, fields, {go = 'do it', note = null} = {}) {
  return new Promise((resolve) => {
    const inputs = {};
    const form = el('form', {method: 'dialog', onsubmit: () => { box.returnValue = 'go'; }}, el('h2', {}, title), note ? el('p', {class: 'note'}, note) : null,
      fields.map((f) => {
        inputs[f.name] = el('input', {id: `ask-${f.name}`, value: f.value ?? '', placeholder: f.placeholder, autocomplete: 'off', required: f.optional ? null : true, maxlength: 2000});
        return el('label', {}, f.label, inputs[f.name], f.note ? el('span', {class: 'note'}, f.note) : null);
      }),
      el('div', {class: 'row end'}, el('button', {type: 'button', onclick: () => box.close()}, 'cancel'), el('button', {class: 'main', type: 'submit', value: 'go'}, go)));
    const box = el('dialog', {'aria-label': title, onclose: () => {
      const said = box.returnValue === 'go' ? Object.fromEntries(Object.entries(inputs).map(([n, i]) => [n, i.value.trim()])) : null;
      box.remove();
      resolve(said);
    }}, form);
    document.body.append(box);
    box.showModal();
  });
}

/** Shows a text to be copied. */
export function showText(title, text, note) {
  const said = el('span', {class: 'dim', role: 'status'});
  const area = el('textarea', {readonly: true, rows: Math.min(16, text.split('\n').length + 1), cols: 90, class: 'mono', 'aria-label': title});
  area.value = text;
  const copy = async () => {
    area.select();
    try {
      await navigator.clipboard.writeText(text);
      put(said, 'copied');
    } catch {
      put(said, document.execCommand('copy') ? 'copied' : 'press Ctrl-C');
    }
  };
  const box = el('dialog', {'aria-label': title, onclose: () => box.remove()}, el('h2', {}, title), note ? el('p', {class: 'note'}, note) : null, area,
    el('div', {class: 'row end'}, said, el('button', {type: 'button', onclick: copy}, 'copy'), el('button', {type: 'button', class: 'main', onclick: () => box.close()}, 'close')));
  add(document.body, box);
  box.showModal();
}
