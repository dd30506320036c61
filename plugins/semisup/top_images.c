/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The candidates of a class are collected over all images, then sorted: O(n P) memory and
 * O(n P log n) time, which is little beside the forward passes that made the scores. */
#include "plugins/semisup/top_images.h"

#include "lib/base/error.h"

#include <math.h>
#include <stdlib.h>

struct candidate {
    float score;
    int64_t id, position;
};

bool orch_semisup_select_fits(int64_t count, int classes, int64_t top_classes,
                              int64_t images_per_class, GError **error)
{
    if (top_classes < 1 || top_classes > classes) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "choose 'p' from 1 to the number of classes",
                       "p: %" G_GINT64_FORMAT
                       " classes for each image, but there are only %d classes",
                       top_classes, classes);
        return false;
    }
    if (images_per_class < 1 || images_per_class > count) {
        orch_error_set(
            error, ORCH_ERROR_RECIPE, "choose 'k' from 1 to the number of unlabelled images",
            "k: %" G_GINT64_FORMAT " images for each class, but there are only %" G_GINT64_FORMAT
            " unlabelled images",
            images_per_class, count);
        return false;
    }
    return true;
}

/* The highest score first, then the lowest id. */
static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Writes the `top` classes of highest score to `out`, the lower class first where scores are equal.
 * False if a score is not a number. */
static bool best_classes(const float *scores, int classes, int top, int *out)
{
    int kept = 0;
    for (int c = 0; c < classes; c++) {
        if (isnan(scores[c]))
            return false;
        int at = kept;
        while (at > 0 && scores[c] > scores[out[at - 1]])
            at--;
        if (at >= top)
            continue;
        kept = MIN(kept + 1, top);
        for (int i = kept - 1; i > at; i--)
            out[i] = out[i - 1];
        out[at] = c;
    }
    return true;
}

/* Collects the candidates of every class. False if a score is not a number. */
static bool collect(GArray **by_class, const float *scores, const int64_t *ids, int64_t count,
                    int classes, int top, GError **error)
{
    g_autofree int *best = g_new(int, top);
    for (int64_t i = 0; i < count; i++) {
        const float *row = scores + i * classes;
        if (!best_classes(row, classes, top, best)) {
            orch_error_set(error, ORCH_ERROR_TRIAL, "lower the teacher's learning rate",
                           "the teacher's scores of an image are not numbers");
            return false;
        }
        for (int j = 0; j < top; j++) {
            struct candidate candidate = {row[best[j]], ids[i], i};
            g_array_append_val(by_class[best[j]], candidate);
        }
    }
    return true;
}

static struct orch_top_images *selection_new(GArray **by_class, int classes,
                                             int64_t images_per_class)
{
    struct orch_top_images *s = g_new0(struct orch_top_images, 1);
    s->classes = classes;
    s->candidates = g_new0(int64_t, classes);
    s->selected = g_new0(int64_t, classes);
    for (int c = 0; c < classes; c++) {
        s->candidates[c] = by_class[c]->len;
        s->selected[c] = MIN(images_per_class, s->candidates[c]);
        s->count += s->selected[c];
    }
    s->positions = g_new(int64_t, s->count);
    s->labels = g_new(int32_t, s->count);
    s->scores = g_new(float, s->count);
    return s;
}

static void take_best(struct orch_top_images *s, GArray **by_class)
{
    int64_t at = 0;
    for (int c = 0; c < s->classes; c++) {
        g_array_sort(by_class[c], compare_candidates);
        for (int64_t i = 0; i < s->selected[c]; i++, at++) {
            const struct candidate *best = &g_array_index(by_class[c], struct candidate, i);
            s->positions[at] = best->position;
            s->labels[at] = c;
            s->scores[at] = best->score;
        }
    }
}

struct orch_top_images *orch_semisup_select(const float *scores, const int64_t *ids, int64_t count,
                                            int classes, int64_t top_classes,
                                            int64_t images_per_class, GError **error)
{
    if (!orch_semisup_select_fits(count, classes, top_classes, images_per_class, error))
        return NULL;
    struct orch_top_images *selection = NULL;
    GArray **by_class = g_new(GArray *, classes);
    for (int c = 0; c < classes; c++)
        by_class[c] = g_array_new(FALSE, FALSE, sizeof(struct candidate));
    if (collect(by_class, scores, ids, count, classes, (int)top_classes, error)) {
        selection = selection_new(by_class, classes, images_per_class);
        take_best(selection, by_class);
    }
    for (int c = 0; c < classes; c++)
        g_array_unref(by_class[c]);
    g_free(by_class);
    return selection;
}

void orch_top_images_free(struct orch_top_images *selection)
{
    if (!selection)
        return;
    g_free(selection->positions);
    g_free(selection->labels);
    g_free(selection->scores);
    g_free(selection->candidates);
    g_free(selection->selected);
    g_free(selection);
}
