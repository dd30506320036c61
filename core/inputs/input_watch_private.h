/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to input_watch*.c. */
#ifndef ORCH_CORE_INPUTS_INPUT_WATCH_PRIVATE_H
#define ORCH_CORE_INPUTS_INPUT_WATCH_PRIVATE_H

#include "core/inputs/input_watch.h"

#include "core/inputs/inputs.h"
#include "lib/base/text.h"

struct watched_input {
    char *path; /* relative to the workspace's root, or absolute */
    bool is_known;
    bool is_accepted;             /* a trial has written it, or may have */
    GHashTable *suspects;         /* trials that ran when it changed; NULL: none */
    bool is_read;                 /* it is in a list of `reads` */
    bool is_only_read;            /* of the trial that is looked at: nothing names it */
    struct orch_file_id captured; /* not known: the file did not exist */
    struct orch_file_id seen;     /* by the last look */
    uint64_t rewrites;            /* how often it was written again with the same content */
    uint64_t round;               /* in which it was taken last (inputs_of) */
    const GPtrArray *list;        /* the last one that it was added to */
    char sha256[65];              /* of a read file that is not captured; "": not known */
};

struct orch_input_watch {
    struct orch_inputs *all;
    GHashTable *inputs;        /* path -> struct watched_input * */
    GHashTable *by_experiment; /* experiment -> GPtrArray of struct watched_input *, borrowed */
    GHashTable *by_trial;      /* struct orch_trial_inputs -> the same */
    GHashTable *reads;         /* experiment -> the same: what its runs have read */
    GPtrArray *suspected;      /* struct watched_input *: those with suspects */
    GHashTable *verified; /* "NAME TIME": a file that changed then and had the captured content */
    uint64_t round;
    int64_t captured_ns;
};

/* ---- input_watch_files.c ----------------------------------------------------------------------
 */

/** The file at a path. Borrowed. */
struct watched_input *orch_watched_get(struct orch_input_watch *watch, const char *path);
/** The files that runs of an experiment have read. Borrowed. */
GPtrArray *orch_watched_reads(struct orch_input_watch *watch,
                              const struct orch_experiment *experiment);
/** Adds a file that a run has read, with its digest then; NULL: not known. */
struct watched_input *orch_watched_add_read(struct orch_input_watch *watch, GPtrArray *reads,
                                            const char *path, const char *sha256);
/** All files that a trial depends on. NULL on error. The caller unrefs. */
GPtrArray *orch_watched_inputs(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial, GError **error);
bool orch_watched_is_captured(const struct orch_input_watch *watch, const char *path);

/* ---- input_watch.c ----------------------------------------------------------------------------
 */

/** What a file is now. */
struct orch_file_id orch_watched_look(const struct orch_input_watch *watch, const char *name);
/** True when a file may have changed after the tree was captured and before its first look. */
bool orch_watched_is_too_new(const struct orch_input_watch *watch, const struct orch_file_id *look);

/* ---- input_watch_content.c --------------------------------------------------------------------
 */

/** Captures the tree again and compares the trial's inputs with those of the plan. */
bool orch_watched_has_captured(struct orch_input_watch *watch,
                               const struct orch_trial_inputs *trial, const GPtrArray *changed);
/** Adds the names of those files (struct orch_opened_file *) that differ from the captured ones,
 * according to a new capture. The others are noted in `verified`. */
void orch_watched_differing(struct orch_input_watch *watch, const GPtrArray *files,
                            GPtrArray *names);
/** What `verified` has for a file. The caller frees. */
char *orch_watched_key(const struct orch_opened_file *file);

#endif
