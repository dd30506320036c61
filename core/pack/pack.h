/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pack: evidence that somebody else can check. One bundle (store/exchange/bundle.h) of the runs
 * that a recipe's report uses, and beside them
 *
 *     pack.json               what this is, who made it, which run answers which trial, and a list
 *                             of all files with their SHA-256
 *     report.json             the report, with every number
 *     report.html             the same as a page
 *     source/TREE/...         files of the trees that the runs were made from (TREE: git's id;
 *                             "none" outside of a repository)
 *
 * The list of each tree (path, mode, blob id) is in pack.json, so that a tree's id proves itself
 * even when large files were left out. docs/verify.md is the user's manual.
 */
#ifndef ORCH_PACK_PACK_H
#define ORCH_PACK_PACK_H

#include "core/report/document.h"
#include "core/run/plan.h"

#define ORCH_PACK_FORMAT 1
#define ORCH_PACK_KIND "orch pack"
#define ORCH_PACK_SOURCE_BYTES ((int64_t)20 << 20)
#define ORCH_PACK_JSON_MAX ((size_t)64 << 20)
#define ORCH_PACK_NO_TREE "none"

/** Is this path one of the files that a pack has beside its runs? */
bool orch_pack_is_file(const char *path);

/** How the recipe was asked for: what expands it to the same trials again. Borrowed. */
struct orch_pack_asked {
    const char *words; /* as typed: "hw4.recipe -p course" */
    const char *profile;
    const char *const *settings, *const *sweeps, *const *targets; /* NULL-terminated or NULL */
};

struct orch_pack_options {
    struct orch_pack_asked asked;
    const char *who, *version;
    int64_t artifact_bytes; /* largest artifact that goes; -1: all, 0: none */
    int64_t source_bytes;   /* of all sources */
};

/** What was packed. */
struct orch_packed {
    int64_t runs, artifacts, artifacts_left, files, source_bytes, bytes;
    GPtrArray *left_out; /* char *: "path: why" of sources */
    char *charts_why;    /* why charts stand as text in the page; NULL: they are drawn */
};
void orch_packed_clear(struct orch_packed *packed);

/** Writes a pack of a plan's runs and its report; an existing file is replaced when the new one is
 * whole. ORCH_ERROR_NOT_FOUND: there is no run to pack. */
bool orch_pack_write(struct orch_plan *plan, const struct orch_document *document,
                     const struct orch_pack_options *options, const char *path,
                     struct orch_packed *out, GError **error);

#endif
