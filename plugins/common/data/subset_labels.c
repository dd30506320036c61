/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels that the rows of a subset get in place of the data set's. */
#include "plugins/common/data/image_set.h"

#include "lib/base/error.h"

static bool count_is_right(const struct orch_subset *s, int64_t count, GError **error)
{
    if (count == s->count)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "there are labels for %" G_GINT64_FORMAT
                   " rows, but the subset of '%s' has %" G_GINT64_FORMAT,
                   count, s->dataset->name, s->count);
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
    if (!count_is_right(s, count, error))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (labels[i] < 0 || labels[i] >= s->classes)
            return refuse_row(
                s, i, g_strdup_printf("label %d, expected 0 to %d", (int)labels[i], s->classes - 1),
                error);
    int32_t *copy = g_memdup2(labels, sizeof *labels * (gsize)count);
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
        kept++;
    }
    return kept;
}

bool orch_subset_relabel(struct orch_subset *s, const int32_t *labels, int64_t count,
                         const char *const *names, int class_count, GError **error)
{
    if (!count_is_right(s, count, error))
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
