/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A repeat is over when the first of its two runs fails, so a failure counts for one side only.
 * Both sides begin equally often, so that each has half of the failures when both fail equally
 * often. */
#include "features/compare/side_failures.h"

#include "core/stats/stats.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>

bool orch_side_failures_hide(const struct orch_side_failures *failures)
{
    unsigned a = failures->failed[0], b = failures->failed[1];
    return failures->timed_out[0] || failures->timed_out[1] ||
           2 * gsl_cdf_binomial_P(MIN(a, b), 0.5, a + b) < ORCH_NOISE_LEVEL;
}

char *orch_side_failures_text(const struct orch_side_failures *failures, unsigned repeats)
{
    GString *text = g_string_new(NULL);
    for (int side = 0; side < 2; side++) {
        if (!failures->failed[side])
            continue;
        g_string_append_printf(text, "%s%c failed in %u", text->len ? ", " : "", 'A' + side,
                               failures->failed[side]);
        g_string_append_printf(text, " of %u repeats", repeats);
        if (failures->timed_out[side])
            g_string_append_printf(text, " (%u at the time limit)", failures->timed_out[side]);
    }
    return g_string_free(text, FALSE);
}
