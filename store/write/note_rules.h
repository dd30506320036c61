/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which notes are known, and which take effect on a run: hidden, tagged, named. Only the set of
 * notes counts, not the order in which they arrived.
 */
#ifndef ORCH_STORE_NOTE_RULES_H
#define ORCH_STORE_NOTE_RULES_H

#include <glib.h>
#include <stdbool.h>

/** True for a known kind of note. STORE_NOTE_KINDS is the same list as SQL. */
bool orch_store_note_kind_is_known(const char *kind);
#define STORE_NOTE_KINDS                                                                           \
    "('note','tag','untag','name','tombstone','restored','signature','view','counted','promise')"
/** True for the kinds of notes that hide or restore a run. */
bool orch_store_note_kind_hides(const char *kind);

/** How far ahead of this machine's clock a note may be dated and count as the newest, in s. */
#define STORE_AHEAD_S 86400
/** SQL: the time by which the note `n` is ordered. A clock that was far ahead must not decide for
 * years: a note dated more than a day after this machine's present counts as older than all others
 * until then. */
#define STORE_NOTE_TIME(n)                                                                         \
    "iif(" n ".made > (CAST((julianday('now') - 2440587.5) * 86400 AS INTEGER) + " G_STRINGIFY(    \
        STORE_AHEAD_S) ") * 1000000000, 0, " n ".made)"
/** SQL: whether the note `a` comes after the note `b`. */
#define STORE_NOTE_IS_LATER(a, b)                                                                  \
    "(" STORE_NOTE_TIME(a) ", " a ".key) > (" STORE_NOTE_TIME(b) ", " b ".key)"
/** SQL: whether the tombstone or restored note `n` takes effect on the run `r`. A private note
 * always does, because it was made in this store. A public one does only when its author is the
 * run's author, so that nobody can hide the results of others. */
#define STORE_TAKES_EFFECT(n, r) "(" n ".public = 0 OR " n ".who IS " r ".who)"
/** SQL: whether the tombstone `n` hides the run `r`. It does unless a later "restored" note of the
 * same visibility undid it: a public note cannot undo a private tombstone. This depends only on the
 * set of notes, not on the order in which they arrived. */
#define STORE_HIDES(n, r)                                                                          \
    n ".kind = 'tombstone' AND " n ".target = " r ".key AND " STORE_TAKES_EFFECT(                  \
        n, r) " AND NOT EXISTS (SELECT 1 FROM note undo WHERE undo.target = " n ".target AND"      \
              " undo.kind = 'restored' AND undo.public = " n ".public AND " STORE_TAKES_EFFECT(    \
                  "undo", r) " AND " STORE_NOTE_IS_LATER("undo", n) ")"
/** SQL: whether the tag `n` is in effect. It is unless a later "untag" of the same text undid it,
 * which must be private (made in this store) or have the same author as the tag. */
#define STORE_TAG_HOLDS(n)                                                                         \
    n ".kind = 'tag' AND " n ".text <> '' AND NOT EXISTS (SELECT 1 FROM note undo WHERE"           \
      " undo.target = " n ".target AND undo.kind = 'untag' AND undo.text = " n ".text AND"         \
      " (undo.public = 0 OR undo.who IS " n ".who) AND " STORE_NOTE_IS_LATER("undo", n) ")"
/** SQL: the name of the run `r` from the newest note that takes effect; "" or NULL when it has no
 * name. */
#define STORE_NAME_OF(r)                                                                           \
    "(SELECT n.text FROM note n WHERE n.target = " r                                               \
    ".key AND n.kind = 'name' AND " STORE_TAKES_EFFECT("n", r) " ORDER BY " STORE_NOTE_TIME(       \
        "n") " DESC, n.key DESC LIMIT 1)"
/** SQL: the ids of all hidden runs, for `r.id NOT IN STORE_HIDDEN`. */
#define STORE_HIDDEN "(SELECT h.id FROM note n JOIN run h ON " STORE_HIDES("n", "h") ")"
/** SQL: the states of runs that can be reused for an equal trial. */
#define STORE_REUSED_STATES "('ok','diverged')"

#endif
