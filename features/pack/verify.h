/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifies a pack against itself: its report is recomputed from its rows and compared number by
 * number. Nothing in the pack is run. The plugins of this installation check the parameters and
 * report what data they read. */
#ifndef ORCH_FEATURES_PACK_VERIFY_H
#define ORCH_FEATURES_PACK_VERIFY_H

#include "features/pack/pins.h"
#include "features/pack/recheck.h"
#include "features/pack/unpack.h"

struct orch_verify_options {
    bool is_quick;       /* skip items that fit models */
    const char *version; /* of this program */
};

/** The result of a verification. */
struct orch_verified {
    GPtrArray *items; /* struct orch_rechecked *; empty when the report could not be recomputed */
    GPtrArray *problems; /* char *: discrepancies; those found on opening the pack come first */
    GPtrArray *notes;    /* char *: unchecked parts and remarks */
    bool pins_by_label;  /* experiments are unavailable here, or were where it was packed */
    struct orch_pinned pinned;
    unsigned confirmed, differs, left; /* counts of numbers over all items */
    bool is_page_good;                 /* report.html shows the same numbers */
    /* used to recompute the report; NULL when that was not possible */
    struct orch_workspace *workspace;
    struct orch_expansion *expansion;
    struct orch_plan *plan;
};
void orch_verified_clear(struct orch_verified *verified);
/** True when no difference was found. Unchecked parts do not count. */
bool orch_verified_is_good(const struct orch_verified *verified);

/** Verifies an opened pack. Puts `plugins` into the mode for untrusted recipes
 * (orch_plugins_set_apart) and leaves it so. Differences are results, not errors: returns false
 * only on a local failure (disk, memory). The caller clears `out` in any case, before freeing the
 * pack. */
bool orch_pack_verify(struct orch_pack *pack, struct orch_plugins *plugins,
                      const struct orch_verify_options *options, struct orch_verified *out,
                      GError **error);

/** Findings, as JSON: {"items": [...], "problems": [...], ...}. New reference. */
json_t *orch_verified_json(const struct orch_pack *pack, const struct orch_verified *verified);
/** The measurements of each run of a pack, for comparing packs: [{key, digest, fingerprint, who,
 * ...}]. New reference; NULL on error. */
json_t *orch_pack_facts(const struct orch_pack *pack, GError **error);

#endif
