/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a rule could stop none of the trials of a search: known from the lengths of their curves and
 * from their number, whatever their values were. */
#include "features/search/stop/stop_trial.h"

#include <math.h>

/* Values of the longest curve. */
static size_t longest_of(const struct orch_stop_question *question)
{
    size_t longest = 0;
    for (size_t i = 0; i < question->count; i++)
        longest = MAX(longest, question->curves[i].count);
    return longest;
}

static size_t count_ended(const struct orch_stop_question *question)
{
    size_t ended = 0;
    for (size_t i = 0; i < question->count; i++)
        ended += question->curves[i].end == ORCH_CURVE_ENDED;
    return ended;
}

/* A trial is judged at value `first` at the earliest, and never at its last one. */
static char *too_short(double first, size_t longest)
{
    if (first < (double)longest)
        return NULL;
    return g_strdup_printf(
        "the rule needs more than %.0f values of a trial, but no trial has more than %zu", first,
        longest);
}

/* The last trial is judged once `startup` others have ended. */
static char *too_few(const struct orch_stop_question *question)
{
    const size_t ended = count_ended(question);
    if ((double)ended > question->rule->startup)
        return NULL;
    return g_strdup_printf(
        "the rule needs more than %.0f trial%s that ended, but the search had %zu",
        question->rule->startup, question->rule->startup == 1 ? "" : "s", ended);
}

static char *nothing_by_median(const struct orch_stop_question *question)
{
    char *why = too_short(question->rule->warmup + 1, longest_of(question));
    return why ? why : too_few(question);
}

static char *nothing_by_asha(const struct orch_stop_question *question)
{
    const double min = orch_stop_asha_min(question);
    char *why = isfinite(min) ? too_short(min, longest_of(question))
                              : g_strdup("the rule needs a trial that ended well");
    return why || question->count > 1 ? why : g_strdup("the search has only one trial");
}

/* The lengths of the trials that ended where they should. */
static char *nothing_by_forecast(const struct orch_stop_question *question)
{
    size_t shortest = G_MAXSIZE, longest = 0;
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (curve->end != ORCH_CURVE_ENDED || curve->has_diverged || !curve->count ||
            !isfinite(curve->values[curve->count - 1]))
            continue;
        shortest = MIN(shortest, curve->count);
        longest = MAX(longest, curve->count);
    }
    if ((double)longest > ORCH_STOP_LENGTHS_MAX * (double)shortest)
        return g_strdup_printf(
            "'forecast' needs trials of about the same length, but these have %zu to %zu values",
            shortest, longest);
    return too_few(question);
}

/* Appends why nothing can be stopped in a bracket. */
static bool append_idle(const struct orch_stop_question *question, unsigned bracket, GString *out)
{
    const double start = round(orch_stop_bracket_start(question->rule, bracket));
    size_t trials = 0, longest = 0;
    for (size_t i = 0; i < question->count; i++) {
        const struct orch_stop_curve *curve = &question->curves[i];
        if (orch_stop_bracket_of(question->rule, curve->number) != bracket)
            continue;
        trials++;
        longest = MAX(longest, curve->count);
    }
    if (trials > 1 && start < (double)longest)
        return false;
    g_string_append_printf(out, "%sbracket %u needs trials with more than %.0f value%s, but has ",
                           out->len ? "; " : "", bracket, start, start == 1 ? "" : "s");
    if (trials > 1)
        g_string_append_printf(out, "trials of at most %zu values", longest);
    else
        g_string_append(out, trials ? "one trial" : "no trial");
    return true;
}

static char *nothing_by_hyperband(const struct orch_stop_question *question, bool *out_in_part)
{
    const unsigned last = orch_stop_last_bracket(question->rule);
    GString *text = g_string_new(NULL);
    unsigned idle = 0;
    for (unsigned bracket = last; bracket >= 1; bracket--)
        idle += append_idle(question, bracket, text);
    *out_in_part = idle > 0 && idle < last;
    return g_string_free(text, idle == 0);
}

char *orch_stop_trial_nothing(const struct orch_stop_question *question, bool *out_in_part)
{
    *out_in_part = false;
    if (!question->count)
        return NULL;
    if (longest_of(question) <= 1)
        return g_strdup("the trials have only one value each");
    switch (question->rule->kind) {
    case ORCH_STOP_MEDIAN:
    case ORCH_STOP_VIZIER:
        return nothing_by_median(question);
    case ORCH_STOP_ASHA:
        return nothing_by_asha(question);
    case ORCH_STOP_HYPERBAND:
        return nothing_by_hyperband(question, out_in_part);
    case ORCH_STOP_FORECAST:
        return nothing_by_forecast(question);
    }
    return NULL;
}
