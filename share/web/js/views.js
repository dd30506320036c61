// SPDX-License-Identifier: GPL-3.0-or-later
// Saved views: the page's state under a name, in the store. Pinned ones stand at the top of every page.
import {about, change, get} from './api.js';
import {add, el, errorBox, put, say} from './dom.js';
import {person} from './format.js';

const NO_STATE = ['', '#', '#/'];

/* An address that the store has, as a place within this page; nothing else becomes a link. */
const placeOf = (view) => /^#\//.test(view.address) ? view.address : '#/';

export function viewsMenu(root, pinned) {
  const list = el('div', {id: 'view-list'}), why = el('p', {class: 'note'});
  let allowed = false;
  const menu = el('details', {id: 'views', class: 'menu', ontoggle: () => { if (menu.open) draw(); }}, el('summary', {}, 'Views'),
    el('div', {class: 'sheet'}, list, el('div', {class: 'row'}, el('button', {type: 'button', id: 'save-view', disabled: true, onclick: save}, 'save this view')), why));
  add(root, menu);
  document.addEventListener('click', (event) => { if (menu.open && !menu.contains(event.target) && !event.target.closest?.('dialog')) menu.open = false; });
  menu.addEventListener('keydown', (event) => { if (event.key === 'Escape') { menu.open = false; menu.querySelector('summary').focus(); } });

  async function act(what, words) {
    try {
      await change(what);
      say(words);
      await draw();
    } catch (error) {
      document.getElementById('status').append(errorBox(error));
      setTimeout(() => document.querySelector('#status .error')?.remove(), 9000);
    }
  }

  async function save() {
    const {ask} = await import('./dialog.js'), state = NO_STATE.includes(location.hash) ? '#/runs' : location.hash;
    const said = await ask('save this view', [{name: 'name', label: 'name', placeholder: 'best so far', note: 'a view of the same name is replaced'}], {go: 'save'});
    if (said) await act({do: 'view-save', name: said.name, address: state}, `view '${said.name}' is saved`);
  }

  function line(view) {
    const button = (id, text, label, what, words) => el('button', {type: 'button', class: 'small', 'data-do': id, disabled: !allowed, 'aria-label': `${label} '${view.name}'`, onclick: () => act(what, words)}, text);
    const flip = view.is_pinned ? 'unpin' : 'pin';
    return el('li', {}, el('a', {href: placeOf(view), onclick: () => { menu.open = false; }}, view.name), el('span', {class: 'dim'}, view.is_public ? (view.is_mine ? 'shared' : `of ${person(view.who)}`) : ''),
      button(flip, flip, flip, {do: `view-${flip}`, name: view.name}, `view '${view.name}' is ${flip}ned`),
      view.is_public ? null : button('share', 'share', 'share', {do: 'view-share', name: view.name, address: view.address}, `view '${view.name}' travels with your runs`),
      button('remove', 'remove', 'remove', {do: 'view-remove', name: view.name}, `view '${view.name}' is removed`));
  }

  async function draw() {
    const [{views}, {changes}] = await Promise.all([get('views'), about()]);
    allowed = changes.allowed;
    menu.querySelector('#save-view').disabled = !allowed;
    put(why, allowed ? null : changes.why);
    put(list, views.length ? el('ul', {class: 'plain'}, views.map(line)) : el('p', {class: 'dim'}, 'none is saved'));
    put(pinned, views.filter((v) => v.is_pinned).map((v) => el('a', {href: placeOf(v)}, v.name)));
    pinned.hidden = !pinned.childNodes.length;
  }
  return draw();
}
