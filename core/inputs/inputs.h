/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What did this run depend on, read, write and leave, and is it still so?
 *
 * struct orch_inputs holds what one command has found out about the files of a recipe's trials, so
 * that each file is read once. */
#ifndef ORCH_CORE_INPUTS_INPUTS_H
#define ORCH_CORE_INPUTS_INPUTS_H

#include "core/plugin/plugins.h"
#include "core/recipe/recipe.h"
#include "core/workspace/workspace.h"
#include "lib/base/file_digests.h"

/** What was read of the captured files. */
struct orch_known_files {
    GPtrArray *tree_paths;    /* files of the captured tree, sorted; NULL: not read yet */
    GHashTable *tree_files;   /* the same as a set; its keys are borrowed */
    GHashTable *script_files; /* path of a script -> set of the files that it uses */
    GHashTable *path_digests; /* path -> digest of its content, "" when the tree has no such path */
    GHashTable *read_digests; /* path that a run read -> its digest now, "" when it is gone */
    GHashTable *covered;      /* inputs id -> set of the paths in that tree */
};

struct orch_inputs {
    struct orch_workspace *workspace;
    const struct orch_expansion *expansion;
    bool no_watch;                 /* the files that the trials open are not noted */
    int64_t made_ns;               /* before the files outside of a repository were read */
    GHashTable *ids;               /* experiment -> char *, borrowed from all_ids */
    GHashTable *code_ids;          /* inputs id -> the same without comments (inputs_id.h) */
    GPtrArray *all_ids;            /* char *: also those from before orch_inputs_renew */
    struct orch_known_files files; /* caches for cell_inputs.c and read_since.c */
    struct orch_file_digests *digests;
};

/** What one trial depends on, as far as this is known before it runs. */
struct orch_trial_inputs {
    const struct orch_cell *cell;
    GPtrArray *list; /* struct orch_checked_input *: what it names, with digests; or NULL */
    const char *id;  /* of the code and of `inputs:` (inputs_id.h); borrowed from orch_inputs */
};

/** The arguments must outlive the result. `no_watch`: the files that trials open are not noted. */
struct orch_inputs *orch_inputs_new(struct orch_workspace *workspace,
                                    const struct orch_expansion *expansion, bool no_watch);
void orch_inputs_free(struct orch_inputs *inputs);
/** Forgets what was read of files: the workspace's source has been captured again. Ids that were
 * handed out stay valid. */
void orch_inputs_renew(struct orch_inputs *inputs);

/** The id of an experiment's code and declared inputs, computed once. Borrowed; NULL on error. */
const char *orch_inputs_id_of(struct orch_inputs *inputs, const struct orch_experiment *experiment,
                              GError **error);
/** Keeps an id of inputs for as long as `inputs` lives. Takes it over; returns it, borrowed. */
const char *orch_inputs_keep_id(struct orch_inputs *inputs, char *id);
/** The id without comments of Python scripts. Borrowed. */
const char *orch_inputs_code_id_of(struct orch_inputs *inputs, const char *id);
/** The digest of an input without comments; the input's own when it is no Python script. Looked up
 * once. Borrowed. */
const char *orch_inputs_code_digest(struct orch_inputs *inputs,
                                    const struct orch_checked_input *input);

/** An empty set of caches, to be cleared. */
void orch_known_files_init(struct orch_known_files *files);
void orch_known_files_clear(struct orch_known_files *files);

#endif
