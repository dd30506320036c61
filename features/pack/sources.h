/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to features/pack: collects the files that a pack has beside its runs. */
#ifndef ORCH_FEATURES_PACK_SOURCES_H
#define ORCH_FEATURES_PACK_SOURCES_H

#include "core/plan/plan.h"

/** A file for the pack. */
struct orch_pack_file {
    char *path;
    char *bytes;
    size_t length;
};
/** Make an empty list of files, and append a file, taking over `bytes`. */
GPtrArray *orch_pack_files_new(void);
void orch_pack_files_add(GPtrArray *files, const char *path, char *bytes, size_t length);

/** The collected files; members marked "given" are set by the caller. */
struct orch_pack_sources {
    GPtrArray *files;    /* struct orch_pack_file *; given */
    json_t *trees;       /* TREE -> [[path, mode, id]]; given, an object */
    GPtrArray *left_out; /* char *: "path: why"; given */
    int64_t limit;       /* total bytes; given */
    int64_t bytes;       /* so far */
};

/** Collects the files of the current tree: the recipe and the files it refers to (up to 20 times
 * the limit), then all other files up to the limit, then the differing files of the other `trees`
 * (ids). Symbolic links and files that look like secrets are never included. */
bool orch_pack_gather(struct orch_plan *plan, const GPtrArray *trees,
                      struct orch_pack_sources *inout, GError **error);

/** The recipe's path in its tree, as stored in a pack, or its file name when it is outside the
 * workspace's root. The caller frees. */
char *orch_pack_recipe_path(const struct orch_plan *plan);

#endif
