/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images of the picture are a small data set, which orch_picture_samples draws: a class is a
 * row. They are made from the plans of the transforms, as those of the training are, but stay
 * bytes: the mean colour is what 0 after normalisation stands for. */
#include "plugins/batchaug/copies_picture.h"

#include "plugins/common/data/picture.h"
#include "plugins/common/training/work.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2, COPIES = 4, COLUMNS_MAX = COPIES + 2, SIDE = 112 };

/* The mean colour as bytes: that of the transforms' normalisation, or of the set. */
static void mean_bytes(const struct orch_transforms *transforms, const struct orch_image_set *set,
                       uint8_t out[3])
{
    const float *mean = set->mean;
    for (int i = 0; i < transforms->count; i++)
        if (transforms->items[i].has_values)
            mean = transforms->items[i].mean;
    for (int c = 0; c < 3; c++)
        out[c] = (uint8_t)lrint(255 * CLAMP((double)mean[c], 0, 1));
}

static void make_image(const struct orch_transform_plan *plan, struct orch_image_shape shape,
                       const uint8_t mean[3], const uint8_t *image, uint8_t *out)
{
    const int plane = shape.width * shape.height;
    for (int c = 0; c < shape.channels; c++)
        for (int i = 0; i < plane; i++) {
            const int from = orch_pixel_source(plan, shape, i % shape.width, i / shape.width);
            *out++ = from >= 0                 ? image[c * plane + from]
                     : from == ORCH_PIXEL_MEAN ? mean[c % 3]
                                               : 0;
        }
}

static bool has_cutout(const struct orch_transforms *transforms)
{
    for (int i = 0; i < transforms->count; i++)
        if (transforms->items[i].kind == ORCH_TRANSFORM_CUTOUT)
            return true;
    return false;
}

/* The plans of a row: none, the cutout of the first copy alone, and the copies. Returns their
 * number. */
static int plan_row(const struct orch_transforms *transforms, const struct orch_image_set *set,
                    uint64_t seed, int row, struct orch_transform_plan out[COLUMNS_MAX])
{
    const int first = has_cutout(transforms) ? 2 : 1;
    memset(out, 0, sizeof *out * COLUMNS_MAX);
    for (int copy = 0; copy < COPIES; copy++)
        orch_transforms_draw(transforms, set->width, set->height,
                             orch_transform_stream(seed, 0, row, copy), &out[first + copy]);
    if (first == 2)
        out[1].cutout = out[2].cutout;
    return first + COPIES;
}

/* An empty set of `rows` classes, with room for their images. */
static struct orch_image_set *make_set(const struct orch_subset *subset, int rows)
{
    const struct orch_image_set *d = subset->dataset;
    struct orch_image_set *set = g_new0(struct orch_image_set, 1);
    const gsize bytes = (gsize)d->channels * (gsize)d->height * (gsize)d->width;
    set->name = g_strdup(d->name);
    set->channels = d->channels;
    set->height = d->height;
    set->width = d->width;
    set->classes = rows;
    set->images = g_malloc(bytes * (gsize)rows * COLUMNS_MAX);
    set->labels = g_new(int32_t, rows * COLUMNS_MAX);
    set->class_names = g_new0(char *, rows + 1);
    for (int row = 0; row < rows; row++)
        set->class_names[row] = g_strdup(orch_subset_class_name(subset, row));
    return set;
}

/* The first image of a class, or NULL. */
static const uint8_t *first_image(const struct orch_subset *subset, int label)
{
    for (int64_t i = 0; i < subset->count; i++)
        if (orch_subset_label(subset, i) == label)
            return orch_subset_image(subset, i);
    return NULL;
}

static void add_row(struct orch_image_set *set, const struct orch_subset *subset,
                    const struct orch_transforms *transforms, uint64_t seed, int row)
{
    const struct orch_image_shape shape = {set->channels, set->height, set->width};
    const int64_t bytes = (int64_t)set->channels * set->height * set->width;
    const uint8_t *image = first_image(subset, row);
    struct orch_transform_plan plans[COLUMNS_MAX];
    uint8_t mean[3];
    mean_bytes(transforms, subset->dataset, mean);
    const int columns = plan_row(transforms, set, seed, row, plans);
    for (int i = 0; i < columns && image; i++) {
        make_image(&plans[i], shape, mean, image, set->images + set->count * bytes);
        set->labels[set->count++] = row;
    }
}

/* "an image each of Sandal and Bag: as it is, with cutout alone, and 4 copies with random
 * transforms" */
static void describe(const struct orch_image_set *set, int rows, bool has_cutout, GString *out)
{
    g_string_append(out, rows > 1 ? "an image each of " : "an image of ");
    for (int row = 0; row < rows; row++)
        g_string_append_printf(out, "%s%s",
                               row == 0         ? ""
                               : row + 1 < rows ? ", "
                                                : " and ",
                               set->class_names[row]);
    g_string_append_printf(out, ": as it is, %sand %d copies with random transforms",
                           has_cutout ? "with cutout alone, " : "", COPIES);
}

bool orch_batchaug_picture(const struct orch_session *s, const char *path, GString *description,
                           GError **error)
{
    struct orch_transforms transforms = {0};
    if (!orch_work_transforms(s->training, &transforms, error))
        return false;
    const uint64_t seed = s->host->derive_seed(s->host, "picture");
    const int rows = MIN(ROWS, s->train->classes);
    struct orch_image_set *set = make_set(s->train, rows);
    for (int row = 0; row < rows; row++)
        add_row(set, s->train, &transforms, seed, row);
    struct orch_subset *all = orch_subset_new(set, NULL, 0, 0, 0, error);
    bool ok = all && orch_picture_samples(all, rows, COLUMNS_MAX, SIDE, path, NULL, error);
    describe(set, rows, has_cutout(&transforms), description);
    orch_subset_free(all);
    orch_image_set_free(set);
    return ok;
}
