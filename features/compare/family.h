/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A family of tests: settings of which any two may be compared, because those that are compared
 * were picked by the same numbers. A pair of settings has one p and one interval in its family,
 * whichever command or report item shows it. */
#ifndef ORCH_FEATURES_COMPARE_FAMILY_H
#define ORCH_FEATURES_COMPARE_FAMILY_H

#include "core/stats/stats.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** What is known of the metric that settings are compared by. */
struct orch_best_metric {
    const char *name, *unit; /* may be NULL */
    bool larger_wins;
};

struct orch_family;

/** Makes the family of `count` settings. `means` has the means by seed of each setting (struct
 * orch_seed_mean); `is_disturbed` (NULL: none) marks settings whose times other programs disturbed
 * (disturbed.h). Only settings that were measured under the same load are tested against each
 * other. The caller frees; the family keeps references to the means. */
struct orch_family *orch_family_new(GArray *const *means, const bool *is_disturbed, size_t count,
                                    const struct orch_best_metric *metric);
void orch_family_free(struct orch_family *family);

/** Compares two settings, b - a, corrected for all pairs of the settings that were measured under
 * the same load. With three settings or more whose scatter is alike this is Tukey's test with the
 * scatter of all of them; a pair that is not in that pool is tested alone, with Bonferroni's
 * correction. Settings that were measured under different load are not tested (is_uneven). */
struct orch_difference orch_family_difference(const struct orch_family *family, size_t a, size_t b);

/** Describes the tests of the differences that are shown, each of which involves setting `a`:
 * "corrected for all 36 pairs of 9 settings by Tukey's range test, ...". NULL: none was tested. The
 * caller frees. */
char *orch_family_method(const struct orch_family *family, size_t a,
                         const struct orch_difference *shown, size_t count);

#endif
