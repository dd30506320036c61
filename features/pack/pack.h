/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pack is evidence that others can verify: one bundle (store/exchange/bundle.h) of the runs
 * that a recipe's report uses, with these files:
 *
 *     pack.json               what this is, who made it, which run answers which trial, and a list
 *                             of all files with their SHA-256
 *     report.json             the report, with every number
 *     report.html             the same as a page
 *     ro-crate-metadata.json  --crate: the pack as a Workflow Run RO-Crate
 *     statement.dsse.json     --sign: an in-toto statement of these files' digests in a signed DSSE
 *                             envelope, which no list has
 *     source/TREE/...         files of the trees that the runs were made from (TREE: git's id;
 *                             "none" outside of a repository)
 *
 * pack.json has the list of each tree (path, mode, blob id), so that a tree's id can be recomputed
 * even when large files were left out. docs/verify.md is the user's manual.
 */
#ifndef ORCH_FEATURES_PACK_PACK_H
#define ORCH_FEATURES_PACK_PACK_H

#include "core/plan/plan.h"
#include "core/render/document.h"

#define ORCH_PACK_FORMAT 1
#define ORCH_PACK_KIND "orch pack"
#define ORCH_PACK_ARTIFACT_BYTES ((int64_t)4 << 20) /* the default, as of a push */
#define ORCH_PACK_SOURCE_BYTES ((int64_t)20 << 20)
#define ORCH_PACK_JSON_MAX ((size_t)64 << 20)
#define ORCH_PACK_NO_TREE "none"

/** The recipe options, from which the same trials can be expanded again. Borrowed. */
struct orch_pack_request {
    const char *words; /* as typed: "hw4.recipe -p course" */
    const char *profile;
    const char *const *settings, *const *sweeps, *const *targets; /* NULL-terminated or NULL */
};

struct orch_pack_options {
    struct orch_pack_request request;
    const char *who, *version;
    int64_t artifact_bytes; /* size of the largest artifact to include; -1: all, 0: none */
    bool is_crate, is_signed;
    int64_t source_bytes; /* limit for all sources together */
};

/** The contents of a written pack. */
struct orch_packed {
    int64_t runs, artifacts, artifacts_left, files, source_bytes, bytes;
    GPtrArray *left_out; /* char *: "path: reason" of sources that were left out */
};
void orch_packed_clear(struct orch_packed *packed);

/** Writes a pack of a plan's runs and its report. An existing file is replaced only when the new
 * one is complete. ORCH_ERROR_NOT_FOUND when there is no run to pack. */
bool orch_pack_write(struct orch_plan *plan, const struct orch_document *document,
                     const struct orch_pack_options *options, const char *path,
                     struct orch_packed *out, GError **error);

#endif
