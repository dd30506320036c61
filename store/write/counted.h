/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that an experiment counts though they were made under another name: its trials have their
 * fingerprints. They are noted when 'orch run' finds them done, in this store alone, so that
 * whoever asks for the runs of an experiment by its name gets them, too. */
#ifndef ORCH_STORE_COUNTED_H
#define ORCH_STORE_COUNTED_H

#include "store/store.h"

struct orch_counted {
    const char *experiment;
    const char *key; /* of the run */
};

/** Notes such runs of a recipe; those of its own name, and those that are noted, are left out. */
bool orch_store_count_runs(struct orch_store *store, const char *recipe,
                           const struct orch_counted *counted, size_t count, GError **error);

/** What the target of a note of kind "counted" begins with; its text is the key of the run. */
#define STORE_COUNTED "counts:"
/** The target: "counts:RECIPE/EXPERIMENT". The caller frees. */
char *orch_store_counted_target(const char *recipe, const char *experiment);

#endif
