/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --fail-on: what a comparison must not show. */
#ifndef ORCH_CORE_CLI_COMPARE_LIMITS_H
#define ORCH_CORE_CLI_COMPARE_LIMITS_H

#include "core/report/contrast.h"

#include <glib.h>

/** "epoch_time_s > 3%": B's change against A, signed, in per cent of A or in the metric's unit. */
struct compare_limit {
    char *text, *metric;
    bool is_above, is_percent;
    double bound;
};
/** NULL with ORCH_ERROR_USAGE. The caller frees. */
struct compare_limit *compare_limit_parse(const char *text, GError **error);
void compare_limit_free(struct compare_limit *limit);

enum compare_heed { COMPARE_HOLDS, COMPARE_BROKEN, COMPARE_UNSURE };
/** Broken: the change that was seen is beyond the bound, and the difference is more than noise.
 * Unsure: it is beyond, and may be noise. `*out_why` (the caller frees) says it in words, NULL
 * where it holds. */
enum compare_heed compare_limit_heed(const struct compare_limit *limit,
                                     const struct orch_contrast *contrast, double least,
                                     const char *unit, char **out_why);

#endif
