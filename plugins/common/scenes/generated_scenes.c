/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each image is drawn from a random stream of its own. All arithmetic on pixels is of integers, so
 * that every machine makes the same bytes. */
#include "plugins/common/scenes/generated_scenes.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/data/random.h"

#include <math.h>
#include <string.h>

#define SIDE 28 /* of an image of Fashion-MNIST */
#define ONE 256 /* fixed point */
#define INK 16  /* darker pixels of an object are outside of it */
#define TRIES 20
#define COVERED_MOST 0.4 /* of either object, where two overlap */
#define SCENE_STREAM 0x5ce7e5

struct orch_generated_scenes orch_generated_scenes_usual(enum orch_split split, int64_t count,
                                                         uint64_t seed)
{
    return (struct orch_generated_scenes){.split = split,
                                          .count = count,
                                          .side_min = 96,
                                          .side_max = 160,
                                          .objects_min = 1,
                                          .objects_max = 4,
                                          .size_min = 0.2,
                                          .size_max = 0.6,
                                          .seed = seed};
}

static bool options_are_valid(const struct orch_generated_scenes *o, GError **error)
{
    if (o->count >= 1 && o->count <= ORCH_SCENES_MAX && o->side_min >= 16 &&
        o->side_max >= o->side_min && o->side_max <= 1024 && o->objects_min >= 1 &&
        o->objects_max >= o->objects_min && o->objects_max <= 64 && o->size_min > 0 &&
        o->size_max >= o->size_min && o->size_max <= 1)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "%" G_GINT64_FORMAT
                   " generated images of %d to %d pixels with %d to %d objects of sizes %g to %g "
                   "are not possible: expected 1 to %d images, 16 to 1024 pixels, 1 to 64 objects, "
                   "sizes above 0 and up to 1, the smaller first",
                   o->count, o->side_min, o->side_max, o->objects_min, o->objects_max, o->size_min,
                   o->size_max, ORCH_SCENES_MAX);
    return false;
}

/* ---- objects ----------------------------------------------------------------------------------
 */

/* An object cut out of its image: brightness and coverage, each with a margin of one pixel. */
struct cutout {
    int width, height;
    uint8_t light[SIDE + 2][SIDE + 2], cover[SIDE + 2][SIDE + 2];
};

/* A pixel belongs to the object if there is ink on both of its sides, and above and below it: dark
 * parts inside belong to it, too. */
static void find_spans(const uint8_t *image, int step, int line, int from[SIDE], int to[SIDE])
{
    for (int i = 0; i < SIDE; i++) {
        from[i] = SIDE;
        to[i] = -1;
        for (int j = 0; j < SIDE; j++)
            if (image[i * line + j * step] > INK) {
                from[i] = MIN(from[i], j);
                to[i] = j;
            }
    }
}

/* False if the image has no ink. */
static bool cut_out(const uint8_t *image, struct cutout *out)
{
    int left[SIDE], right[SIDE], top[SIDE], bottom[SIDE];
    int x1 = SIDE, x2 = -1, y1 = SIDE, y2 = -1;
    find_spans(image, 1, SIDE, left, right);
    find_spans(image, SIDE, 1, top, bottom);
    for (int i = 0; i < SIDE; i++) {
        x1 = MIN(x1, left[i]);
        x2 = MAX(x2, right[i]);
        y1 = MIN(y1, top[i]);
        y2 = MAX(y2, bottom[i]);
    }
    if (x2 < x1)
        return false;
    *out = (struct cutout){.width = x2 - x1 + 1, .height = y2 - y1 + 1};
    for (int y = y1; y <= y2; y++)
        for (int x = x1; x <= x2; x++) {
            const bool is_inside = x >= left[y] && x <= right[y] && y >= top[x] && y <= bottom[x];
            out->light[y - y1 + 1][x - x1 + 1] = image[y * SIDE + x];
            out->cover[y - y1 + 1][x - x1 + 1] = is_inside ? 255 : 0;
        }
    return true;
}

/* Bilinear value at (u, v), in 1 / ONE pixels of the grid, each below the last of them. */
static int sample(const uint8_t grid[SIDE + 2][SIDE + 2], int u, int v)
{
    const int x = u / ONE, y = v / ONE, fx = u % ONE, fy = v % ONE;
    const int upper = grid[y][x] * (ONE - fx) + grid[y][x + 1] * fx;
    const int lower = grid[y + 1][x] * (ONE - fx) + grid[y + 1][x + 1] * fx;
    return (upper * (ONE - fy) + lower * fy) / (ONE * ONE);
}

struct canvas {
    uint8_t *pixels;
    int width, height;
};

/* An object's place, in pixels. */
struct place {
    int x, y, width, height;
};

/* Where pixel `i` of `count` falls on an axis of `cells` cells behind a margin of one. */
static int grid_at(int i, int count, int cells)
{
    return (2 * i + 1) * cells * ONE / (2 * count) + ONE / 2;
}

static void paste(const struct cutout *object, struct place place, const int tint[3],
                  const struct canvas *canvas)
{
    for (int y = 0; y < place.height; y++)
        for (int x = 0; x < place.width; x++) {
            const int u = grid_at(x, place.width, object->width);
            const int v = grid_at(y, place.height, object->height);
            const int cover = sample(object->cover, u, v), light = sample(object->light, u, v);
            uint8_t *at =
                canvas->pixels + ((int64_t)(place.y + y) * canvas->width + place.x + x) * 3;
            for (int c = 0; c < 3; c++)
                at[c] = (uint8_t)((at[c] * (255 - cover) +
                                   tint[c] * (80 + light * 175 / 255) / 255 * cover) /
                                  255);
        }
}

/* ---- the canvas -------------------------------------------------------------------------------
 */

#define WAVES 3
#define CELLS_MAX 17 /* grid points of the finest wave */

/* Value noise: random values at the points of a grid, and between them the bilinear ones. */
static void add_wave(uint64_t *random, int cells, int strength, const struct canvas *canvas,
                     int *sums)
{
    int grid[CELLS_MAX][CELLS_MAX][3];
    for (int y = 0; y <= cells; y++)
        for (int x = 0; x <= cells; x++)
            for (int c = 0; c < 3; c++)
                grid[y][x][c] =
                    (int)orch_random_below_32(random, (uint32_t)(2 * strength + 1)) - strength;
    g_autofree int *at = g_new(int, canvas->width); /* of each column: the place on the grid */
    for (int x = 0; x < canvas->width; x++)
        at[x] = x * cells * ONE / canvas->width;
    for (int y = 0; y < canvas->height; y++) {
        const int v = y * cells * ONE / canvas->height, row = v / ONE, fy = v % ONE;
        int line[CELLS_MAX * 3];
        for (int x = 0; x <= cells; x++)
            for (int c = 0; c < 3; c++)
                line[3 * x + c] = grid[row][x][c] * (ONE - fy) + grid[row + 1][x][c] * fy;
        for (int x = 0; x < canvas->width; x++, sums += 3) {
            const int *left = line + at[x] / ONE * 3, *right = left + 3, fx = at[x] % ONE;
            for (int c = 0; c < 3; c++)
                sums[c] += (left[c] * (ONE - fx) + right[c] * fx) / (ONE * ONE);
        }
    }
}

static void paint_texture(uint64_t *random, const struct canvas *canvas)
{
    static const struct {
        int cells, strength;
    } OF[WAVES] = {{3, 60}, {8, 40}, {16, 25}};
    const int64_t count = (int64_t)canvas->width * canvas->height * 3;
    g_autofree int *sums = g_new(int, count);
    int base[3];
    for (int c = 0; c < 3; c++)
        base[c] = 40 + (int)orch_random_below_32(random, 176);
    for (int64_t i = 0; i < count; i += 3)
        memcpy(sums + i, base, sizeof base);
    for (int w = 0; w < WAVES; w++)
        add_wave(random, OF[w].cells, OF[w].strength, canvas, sums);
    for (int64_t i = 0; i < count; i++)
        canvas->pixels[i] = (uint8_t)CLAMP(sums[i], 0, 255);
}

static bool covers_too_much(struct place a, struct place b)
{
    const int w = MIN(a.x + a.width, b.x + b.width) - MAX(a.x, b.x);
    const int h = MIN(a.y + a.height, b.y + b.height) - MAX(a.y, b.y);
    const int least = MIN(a.width * a.height, b.width * b.height);
    return w > 0 && h > 0 && w * h > COVERED_MOST * least;
}

/* Draws a place that leaves enough of the others. False if there is none after some tries. */
static bool find_place(uint64_t *random, const struct orch_generated_scenes *o,
                       const struct canvas *canvas, const struct cutout *object,
                       const GArray *taken, struct place *out)
{
    const double least = o->size_min, range = o->size_max - o->size_min;
    for (int i = 0; i < TRIES; i++) {
        const double longer =
            MIN(canvas->width, canvas->height) * (least + range * orch_random_unit(random));
        const double stretch = 0.8 + 0.4 * orch_random_unit(random); /* of the width */
        const double w = object->width * stretch, h = object->height;
        out->width = MAX(2, (int)(longer * w / MAX(w, h)));
        out->height = MAX(2, (int)(longer * h / MAX(w, h)));
        out->x = (int)orch_random_below_32(random, (uint32_t)(canvas->width - out->width + 1));
        out->y = (int)orch_random_below_32(random, (uint32_t)(canvas->height - out->height + 1));
        bool is_free = true;
        for (guint k = 0; k < taken->len; k++)
            is_free &= !covers_too_much(g_array_index(taken, struct place, k), *out);
        if (is_free)
            return true;
    }
    return false;
}

/* ---- the set ----------------------------------------------------------------------------------
 */

struct making {
    const struct orch_generated_scenes *options;
    const struct orch_subset *clothes;
    struct orch_scene_set *set;
    GArray *boxes, *labels;
};

static uint64_t stream_of(const struct orch_generated_scenes *o, int64_t image)
{
    return orch_random_stream_of(o->seed, SCENE_STREAM + (uint64_t)o->split, (uint64_t)image);
}

static int draw_side(const struct orch_generated_scenes *o, uint64_t *random)
{
    return o->side_min +
           (int)orch_random_below_32(random, (uint32_t)(o->side_max - o->side_min + 1));
}

static void add_object(const struct making *m, const struct canvas *canvas, uint64_t *random,
                       GArray *taken)
{
    const int64_t row = (int64_t)orch_random_below_32(random, (uint32_t)m->clothes->count);
    struct cutout object;
    struct place place;
    int tint[3];
    for (int c = 0; c < 3; c++)
        tint[c] = 100 + (int)orch_random_below_32(random, 156);
    if (!cut_out(orch_subset_image(m->clothes, row), &object) ||
        !find_place(random, m->options, canvas, &object, taken, &place))
        return;
    paste(&object, place, tint, canvas);
    const struct orch_box box = {(float)place.x / (float)canvas->width,
                                 (float)place.y / (float)canvas->height,
                                 (float)(place.x + place.width) / (float)canvas->width,
                                 (float)(place.y + place.height) / (float)canvas->height};
    const int32_t label = orch_subset_label(m->clothes, row) + 1;
    g_array_append_val(taken, place);
    g_array_append_val(m->boxes, box);
    g_array_append_val(m->labels, label);
}

static void make_image(const struct making *m, int64_t i)
{
    const struct orch_generated_scenes *o = m->options;
    uint64_t random = stream_of(o, i);
    const int width = draw_side(o, &random), height = draw_side(o, &random);
    const struct canvas canvas = {m->set->pixels + m->set->pixels_at[i], width, height};
    const uint32_t range = (uint32_t)(o->objects_max - o->objects_min + 1);
    const int objects = o->objects_min + (int)orch_random_below_32(&random, range);
    g_autoptr(GArray) taken = g_array_new(FALSE, FALSE, sizeof(struct place));
    paint_texture(&random, &canvas);
    for (int k = 0; k < objects; k++)
        add_object(m, &canvas, &random, taken);
    m->set->first[i + 1] = m->boxes->len;
}

/* Sizes of all images, and memory for them. */
static bool make_memory(const struct orch_generated_scenes *o, struct orch_scene_set *set,
                        GError **error)
{
    set->first = g_new0(int64_t, o->count + 1);
    set->pixels_at = g_new0(int64_t, o->count + 1);
    set->widths = g_new(int32_t, o->count);
    set->heights = g_new(int32_t, o->count);
    for (int64_t i = 0; i < o->count; i++) {
        uint64_t random = stream_of(o, i);
        set->widths[i] = draw_side(o, &random);
        set->heights[i] = draw_side(o, &random);
        set->pixels_at[i + 1] = set->pixels_at[i] + (int64_t)set->widths[i] * set->heights[i] * 3;
    }
    const int64_t bytes = set->pixels_at[o->count];
    set->pixels = bytes <= ORCH_IMAGE_SET_BYTES_MAX ? g_try_malloc((gsize)bytes) : NULL;
    if (set->pixels)
        return true;
    g_autofree char *text = orch_bytes_format(bytes);
    orch_error_set(error, ORCH_ERROR_RECIPE, "use fewer or smaller images",
                   "%" G_GINT64_FORMAT " generated images take %s of memory", o->count, text);
    return false;
}

static struct orch_scene_set *make_set(const struct orch_generated_scenes *o,
                                       const struct orch_subset *clothes, GError **error)
{
    struct orch_scene_set *set = g_new0(struct orch_scene_set, 1);
    set->name = g_strdup(ORCH_GENERATED_SCENES_NAME);
    set->count = o->count;
    set->classes = clothes->classes + 1;
    set->class_names = g_new0(char *, set->classes + 1);
    set->class_names[0] = g_strdup("background");
    for (int c = 0; c < clothes->classes; c++)
        set->class_names[c + 1] = g_strdup(orch_subset_class_name(clothes, c));
    if (!make_memory(o, set, error)) {
        orch_scene_set_free(set);
        return NULL;
    }
    const struct making making = {o, clothes, set,
                                  g_array_new(FALSE, FALSE, sizeof(struct orch_box)),
                                  g_array_new(FALSE, FALSE, sizeof(int32_t))};
    for (int64_t i = 0; i < o->count; i++)
        make_image(&making, i);
    set->is_difficult = g_new0(bool, set->first[o->count] + 1);
    set->boxes = (struct orch_box *)(void *)g_array_free(making.boxes, FALSE);
    set->labels = (int32_t *)(void *)g_array_free(making.labels, FALSE);
    return set;
}

struct orch_scene_set *orch_generated_scenes_new(const struct orch_generated_scenes *o,
                                                 GError **error)
{
    const struct orch_image_set_options clothes = {
        .name = "fashion-mnist", .root = o->root, .split = o->split};
    if (!options_are_valid(o, error))
        return NULL;
    struct orch_image_set *images = orch_image_set_open(&clothes, error);
    struct orch_subset *subset =
        images ? orch_subset_new(images, o->classes, o->class_count, 0, 0, error) : NULL;
    struct orch_scene_set *set = subset ? make_set(o, subset, error) : NULL;
    orch_subset_free(subset);
    orch_image_set_free(images);
    return set;
}
