/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels, soft labels and weights that the rows of a subset get in place of the data set's. */
#include "plugins/common/data/image_set.h"

#include "lib/base/error.h"

#include <math.h>

#define SUM_TOLERANCE 1e-3 /* of a row of probabilities, which may be written with few digits */

static bool count_is_right(const struct orch_subset *s, int64_t count, const char *what,
                           GError **error)
{
    if (count == s->count)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "%s for %" G_GINT64_FORMAT " rows, but the subset of '%s' has %" G_GINT64_FORMAT,
                   what, count, s->dataset->name, s->count);
    return false;
}

static bool refuse_row(const struct orch_subset *s, int64_t row, char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "row %" G_GINT64_FORMAT " of the subset (image %" G_GINT64_FORMAT
                   " of '%s'): %s",
                   row, s->rows[row], s->dataset->name, what);
    g_free(what);
    return false;
}

bool orch_subset_set_labels(struct orch_subset *s, const int32_t *labels, int64_t count,
                            GError **error)
{
    if (!count_is_right(s, count, "labels", error))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (labels[i] < 0 || labels[i] >= s->classes)
            return refuse_row(
                s, i, g_strdup_printf("label %d, expected 0 to %d", (int)labels[i], s->classes - 1),
                error);
    int32_t *copy = g_memdup2(labels, sizeof *labels * (gsize)count);
    g_clear_pointer(&s->targets, g_free);
    g_free(s->labels);
    s->labels = copy;
    return true;
}

/* Copies the rows with a label, and returns their number. */
static int64_t keep_labelled(struct orch_subset *s, const int32_t *labels)
{
    int64_t kept = 0;
    s->labels = g_renew(int32_t, s->labels, s->count + 1);
    for (int64_t i = 0; i < s->count; i++) {
        if (labels[i] < 0)
            continue;
        s->rows[kept] = s->rows[i];
        s->labels[kept] = labels[i];
        if (s->weights)
            s->weights[kept] = s->weights[i];
        kept++;
    }
    return kept;
}

bool orch_subset_relabel(struct orch_subset *s, const int32_t *labels, int64_t count,
                         const char *const *names, int class_count, GError **error)
{
    if (!count_is_right(s, count, "labels", error))
        return false;
    int64_t labelled = 0;
    for (int64_t i = 0; i < count; i++) {
        if (labels[i] < -1 || labels[i] >= class_count)
            return refuse_row(
                s, i,
                g_strdup_printf("label %d, expected -1 to %d", (int)labels[i], class_count - 1),
                error);
        labelled += labels[i] >= 0;
    }
    if (!labelled) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "no image of '%s' got a label",
                       s->dataset->name);
        return false;
    }
    g_clear_pointer(&s->targets, g_free);
    s->count = keep_labelled(s, labels);
    g_strfreev(s->label_names);
    s->label_names = g_new0(char *, class_count + 1);
    s->class_of = g_renew(int, s->class_of, class_count + 1);
    for (int i = 0; i < class_count; i++) {
        s->label_names[i] = g_strdup(names[i]);
        s->class_of[i] = i;
    }
    s->classes = class_count;
    return true;
}

/* The class with the greatest probability, or -1 if these are no probabilities. */
static int32_t most_probable(const float *row, int classes, double *out_sum)
{
    int32_t best = 0;
    *out_sum = 0;
    for (int c = 0; c < classes; c++) {
        if (!(row[c] >= 0) || !(row[c] <= 1)) /* false for NaN */
            return -1;
        *out_sum += (double)row[c];
        best = row[c] > row[best] ? c : best;
    }
    return fabs(*out_sum - 1) <= SUM_TOLERANCE ? best : -1;
}

/* What is wrong with a row of targets. Caller frees. */
static char *fault_of(const float *row, int classes, double sum)
{
    for (int c = 0; c < classes; c++)
        if (!(row[c] >= 0) || !(row[c] <= 1))
            return g_strdup_printf("the probability of class %d is %g, expected 0 to 1", c,
                                   (double)row[c]);
    return g_strdup_printf("the probabilities add up to %g, expected 1 within %g", sum,
                           SUM_TOLERANCE);
}

bool orch_subset_set_targets(struct orch_subset *s, const float *targets, int64_t count,
                             GError **error)
{
    if (!count_is_right(s, count, "targets", error))
        return false;
    g_autofree int32_t *labels = g_new(int32_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        const float *row = targets + i * s->classes;
        double sum;
        labels[i] = most_probable(row, s->classes, &sum);
        if (labels[i] < 0)
            return refuse_row(s, i, fault_of(row, s->classes, sum), error);
    }
    float *copy = g_memdup2(targets, sizeof *targets * (gsize)count * (gsize)s->classes);
    g_free(s->targets);
    g_free(s->labels);
    s->targets = copy;
    s->labels = g_steal_pointer(&labels);
    return true;
}

bool orch_subset_set_weights(struct orch_subset *s, const float *weights, int64_t count,
                             GError **error)
{
    if (!count_is_right(s, count, "weights", error))
        return false;
    bool some_count = false;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(weights[i]) || weights[i] < 0)
            return refuse_row(s, i,
                              g_strdup_printf("weight %g, expected a finite number from 0 on",
                                              (double)weights[i]),
                              error);
        some_count = some_count || weights[i] > 0;
    }
    if (count && !some_count) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "all weights of the subset of '%s' are 0: no row would be learned from",
                       s->dataset->name);
        return false;
    }
    float *copy = g_memdup2(weights, sizeof *weights * (gsize)count);
    g_free(s->weights);
    s->weights = copy;
    return true;
}
