/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the hand-ins of a class: the result of each verification, and runs that were handed in
 * by two people.
 *
 * A run made by somebody else is called shared, and declared if the pack names its author as a
 * collaborator. Two runs are copies when they have the same key with different content,
 * or different keys with the same fingerprint and bit-identical times. Equal accuracies prove
 * nothing, because a deterministic trial gives them to everybody. So only times are compared: the
 * start, the duration and the time of each point within the run, all in nanoseconds.
 */
#ifndef ORCH_FEATURES_PACK_CLASS_H
#define ORCH_FEATURES_PACK_CLASS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct orch_submission {
    char *file;
    json_t *outcome; /* output of 'orch verify FILE --json --facts'; NULL: see `why` */
    char *why;       /* why it could not be verified */
    unsigned shared, undeclared, copies; /* numbers of runs */
};
struct orch_submission *orch_submission_new(const char *file);
void orch_submission_free(struct orch_submission *submission);

/** Finds the packs, and ZIP files without a pack beside them, in a folder and its subfolders,
 * sorted by name. struct orch_submission *; ORCH_ERROR_IO when there is none. The caller unrefs. */
GPtrArray *orch_submissions_find(const char *folder, GError **error);
/** Verifies each hand-in in its own process, `jobs` at once (0: one per processor), and fills the
 * outcomes. `plugin_paths`: folders searched first for plugins, or NULL. */
bool orch_submissions_verify(GPtrArray *handins, const char *const *plugin_paths, bool is_full,
                             int jobs, GError **error);

/** A finding about two hand-ins, or about a run whose author did not hand it in. */
struct orch_in_common {
    const char *kind; /* "copied run", "undeclared run", "shared run", "equal time" (only the
                         duration is equal, which may be chance), or "same name" (two hand-ins by
                         one person; has no runs). Static */
    const char *file, *other; /* borrowed from the hand-ins; `other` may be NULL */
    char *experiment, *run, *other_run;
    char *what; /* what exactly is equal */
};

/** Compares all hand-ins (struct orch_submission *) and fills their counts. Returns struct
 * orch_in_common *, copies first; the caller unrefs. */
GPtrArray *orch_class_compare(GPtrArray *handins);

#endif
