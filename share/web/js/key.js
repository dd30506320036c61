// SPDX-License-Identifier: GPL-3.0-or-later
// The key of changes. The server appends it to the address as '#key=…' when the printed address is opened. It is kept in the
// storage of this origin, which no server at another port can read, and removed from the address and the browser's history.
const NAME = 'orch-key';

if (/^#key=[0-9a-f]+$/.test(location.hash)) {
  try { localStorage.setItem(NAME, location.hash.slice(5)); } catch { /* no storage: the page only reads */ }
  history.replaceState(null, '', location.pathname);
}

/** The header of requests, if there is a key. */
export function keyHeader() {
  try {
    const key = localStorage.getItem(NAME);
    return key ? {'X-Orch-Key': key} : {};
  } catch {
    return {};
  }
}
