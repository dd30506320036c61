/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/data/image_set.h"

#include "lib/base/error.h"
#include "plugins/common/data/random.h"

#include <string.h>

/* Selects and renumbers classes; without a list all of them, unchanged. */
static bool choose_classes(struct orch_subset *s, const int64_t *classes, size_t count,
                           GError **error)
{
    int all = s->dataset->classes;
    s->classes = count ? (int)count : all;
    s->class_of = g_new0(int, s->classes + 1);
    s->label_of = g_new(int32_t, all + 1);
    for (int i = 0; i < all; i++)
        s->label_of[i] = count ? -1 : i;
    for (int i = 0; i < s->classes; i++) {
        int64_t wanted = count ? classes[i] : i;
        if (wanted < 0 || wanted >= all || (count && s->label_of[wanted] >= 0)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           wanted < 0 || wanted >= all
                               ? "class %" G_GINT64_FORMAT " of '%s': expected 0 to %d"
                               : "class %" G_GINT64_FORMAT " of '%s' (0 to %d) is given twice",
                           wanted, s->dataset->name, all - 1);
            return false;
        }
        s->class_of[i] = (int)wanted;
        s->label_of[wanted] = i;
    }
    return true;
}

int32_t orch_subset_label(const struct orch_subset *s, int64_t i)
{
    return s->labels ? s->labels[i] : s->label_of[s->dataset->labels[s->rows[i]]];
}

/* Positions in the subset by label, each class in its own random order. */
static GArray **positions_by_label(const struct orch_subset *s, uint64_t seed)
{
    GArray **positions = g_new0(GArray *, s->classes + 1);
    for (int i = 0; i < s->classes; i++)
        positions[i] = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int64_t i = 0; i < s->count; i++)
        g_array_append_val(positions[orch_subset_label(s, i)], i);
    for (int i = 0; i < s->classes; i++)
        orch_random_shuffle((int64_t *)(void *)positions[i]->data, positions[i]->len,
                            orch_random_stream_of(seed, 0xc1a55, (uint64_t)s->class_of[i]));
    return positions;
}

static void positions_free(GArray **positions, int classes)
{
    for (int i = 0; i < classes; i++)
        g_array_unref(positions[i]);
    g_free(positions);
}

static int compare_positions(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Replaces an array of elements of `size` bytes by those at `positions`; NULL stays NULL. */
static void *pick(void *array, size_t size, const int64_t *positions, int64_t count)
{
    if (!array)
        return NULL;
    char *picked = g_malloc(size * (size_t)count + size);
    for (int64_t i = 0; i < count; i++)
        memcpy(picked + (size_t)i * size, (char *)array + (size_t)positions[i] * size, size);
    g_free(array);
    return picked;
}

/* Keeps the rows at `positions`, in this order. */
static void keep_as_given(struct orch_subset *s, const int64_t *positions, int64_t count)
{
    s->rows = pick(s->rows, sizeof *s->rows, positions, count);
    s->labels = pick(s->labels, sizeof *s->labels, positions, count);
    s->count = count;
}

/* Keeps the rows at `positions`, in the order that they have in the subset. */
static void keep(struct orch_subset *s, int64_t *positions, int64_t count)
{
    qsort(positions, (size_t)count, sizeof *positions, compare_positions);
    keep_as_given(s, positions, count);
}

/* Keeps the first `most` positions of each class's random order. */
static void keep_first(struct orch_subset *s, GArray **positions, const int64_t *most)
{
    g_autofree int64_t *kept = g_new(int64_t, s->count + 1);
    int64_t count = 0;
    for (int i = 0; i < s->classes; i++)
        for (int64_t j = 0; j < most[i]; j++)
            kept[count++] = g_array_index(positions[i], int64_t, j);
    keep(s, kept, count);
}

struct orch_subset *orch_subset_new(const struct orch_image_set *dataset, const int64_t *classes,
                                    size_t class_count, int64_t per_class, uint64_t seed,
                                    GError **error)
{
    struct orch_subset *s = g_new0(struct orch_subset, 1);
    s->dataset = dataset;
    if (!choose_classes(s, classes, class_count, error)) {
        orch_subset_free(s);
        return NULL;
    }
    s->rows = g_new(int64_t, dataset->count + 1);
    for (int64_t i = 0; i < dataset->count; i++)
        if (s->label_of[dataset->labels[i]] >= 0)
            s->rows[s->count++] = i;
    GArray **positions = positions_by_label(s, seed);
    g_autofree int64_t *most = g_new0(int64_t, s->classes + 1);
    int empty = -1;
    for (int i = 0; i < s->classes; i++) {
        most[i] =
            per_class > 0 ? MIN(per_class, (int64_t)positions[i]->len) : (int64_t)positions[i]->len;
        empty = most[i] == 0 && empty < 0 ? i : empty;
    }
    if (empty >= 0)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "class '%s' of '%s' has no images",
                       orch_subset_class_name(s, empty), dataset->name);
    else if (per_class > 0)
        keep_first(s, positions, most);
    positions_free(positions, s->classes);
    if (empty >= 0) {
        orch_subset_free(s);
        return NULL;
    }
    return s;
}

static struct orch_subset *copy_of(const struct orch_subset *s)
{
    struct orch_subset *copy = g_new0(struct orch_subset, 1);
    *copy = *s;
    const gsize count = (gsize)s->count, classes = (gsize)s->classes;
    /* one element more, because g_memdup2 returns NULL for no bytes */
    copy->rows = g_memdup2(s->rows, sizeof *s->rows * (count + 1));
    copy->label_of = g_memdup2(s->label_of, sizeof *s->label_of * (gsize)(s->dataset->classes + 1));
    copy->class_of = g_memdup2(s->class_of, sizeof *s->class_of * (classes + 1));
    copy->labels = g_memdup2(s->labels, sizeof *s->labels * count);
    copy->label_names = g_strdupv(s->label_names);
    return copy;
}

struct orch_subset *orch_subset_pick(const struct orch_subset *subset, const int64_t *positions,
                                     int64_t count)
{
    struct orch_subset *picked = copy_of(subset);
    keep_as_given(picked, positions, count);
    return picked;
}

void orch_subset_limit(struct orch_subset *subset, int64_t count, uint64_t seed)
{
    if (count <= 0 || count >= subset->count)
        return;
    g_autofree int64_t *positions = g_new(int64_t, subset->count);
    for (int64_t i = 0; i < subset->count; i++)
        positions[i] = i;
    orch_random_shuffle(positions, subset->count, orch_random_stream_of(seed, 0x11317, 0));
    keep(subset, positions, count);
}

void orch_subset_free(struct orch_subset *subset)
{
    if (!subset)
        return;
    g_free(subset->rows);
    g_free(subset->label_of);
    g_free(subset->class_of);
    g_free(subset->labels);
    g_strfreev(subset->label_names);
    g_free(subset);
}

const uint8_t *orch_subset_image(const struct orch_subset *s, int64_t i)
{
    const struct orch_image_set *d = s->dataset;
    return d->images + s->rows[i] * d->channels * d->height * d->width;
}

const char *orch_subset_class_name(const struct orch_subset *s, int label)
{
    if (s->label_names)
        return s->label_names[label];
    return s->dataset->class_names ? s->dataset->class_names[s->class_of[label]] : "?";
}

int64_t *orch_subset_counts(const struct orch_subset *s)
{
    int64_t *counts = g_new0(int64_t, s->classes + 1);
    for (int64_t i = 0; i < s->count; i++)
        counts[orch_subset_label(s, i)]++;
    return counts;
}
