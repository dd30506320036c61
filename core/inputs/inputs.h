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
#include "store/store.h"

/** What was read of the captured files. */
struct orch_known_files {
    GPtrArray *tree_paths;    /* files of the captured tree, sorted; NULL: not read yet */
    GHashTable *tree_files;   /* the same as a set, without links to what lies elsewhere; its keys
                                 are borrowed */
    GHashTable *script_files; /* path of a script -> set of the files that it uses */
    GHashTable *path_digests; /* relative path of the tree -> digest of its content, "" for none;
                                 absolute path, "\n", experiment -> the same of other files;
                                 ORCH_KNOWN_CODE and name, ORCH_KNOWN_EXTENT and name */
    GHashTable *read_digests; /* path that a run read -> its digest now, "" when it is gone */
    GHashTable *covered;      /* inputs id -> set of the paths in that tree */
    GHashTable *outputs;      /* experiment -> struct orch_own_outputs * */
};

/** Digest of a script without comments, and what is not compared of an input. */
#define ORCH_KNOWN_CODE "code "
#define ORCH_KNOWN_EXTENT "extent "

struct orch_inputs {
    struct orch_workspace *workspace;
    const struct orch_expansion *expansion;
    bool no_watch;                 /* the files that the trials open are not noted */
    int64_t made_ns;               /* before the files outside of a repository were read */
    GHashTable *ids;               /* experiment -> char *, borrowed from all_ids */
    GHashTable *code_ids;          /* inputs id -> the same without comments (orch_inputs_id) */
    GPtrArray *all_ids;            /* char *: also those from before orch_inputs_renew */
    struct orch_known_files files; /* caches of what lies on disk */
    struct orch_file_digests *digests;
};

/** What one trial depends on, as far as this is known before it runs. */
struct orch_trial_inputs {
    const struct orch_cell *cell;
    GPtrArray *list; /* struct orch_checked_input *: what it names, with digests; or NULL */
    const char *id;  /* of the code and of `inputs:` (orch_inputs_id); borrowed from orch_inputs */
};

/** The arguments must outlive the result. `no_watch`: the files that trials open are not noted. */
struct orch_inputs *orch_inputs_new(struct orch_workspace *workspace,
                                    const struct orch_expansion *expansion, bool no_watch);
void orch_inputs_free(struct orch_inputs *inputs);
/** Forgets what was read of files: the workspace's source has been captured again. Ids that were
 * handed out stay valid. */
void orch_inputs_renew(struct orch_inputs *inputs);

/** Forgets what was read of files that are not captured, because one of them has changed. */
void orch_inputs_forget_uncaptured(struct orch_inputs *inputs);
/** Reads the names of the files of the captured tree, once: none outside of a repository. */
bool orch_inputs_read_tree(struct orch_inputs *inputs, GError **error);
/** The outputs of the experiment's earlier runs (own_outputs.h). Borrowed. */
struct orch_own_outputs *orch_inputs_outputs(struct orch_inputs *inputs,
                                             const struct orch_experiment *experiment);
/** Whether the captured tree has a file of this name. */
bool orch_inputs_is_captured(const struct orch_inputs *inputs, const char *name);

/** The files of the captured tree below a folder are one part of files.tree_paths: returns their
 * number, and the index of the first. */
guint orch_inputs_below(const struct orch_inputs *inputs, const char *folder, guint *out_first);

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

/* ---- before a trial runs ----------------------------------------------------------------------
 */

/** Adds what a trial of a wrapped program names in a parameter of type path or in a word of its
 * command once its parameters are filled in, what its scripts use, and for every plugin what
 * `inputs:` names, as far as orch_inputs_id does not cover it; with digests of the content
 * (content_digest.h): struct orch_checked_input *. False on error. */
bool orch_cell_inputs(struct orch_inputs *all, const struct orch_cell *cell, GPtrArray *inputs,
                      GError **error);

/** Adds the absolute paths outside of the repository that the trial's command or its parameters
 * name and that are none of its inputs, because nothing or only output lies there, or because a
 * compiled plugin names its inputs itself (char *): it may read or write there. */
void orch_cell_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                         GPtrArray *paths);

/** Says which of these inputs are not compared by their whole content, and how they are; NULL when
 * all are. The caller frees. */
char *orch_cell_inputs_not_checked(const struct orch_inputs *all, const GPtrArray *inputs);

/** The cell's parameters with absolute paths, as a trial receives them: those of a recipe are
 * relative to its folder. New reference. */
json_t *orch_cell_absolute_params(const struct orch_inputs *all, const struct orch_cell *cell);

/** "a.py" for the first of one, "a.py and 2 more" for the first of three. The caller frees. */
char *orch_input_names(const char *first, unsigned count);

/** True for code: a script, a source file, or a program. */
bool orch_input_is_code(const char *absolute);

/* ---- the code and the declared inputs of an experiment ----------------------------------------
 */

/** The id of the code of an experiment. For a wrapped program: the tree of its manifest, of the
 * files that its command provably uses (scripts.h) and of the files in `inputs:`. For any
 * compiled plugin with `inputs:`: their tree. Without `inputs:`: a third-party plugin's build id,
 * or "" for the plugins that come with orch, which are identified by their version. `*out_code_id`
 * (or NULL): the same for Python scripts without comments where the id is no tree, else NULL. The
 * caller frees both; NULL on error. */
char *orch_inputs_id(struct orch_inputs *all, const struct orch_experiment *experiment,
                     char **out_code_id, GError **error);

/** The files and folders that `inputs:` names and that the captured tree does not have, because git
 * ignores them or they lie elsewhere; also the captured folders, which may hold such files. char *,
 * absolute; the caller unrefs; NULL on error. */
GPtrArray *orch_inputs_not_captured(struct orch_inputs *all,
                                    const struct orch_experiment *experiment, GError **error);

/** The tree of only the files that `inputs:` names; "" without `inputs:`. The caller frees; NULL on
 * error. */
char *orch_inputs_declared_id(struct orch_inputs *all, const struct orch_experiment *experiment,
                              GError **error);

/** The files that orch_inputs_id covers, relative to the workspace's root (patterns where `inputs:`
 * has patterns); empty for code outside the repository. char *; the caller unrefs; NULL on error.
 */
GPtrArray *orch_inputs_paths(struct orch_inputs *all, const struct orch_experiment *experiment,
                             GError **error);

/* ---- a run that could be reused ---------------------------------------------------------------
 */

/** Why a run of the trial's fingerprint cannot be reused because of what it depended on: an input
 * was written while it ran, or a file that it read has changed since ("data.csv, which this run
 * read, has changed since"). NULL when it can. Files that the fingerprint covers are not looked at
 * again, and each file only once. `changed` (char *, or NULL): such files of newer runs, to which
 * that of this run is added; a run that made such a file itself is passed over, too, because the
 * program would now read the changed one. The caller frees. */
char *orch_inputs_since(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                        const struct orch_run *run, GPtrArray *changed);

/** True when orch_inputs_since has found other comments in Python scripts that the run read. */
bool orch_read_other_comments(struct orch_inputs *all, const struct orch_run *run);

/** Why the list of what a run read may have gaps, by its facts: "what it read is known in part, the
 * rest was not noted: started 'busybox' unobserved". NULL when it has none. Such a run shows
 * neither that two versions are the same code nor that nothing else was read. The caller frees. */
char *orch_inputs_in_part(const json_t *facts);

/** What is not compared of a run that is reused, for people; NULL when there is nothing to say. The
 * caller frees. */
char *orch_read_not_compared(const struct orch_run *run);

#endif
