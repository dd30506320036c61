/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes a contrast in words. */
#include "features/compare/contrast.h"

#include "core/stats/numbers.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <glib.h>
#include <math.h>
#include <string.h>

const char *orch_contrast_test_name(enum orch_contrast_test test)
{
    static const char *const names[] = {"-", "paired t", "Welch", "Mann-Whitney"};
    return names[test];
}

/* Names the direction of a change: "slower", "higher and better". */
static char *direction(double change, const char *better, const char *unit)
{
    bool is_rate, more = change > 0;
    if (orch_unit_is_timing(unit, &is_rate))
        return g_strdup(more == is_rate ? "faster" : "slower");
    const char *word = more ? "higher" : "lower";
    if (!better || strcmp(better, "none") == 0)
        return g_strdup(word);
    return g_strdup_printf("%s and %s", word,
                           more == (strcmp(better, "max") == 0) ? "better" : "worse");
}

/* Formats the size of a change: "3.2 %", or "0.4 ms" when it is not a ratio. */
static char *amount(const struct orch_contrast *c, double change, const char *unit)
{
    double size = fabs(change);
    if (!c->is_ratio) {
        g_autofree char *number = orch_number_format(size);
        return unit ? g_strdup_printf("%s %s", number, unit) : g_steal_pointer(&number);
    }
    char format[8], text[ORCH_REAL_CHARS];
    double percent = 100 * size;
    g_snprintf(format, sizeof format, "%%.%df", percent >= 99.95 ? 0 : percent >= 0.95 ? 1 : 2);
    return g_strdup_printf("%s %%", g_ascii_formatd(text, sizeof text, format, percent));
}

/* Formats the interval as sizes without sign. */
static char *interval(const struct orch_contrast *c, const char *unit)
{
    double scale = c->is_ratio ? 100 : 1, sign = c->change.mid < 0 ? -1 : 1;
    double low = scale * fmin(sign * c->change.low, sign * c->change.high);
    double high = scale * fmax(sign * c->change.low, sign * c->change.high);
    const char *suffix = c->is_ratio ? " %" : "";
    if (!(high > low))
        return g_strdup(c->pairs ? "in every pair" : "in every run");
    if (isinf(low) || isinf(high))
        return g_strdup("no interval yet");
    g_autofree char *text = orch_interval_format(low, high);
    return g_strdup_printf("%s%s%s", text, !c->is_ratio && unit ? " " : "",
                           c->is_ratio ? suffix : (unit ? unit : ""));
}

static char *unknown_words(const struct orch_contrast *c, double least)
{
    if (c->a.count < 2 || c->b.count < 2)
        return g_strdup("cannot tell: with a single run of each side the noise is unknown");
    if (!isfinite(c->a.mean) || !isfinite(c->b.mean))
        return g_strdup("cannot tell: a value is infinite");
    size_t more = orch_contrast_more(c, least);
    if (!more)
        return g_strdup("cannot tell: more than a million runs would be needed");
    return g_strdup_printf("cannot tell: about %zu more run%s of each side would be needed", more,
                           orch_plural(more));
}

char *orch_contrast_change_text(const struct orch_contrast *c, const char *better, const char *unit)
{
    g_autofree char *size = amount(c, c->change.mid, unit), *range = interval(c, unit),
                    *word = direction(c->change.mid, better, unit);
    return g_strdup_printf("B is %s %s (%s)", size, word, range);
}

char *orch_contrast_text(const struct orch_contrast *c, const char *better, const char *unit,
                         double least)
{
    switch (orch_contrast_result(c, least)) {
    case ORCH_CONTRAST_EQUIVALENT:
        return g_strdup(c->pairs ? "equal in every pair" : "equal in every run");
    case ORCH_CONTRAST_IDENTICAL: {
        g_autofree char *shown = amount(c, c->shows, unit);
        return g_strdup_printf(
            "no difference beyond noise; a difference of %s would have been found", shown);
    }
    case ORCH_CONTRAST_UNDECIDED:
        return unknown_words(c, least);
    case ORCH_CONTRAST_DIFFERENT:
        break;
    }
    g_autofree char *change = orch_contrast_change_text(c, better, unit);
    return g_strdup_printf("%s, more than noise", change);
}
