/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside core/pack: the files that a pack carries beside its runs. */
#ifndef ORCH_PACK_SOURCES_H
#define ORCH_PACK_SOURCES_H

#include "core/run/plan.h"

/** A file for the pack. */
struct orch_pack_file {
    char *path;
    char *bytes;
    size_t length;
};
/** An empty list of them, and one more: `bytes` is taken over. */
GPtrArray *orch_pack_files_new(void);
void orch_pack_files_add(GPtrArray *files, const char *path, char *bytes, size_t length);

/** What was gathered. */
struct orch_pack_sources {
    GPtrArray *files;    /* struct orch_pack_file *; given */
    json_t *trees;       /* TREE -> [[path, mode, id]]; given, an object */
    GPtrArray *left_out; /* char *: "path: why"; given */
    int64_t limit;       /* bytes of all; given */
    int64_t bytes;       /* so far */
};

/** Gathers the tree as it lies: the recipe and what it refers to whatever their size (up to 20
 * times the limit), then all else up to it; then of the other `trees` (ids) the files that differ.
 * Never a link, nor what looks like a secret. */
bool orch_pack_gather(struct orch_plan *plan, const GPtrArray *trees,
                      struct orch_pack_sources *inout, GError **error);

/** The recipe's path in its tree, as a pack has it. Borrowed from the expansion; or its whole path,
 * when it lies elsewhere. */
char *orch_pack_recipe_path(const struct orch_plan *plan);

#endif
