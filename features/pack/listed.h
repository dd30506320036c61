/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees known only as lists: path, mode and blob id of each file, without objects. The ids of the
 * tree and its subtrees follow from the list, so a list from elsewhere can be verified, and code
 * that computes subtrees (orch_vcs_subtree, orch_vcs_list) works as with a repository. */
#ifndef ORCH_PACK_LISTED_H
#define ORCH_PACK_LISTED_H

#include "lib/vcs/vcs.h"

#define ORCH_OBJECT_ID_CHARS 65

struct orch_tree_file {
    char *path; /* from the root of the tree */
    unsigned mode;
    char oid[ORCH_OBJECT_ID_CHARS];
};
/** Files of a tree, sorted by path: struct orch_tree_file *. Caller unrefs. */
GPtrArray *orch_vcs_files(struct orch_vcs *vcs, const char *tree, GError **error);
/** True for a path that a tree may have: relative, UTF-8, at most 1,024 bytes, without "." and
 * "..". */
bool orch_tree_path_is_valid(const char *path);
/** Create an empty list and add a file. add returns false if the arguments are not valid for a
 * tree. */
GPtrArray *orch_tree_files_new(void);
bool orch_tree_files_add(GPtrArray *files, const char *path, unsigned mode, const char *oid);

/** Id of the tree with exactly these files, with as many digits as their blob ids. Caller frees. */
char *orch_tree_files_id(const GPtrArray *files);
/** Id of a blob with these contents; `digits` is 40 or 64. */
void orch_blob_id(const void *bytes, size_t length, size_t digits, char out[ORCH_OBJECT_ID_CHARS]);

/** Returns a repository with these trees only. Takes ownership of `trees` (id -> files). Operations
 * that need objects fail with ORCH_ERROR_NOT_FOUND. Close with orch_vcs_close. */
struct orch_vcs *orch_vcs_listed(const char *root, GHashTable *trees);

#endif
