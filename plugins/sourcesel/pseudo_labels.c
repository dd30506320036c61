/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/sourcesel/pseudo_labels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The index of the smallest value that is not in `taken`; the first of equal ones. */
static int smallest(const double *values, int count, const int *taken, int taken_count)
{
    int best = -1;
    for (int i = 0; i < count; i++) {
        bool is_taken = false;
        for (int j = 0; j < taken_count; j++)
            is_taken = is_taken || taken[j] == i;
        if (!is_taken && (best < 0 || values[i] < values[best]))
            best = i;
    }
    return best;
}

struct orch_triple orch_sourcesel_nearest(const double *distances, int count)
{
    struct orch_triple triple;
    for (int i = 0; i < 3; i++)
        triple.source[i] = smallest(distances, count, triple.source, i);
    return triple;
}

double orch_sourcesel_triangle_area(double a, double b, double c)
{
    const double s = (a + b + c) / 2;
    const double square = s * (s - a) * (s - b) * (s - c);
    return square > 0 ? sqrt(square) : 0;
}

struct orch_triple orch_sourcesel_cfa(const double *distances, const double *between, int count)
{
    const int closest = smallest(distances, count, NULL, 0);
    int farthest = closest == 0 ? 1 : 0, third = -1;
    double largest = -1;
    for (int i = 0; i < count; i++)
        if (i != closest && distances[i] > distances[farthest])
            farthest = i;
    for (int i = 0; i < count; i++) {
        if (i == closest || i == farthest)
            continue;
        const double area = orch_sourcesel_triangle_area(between[closest * count + farthest],
                                                         between[closest * count + i],
                                                         between[farthest * count + i]);
        if (area > largest) {
            largest = area;
            third = i;
        }
    }
    return (struct orch_triple){{closest, farthest, third}};
}

static int compare_triples(const void *a, const void *b)
{
    const struct orch_triple *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->source[i] != y->source[i])
            return x->source[i] < y->source[i] ? -1 : 1;
    return 0;
}

struct orch_triple_labels *orch_sourcesel_labels_new(const struct orch_triple *triples,
                                                     int64_t count, int64_t least)
{
    struct orch_triple_labels *labels = g_new0(struct orch_triple_labels, 1);
    g_autofree struct orch_triple *sorted = g_new(struct orch_triple, count + 1);
    labels->triples = g_array_new(FALSE, FALSE, sizeof(struct orch_triple));
    labels->images = g_array_new(FALSE, FALSE, sizeof(int64_t));
    memcpy(sorted, triples, sizeof *sorted * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_triples);
    for (int64_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && compare_triples(&sorted[from], &sorted[to]) == 0;)
            to++;
        const int64_t images = to - from;
        if (images < least)
            continue;
        g_array_append_val(labels->triples, sorted[from]);
        g_array_append_val(labels->images, images);
    }
    return labels;
}

int32_t orch_sourcesel_label_of(const struct orch_triple_labels *labels, struct orch_triple triple)
{
    const struct orch_triple *all = (const struct orch_triple *)(void *)labels->triples->data;
    const struct orch_triple *found =
        labels->triples->len
            ? bsearch(&triple, all, labels->triples->len, sizeof triple, compare_triples)
            : NULL;
    return found ? (int32_t)(found - all) : -1;
}

void orch_sourcesel_labels_free(struct orch_triple_labels *labels)
{
    if (!labels)
        return;
    g_array_unref(labels->triples);
    g_array_unref(labels->images);
    g_free(labels);
}
