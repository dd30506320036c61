/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes, tags and names that people give to runs that have ended. A public one is sent to the group
 * with the run; others stay in this store. */
#ifndef ORCH_FEATURES_LABELS_RUN_LABELS_H
#define ORCH_FEATURES_LABELS_RUN_LABELS_H

#include "store/store.h"

/** A note as text. */
struct orch_run_note {
    char *text; /* may be NULL */
    bool is_public;
};
/** The notes of the run that `named` names: struct orch_run_note *, oldest first; the caller
 * unrefs.
 * `*out_key` (freed by the caller) receives the run's key. NULL when there is no such run. */
GPtrArray *orch_run_notes(struct orch_store *store, const char *named, char **out_key,
                          GError **error);
/** Adds a note. ORCH_ERROR_USAGE unless it is UTF-8 of 1 to 100,000 bytes. */
bool orch_run_add_note(struct orch_store *store, const char *named, const char *text,
                       bool is_public, char **out_key, GError **error);

/** Checks a tag or a name (`what`, for the message): one word of at most 200 bytes that does not
 * begin with '-' or '@'. ORCH_ERROR_USAGE. */
bool orch_run_check_label(const char *what, const char *text, GError **error);

/** The tags of a run. */
struct orch_tagged_run {
    char *key;
    GPtrArray *tags; /* char *, sorted */
};
/** The tags of the runs that `selected` names: a run, or a filter for those that ended ok or
 * diverged. struct orch_tagged_run *; the caller unrefs. */
GPtrArray *orch_run_tags(struct orch_store *store, const char *selected, GError **error);
/** Adds `tags` (NULL-terminated) to the selected runs, or removes them. `*out_changed` receives the
 * number of tags added or removed. Returns the tags of these runs afterwards, as orch_run_tags. */
GPtrArray *orch_run_change_tags(struct orch_store *store, const char *selected,
                                const char *const *tags, bool removes, bool is_public,
                                unsigned *out_changed, GError **error);

/** Names the run that `named` names; "" removes its name, NULL only reads it. `*out_key` and
 * `*out_name` (NULL: it has none) are freed by the caller; `*out_taken` receives the key of another
 * run, which the name still means because it began later, or NULL. */
bool orch_run_rename(struct orch_store *store, const char *named, const char *name, bool is_public,
                     char **out_key, char **out_name, char **out_taken, GError **error);

#endif
