/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pack against itself: its report is computed again from its rows and compared number by number.
 * Nothing of the pack is run: the plugins are those of this installation, asked whether the
 * parameters fit and what data they read. */
#ifndef ORCH_PACK_VERIFY_H
#define ORCH_PACK_VERIFY_H

#include "core/pack/pins.h"
#include "core/pack/recheck.h"
#include "core/pack/unpack.h"

struct orch_verify_options {
    bool is_quick;       /* leave items that fit models out */
    const char *version; /* of this program */
};

/** What was found. */
struct orch_verified {
    GPtrArray *items; /* struct orch_rechecked *; empty when the report could not be made again */
    GPtrArray *problems; /* char *: what is not as the pack says; the pack's own first */
    GPtrArray *notes;    /* char *: what was not checked, and what to know */
    struct orch_pinned pinned;
    unsigned confirmed, differs, left; /* numbers over all items */
    bool is_page_good;                 /* report.html is made of the same numbers */
    /* what the report was made again with; NULL when it could not be */
    struct orch_workspace *workspace;
    struct orch_expansion *expansion;
    struct orch_plan *plan;
};
void orch_verified_clear(struct orch_verified *verified);
/** Is everything as the pack says? What was not checked does not count against it. */
bool orch_verified_is_good(const struct orch_verified *verified);

/** Verifies an opened pack. `plugins` is set apart for it, and stays so. Findings are an outcome:
 * false only when this machine fails (disk, memory). `out` is to be cleared in any case, before
 * the pack is freed. */
bool orch_pack_verify(struct orch_pack *pack, struct orch_plugins *plugins,
                      const struct orch_verify_options *options, struct orch_verified *out,
                      GError **error);

/** Findings, as JSON: {"items": [...], "problems": [...], ...}. New reference. */
json_t *orch_verified_json(const struct orch_pack *pack, const struct orch_verified *verified);
/** What each run of a pack measured, for comparing packs: [{key, digest, fingerprint, who, ...}].
 * New reference; NULL on error. */
json_t *orch_pack_facts(const struct orch_pack *pack, GError **error);

#endif
