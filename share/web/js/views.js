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
  let allowed = false, known = []; // the views as this page has read them
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
      await draw().catch(() => {}); // so that the next attempt is about what is there now
      document.getElementById('status').append(errorBox(error));
      setTimeout(() => document.querySelector('#status .error')?.remove(), 9000);
    }
  }

  async function save() {
    const {ask} = await import('./dialog.js'), state = NO_STATE.includes(location.hash) ? '#/runs' : location.hash;
    const said = await ask('save this view', [{name: 'name', label: 'name', placeholder: 'best so far', note: 'a view of yours with the same name is replaced'}], {go: 'save'});
    const before = known.find((v) => v.is_mine && v.name === said?.name);
    if (said) await act({do: 'view-save', name: said.name, address: state, instead_of: before?.address ?? ''}, `view '${said.name}' is saved`);
  }

  function line(view) {
    const whose = view.is_mine ? '' : ` of ${person(view.who)}`, target = view.is_mine ? {name: view.name} : {name: view.name, of: view.who ?? ''};
    const button = (id, text, label, what, words) => el('button', {type: 'button', class: 'small', 'data-do': id, disabled: !allowed, 'aria-label': `${label} '${view.name}'${whose}`, onclick: () => act({...target, ...what}, words)}, text);
    const flip = view.is_pinned ? 'unpin' : 'pin';
    return el('li', {}, el('a', {href: placeOf(view), onclick: () => { menu.open = false; }}, view.name), el('span', {class: 'dim'}, view.is_mine ? (view.is_public ? 'shared' : '') : whose),
      button(flip, flip, flip, {do: `view-${flip}`}, `view '${view.name}' is ${flip}ned`),
      view.is_public || !view.is_mine ? null : button('share', 'share', 'share', {do: 'view-share'}, `view '${view.name}' is shared with your runs`),
      button('remove', 'remove', 'remove', {do: 'view-remove', instead_of: view.address}, `view '${view.name}' is removed`));
  }

  async function draw() {
    const [{views}, {changes}] = await Promise.all([get('views'), about()]);
    allowed = changes.allowed;
    known = views;
    menu.querySelector('#save-view').disabled = !allowed;
    put(why, allowed ? null : changes.why);
    put(list, views.length ? el('ul', {class: 'plain'}, views.map(line)) : el('p', {class: 'dim'}, 'none is saved'));
    put(pinned, views.filter((v) => v.is_pinned).map((v) => el('a', {href: placeOf(v)}, v.is_mine ? v.name : `${v.name} of ${person(v.who)}`)));
    pinned.hidden = !pinned.childNodes.length;
  }
  return draw();
}
