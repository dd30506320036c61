/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a command works: the repository, the source tree as it lies, this machine, the store. Each
 * part is found when it is first asked for, so that a command pays only for what it uses. */
#ifndef ORCH_CORE_RUN_WORKSPACE_H
#define ORCH_CORE_RUN_WORKSPACE_H

#include "lib/hw/machine.h"
#include "lib/vcs/vcs.h"
#include "store/store.h"

struct orch_workspace {
    char *folder;     /* absolute: of the recipe, or the current one */
    char *root;       /* of the repository, or `folder` when there is none */
    char *db_path;    /* absolute */
    bool db_is_given; /* by --db or $ORCH_DB */
    /* filled when asked for: */
    struct orch_vcs *vcs; /* NULL: no repository */
    struct orch_source *source;
    struct orch_machine *machine;
    char *machine_key;
    json_t *machine_facts;
    struct orch_store *store;
};

/** Finds the repository and the store's path: `db` (--db), else $ORCH_DB, else .orch/results.db at
 * the repository's root, else in the folder. `folder` NULL: the current one. NULL on error. */
struct orch_workspace *orch_workspace_new(const char *folder, const char *db, GError **error);
void orch_workspace_free(struct orch_workspace *workspace);

/** The tree of `source` (taken over, also on error) of `base`'s repository, at `root`, where it was
 * written out (orch_workspace_copy), and a folder in it: what is run from there is recorded in
 * `base`'s store as made from that source. NULL on error. */
struct orch_workspace *orch_workspace_at(const struct orch_workspace *base, const char *root,
                                         const char *folder, struct orch_source *source,
                                         GError **error);

/** A workspace that is no part of any repository: `source` (taken over) is its tree, `vcs` (taken
 * over, or NULL) what is known of trees. For what came from elsewhere. */
struct orch_workspace *orch_workspace_apart(const char *root, const char *folder, const char *db,
                                            struct orch_source *source, struct orch_vcs *vcs);

/** A tree of the repository written out once beside the open store: work/<tree>, with symbolic
 * links to what git ignores (data, environments). The caller frees the path; NULL on error. */
char *orch_workspace_copy(struct orch_workspace *workspace, const char *tree, GError **error);

/** Opens the store (again with a wider mode when asked to). Borrowed; NULL on error. */
struct orch_store *orch_workspace_store(struct orch_workspace *workspace, enum orch_store_mode mode,
                                        GError **error);
/** A store in a temporary folder that is removed with the workspace: for smoke runs. */
struct orch_store *orch_workspace_scratch(struct orch_workspace *workspace, GError **error);

/** Captures the source tree once. Outside a repository: an empty source (tree NULL). Borrowed. */
const struct orch_source *orch_workspace_source(struct orch_workspace *workspace, GError **error);

/** Notes in the repository that the open store needs the captured tree, so that no other store of
 * the repository lets it go (lib/vcs/holders.h). A failure is not worth a run: the tree then stays.
 */
void orch_workspace_hold_source(struct orch_workspace *workspace);

/** Probes the machine once. Never NULL. Borrowed. */
const struct orch_machine *orch_workspace_machine(struct orch_workspace *workspace);
const char *orch_workspace_machine_key(struct orch_workspace *workspace);
/** Its facts as an object. Borrowed. */
json_t *orch_workspace_machine_facts(struct orch_workspace *workspace);

#endif
