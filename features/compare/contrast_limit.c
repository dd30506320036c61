/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/contrast_limit.h"

#include "core/stats/numbers.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

void orch_contrast_limit_free(struct orch_contrast_limit *limit)
{
    if (!limit)
        return;
    g_free(limit->text);
    g_free(limit->metric);
    g_free(limit);
}

struct orch_contrast_limit *orch_contrast_limit_parse(const char *text, GError **error)
{
    struct orch_contrast_limit *limit = g_new0(struct orch_contrast_limit, 1);
    size_t at = strcspn(text, "<>");
    limit->text = g_strdup(text);
    limit->metric = g_strstrip(g_strndup(text, at));
    limit->is_above = text[at] == '>';
    g_autofree char *number = text[at] ? g_strstrip(g_strdup(text + at + 1)) : g_strdup("");
    char *percent = strchr(number, '%');
    limit->is_percent = percent && !percent[1];
    if (limit->is_percent) {
        *percent = 0;
        g_strchomp(number);
    }
    const char *digits = *number == '+' ? number + 1 : number;
    if (*limit->metric && orch_real_parse(digits, &limit->bound))
        return limit;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "for example --fail-on 'epoch_time_s > 3%' or --fail-on 'accuracy < -0.01'",
                   "option '--fail-on': '%s' is not of the form METRIC > NUMBER", text);
    orch_contrast_limit_free(limit);
    return NULL;
}

/* Returns B's change in the unit of the bound. */
static double change_of(const struct orch_contrast_limit *limit, const struct orch_contrast *c)
{
    if (!limit->is_percent)
        return c->b.mean - c->a.mean;
    return 100 * (c->is_ratio ? c->change.mid : c->change.mid / fabs(c->a.mean));
}

enum orch_limit_check orch_contrast_limit_check(const struct orch_contrast_limit *limit,
                                                const struct orch_contrast *contrast, double least,
                                                const char *unit, char **out_why)
{
    *out_why = NULL;
    double change = change_of(limit, contrast);
    if (isnan(change) || !(limit->is_above ? change > limit->bound : change < limit->bound))
        return ORCH_LIMIT_HOLDS;
    bool is_sure =
        isinf(change) || orch_contrast_result(contrast, least) == ORCH_CONTRAST_DIFFERENT;
    const char *suffix = limit->is_percent ? "%" : unit ? unit : "";
    g_autofree char *seen = orch_number_format(change);
    *out_why =
        g_strdup_printf("%s changed by %s%s%s%s (limit: %s)", limit->metric, change > 0 ? "+" : "",
                        seen, *suffix ? " " : "", suffix, limit->text);
    return is_sure ? ORCH_LIMIT_EXCEEDED : ORCH_LIMIT_UNCERTAIN;
}
