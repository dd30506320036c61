/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The context of a command: the repository, the current source tree, this machine and the store.
 * Each part is loaded on first use, so that a command pays only for what it uses. */
#ifndef ORCH_CORE_WORKSPACE_WORKSPACE_H
#define ORCH_CORE_WORKSPACE_WORKSPACE_H

#include "lib/hw/machine.h"
#include "lib/vcs/vcs.h"
#include "store/store.h"

struct orch_workspace {
    char *folder;     /* absolute: the recipe's folder, or the current one */
    char *root;       /* of the repository, or `folder` when there is none */
    char *db_path;    /* absolute */
    bool db_is_given; /* by --db or $ORCH_DB */
    /** The workspace whose work tree `root` is a copy of (orch_workspace_at); borrowed. NULL:
     * `root` is the work tree itself. */
    struct orch_workspace *base;
    /* loaded on first use: */
    struct orch_vcs *vcs; /* NULL: no repository */
    struct orch_source *source;
    struct orch_machine *machine;
    char *machine_key;
    json_t *machine_facts;
    struct orch_store *store;
    struct orch_uncaptured *uncaptured; /* of the work tree, for copies */
    json_t *links_out;                  /* links_out.h */
};

/** Finds the repository and the store's path: `db` (--db), else $ORCH_DB, else .orch/results.db at
 * the repository's root, else in the folder. `folder` NULL: the current one. NULL on error. */
struct orch_workspace *orch_workspace_new(const char *folder, const char *db, GError **error);
void orch_workspace_free(struct orch_workspace *workspace);

/** Removes the open store again if this workspace made it and nothing was recorded in it, as after
 * a command with a mistake. Otherwise does nothing. */
void orch_workspace_drop_new_store(struct orch_workspace *workspace);

/** A workspace for the tree of `source` (taken over, also on error) of `base`'s repository, written
 * out at `root` (orch_workspace_copy), and a folder in it. Runs from there are recorded in `base`'s
 * store with that source. `base` outlives it. NULL on error. */
struct orch_workspace *orch_workspace_at(struct orch_workspace *base, const char *root,
                                         const char *folder, struct orch_source *source,
                                         GError **error);

/** A workspace outside any repository, for data received from elsewhere. `source` (taken over) is
 * its tree; `vcs` (taken over, or NULL) gives access to known trees. */
struct orch_workspace *orch_workspace_apart(const char *root, const char *folder, const char *db,
                                            struct orch_source *source, struct orch_vcs *vcs);

/** The work tree whose files lie where the user sees them. Borrowed. */
const char *orch_workspace_origin(const struct orch_workspace *workspace);
/** Writes a tree of the repository out once beside the open store, as work/<tree>, with symbolic
 * links to what lies in the work tree but is not captured (ignored data, environments, submodules,
 * large files). The caller frees the path; NULL on error. */
char *orch_workspace_copy(struct orch_workspace *workspace, const char *tree, GError **error);
/** Removes from a copy that was made in this process the links to what looks built from the work
 * tree (built_files.h). Returns what is not in the copy for that reason: char *, relative; the
 * caller unrefs. */
GPtrArray *orch_workspace_drop_built(struct orch_workspace *workspace, const char *copy);

/** Lets the user's name be looked up in git's configuration when it is first needed. */
void orch_workspace_find_user(struct orch_workspace *workspace);
/** The git filters that capture the source without being run, because only the repository itself
 * defines them: char *, borrowed; NULL outside of a repository. */
const GPtrArray *orch_workspace_ignored_filters(const struct orch_workspace *workspace);
/** Makes this user on this machine an owner of the store, whoever made it. What could be executed
 * or loaded unnoticed is removed from its folder. */
bool orch_workspace_adopt_store(const struct orch_workspace *workspace, GError **error);
/** True when there is a store at the workspace's path. */
bool orch_workspace_has_store(const struct orch_workspace *workspace);
/** Opens the store, and reopens it when a wider mode is requested. Borrowed; NULL on error. */
struct orch_store *orch_workspace_store(struct orch_workspace *workspace, enum orch_store_mode mode,
                                        GError **error);
/** A store in a temporary folder that is removed with the workspace: for smoke runs. */
struct orch_store *orch_workspace_scratch(struct orch_workspace *workspace, GError **error);

/** Captures the source tree once. Outside a repository: an empty source (tree NULL). Borrowed. */
const struct orch_source *orch_workspace_source(struct orch_workspace *workspace, GError **error);

/** Resolves a name to a commit (NULL for the uncommitted changes of ".") and a tree of the
 * workspace's repository; the caller frees both. */
bool orch_workspace_commit(struct orch_workspace *workspace, const char *text, char **out_commit,
                           char **out_tree, GError **error);

/** Records in the repository that the open store needs the captured tree, so that no other store of
 * the repository releases it (lib/vcs/holders.h). Failures are ignored; the tree then stays. */
void orch_workspace_hold_source(struct orch_workspace *workspace);

/** Probes the machine once. Never NULL. Borrowed. */
const struct orch_machine *orch_workspace_machine(struct orch_workspace *workspace);
const char *orch_workspace_machine_key(struct orch_workspace *workspace);
/** Its facts as an object. Borrowed. */
json_t *orch_workspace_machine_facts(struct orch_workspace *workspace);

#endif
