/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees known by their lists alone: of each file its path, mode and blob id, and no objects. From
 * the list follow the tree's id and those of its parts, so a list that came from elsewhere proves
 * itself, and code that asks which tree a part is (orch_vcs_subtree, orch_vcs_list) works on it as
 * on a repository. */
#ifndef ORCH_VCS_LISTED_H
#define ORCH_VCS_LISTED_H

#include "lib/vcs/vcs.h"

#define ORCH_OBJECT_ID_CHARS 65

struct orch_tree_file {
    char *path; /* from the root of the tree */
    unsigned mode;
    char oid[ORCH_OBJECT_ID_CHARS];
};
/** Files of a tree, sorted by path: struct orch_tree_file *. The caller unrefs. */
GPtrArray *orch_vcs_files(struct orch_vcs *vcs, const char *tree, GError **error);
/** An empty list, and a file more. False: what is given cannot be a file of a tree. */
GPtrArray *orch_tree_files_new(void);
bool orch_tree_files_add(GPtrArray *files, const char *path, unsigned mode, const char *oid);

/** The id of the tree that has just these files; of as many digits as their blobs'. The caller
 * frees. */
char *orch_tree_files_id(const GPtrArray *files);
/** The id of a blob of these bytes; `digits`: 40 or 64. */
void orch_blob_id(const void *bytes, size_t length, size_t digits, char out[ORCH_OBJECT_ID_CHARS]);

/** A repository that knows these trees and nothing else. `trees`: id -> files, taken over. What
 * needs objects fails with ORCH_ERROR_NOT_FOUND. orch_vcs_close ends it. */
struct orch_vcs *orch_vcs_listed(const char *root, GHashTable *trees);

#endif
