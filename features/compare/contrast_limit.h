/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of --fail-on: changes that make a comparison fail. */
#ifndef ORCH_FEATURES_COMPARE_CONTRAST_LIMIT_H
#define ORCH_FEATURES_COMPARE_CONTRAST_LIMIT_H

#include "features/compare/contrast.h"

#include <glib.h>

/** "epoch_time_s > 3%": a bound on B's signed change relative to A, in per cent of A or in the
 * metric's unit. */
struct orch_contrast_limit {
    char *text, *metric;
    bool is_above, is_percent;
    double bound;
};
/** Parses a limit. NULL with ORCH_ERROR_USAGE. The caller frees. */
struct orch_contrast_limit *orch_contrast_limit_parse(const char *text, GError **error);
void orch_contrast_limit_free(struct orch_contrast_limit *limit);

enum orch_limit_check { ORCH_LIMIT_HOLDS, ORCH_LIMIT_EXCEEDED, ORCH_LIMIT_UNCERTAIN };
/** Checks a contrast against a limit. Broken: the observed change exceeds the bound, and the
 * difference is more than noise. Unsure: it exceeds the bound, but may be noise. `*out_why` (the
 * caller frees) explains the result; NULL when the limit holds. */
enum orch_limit_check orch_contrast_limit_check(const struct orch_contrast_limit *limit,
                                                const struct orch_contrast *contrast, double least,
                                                const char *unit, char **out_why);

#endif
