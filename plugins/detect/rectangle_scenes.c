/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/detect/rectangle_scenes.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "lib/base/text.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t rgb[3];
} COLOURS[] = {{"red", {220, 40, 40}},     {"green", {40, 200, 60}},    {"blue", {50, 60, 230}},
               {"yellow", {230, 220, 40}}, {"magenta", {220, 50, 210}}, {"cyan", {40, 210, 220}}};
enum { USUAL = 3, OBJECTS_MAX = 2 };

/* ---- classes ------------------------------------------------------------------------------------
 */

static int find_colour(const char *name)
{
    for (int i = 0; i < (int)G_N_ELEMENTS(COLOURS); i++)
        if (orch_name_is_same(COLOURS[i].name, name))
            return i;
    return -1;
}

/* The colours of the labels from 1 on. Returns their number, 0 with the error set. */
static int choose_colours(const struct orch_list *classes, int out[G_N_ELEMENTS(COLOURS)],
                          GError **error)
{
    const char *const *names = classes ? classes->items : NULL;
    const size_t count = classes && classes->count ? classes->count : USUAL;
    for (size_t i = 0; i < count; i++) {
        const int colour = names && classes->count ? find_colour(names[i]) : (int)i;
        if (colour < 0 || i >= G_N_ELEMENTS(COLOURS)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "classes: data set 'synthetic' has no class '%s'; its classes are red, "
                           "green, blue, yellow, magenta and cyan",
                           names[i]);
            return 0;
        }
        out[i] = colour;
    }
    return (int)count;
}

/* ---- images -------------------------------------------------------------------------------------
 */

struct painter {
    struct orch_scene_set *set;
    int side;
    uint64_t random;
};

static uint32_t below(struct painter *p, int limit)
{
    return (uint32_t)orch_random_below(&p->random, (size_t)limit);
}

/* Paints a rectangle of a third to two thirds of the side, which another may cover later. */
static void add_rectangle(struct painter *p, int64_t image, int64_t box, int colour, int label)
{
    const int width = p->side / 3 + (int)below(p, p->side / 3);
    const int height = p->side / 3 + (int)below(p, p->side / 3);
    const int left = (int)below(p, p->side - width + 1), top = (int)below(p, p->side - height + 1);
    uint8_t *pixels = p->set->pixels + p->set->pixels_at[image];
    for (int y = top; y < top + height; y++)
        for (int x = left; x < left + width; x++)
            memcpy(pixels + 3 * ((size_t)y * (size_t)p->side + (size_t)x), COLOURS[colour].rgb, 3);
    const float side = (float)p->side;
    p->set->boxes[box] =
        (struct orch_box){(float)left / side, (float)top / side, (float)(left + width) / side,
                          (float)(top + height) / side};
    p->set->labels[box] = label;
}

static void paint(struct painter *p, int64_t image, const int *colours, int classes)
{
    const int objects = 1 + (int)below(p, OBJECTS_MAX);
    uint8_t *pixels = p->set->pixels + p->set->pixels_at[image];
    for (int i = 0; i < 3 * p->side * p->side; i++)
        pixels[i] = (uint8_t)(100 + below(p, 56));
    p->set->first[image + 1] = p->set->first[image] + objects;
    for (int i = 0; i < objects; i++) {
        const int label = 1 + (int)below(p, classes);
        add_rectangle(p, image, p->set->first[image] + i, colours[label - 1], label);
    }
}

static struct orch_scene_set *set_new(const int *colours, int classes, int64_t count, int side)
{
    struct orch_scene_set *set = g_new0(struct orch_scene_set, 1);
    const size_t bytes = 3 * (size_t)side * (size_t)side;
    set->name = g_strdup("synthetic");
    set->count = count;
    set->classes = classes + 1;
    set->class_names = g_new0(char *, classes + 2);
    set->class_names[0] = g_strdup("background");
    for (int c = 0; c < classes; c++)
        set->class_names[c + 1] = g_strdup(COLOURS[colours[c]].name);
    set->first = g_new0(int64_t, count + 1);
    set->boxes = g_new0(struct orch_box, OBJECTS_MAX * count + 1);
    set->labels = g_new0(int32_t, OBJECTS_MAX * count + 1);
    set->is_difficult = g_new0(bool, OBJECTS_MAX *count + 1);
    set->pixels = g_malloc(bytes * (size_t)count);
    set->pixels_at = g_new0(int64_t, count + 1);
    set->widths = g_new(int32_t, count);
    set->heights = g_new(int32_t, count);
    for (int64_t i = 0; i < count; i++) {
        set->pixels_at[i + 1] = set->pixels_at[i] + (int64_t)bytes;
        set->widths[i] = set->heights[i] = side;
    }
    return set;
}

struct orch_scene_set *orch_rectangle_scenes_new(const struct orch_list *classes,
                                                 enum orch_split split, int64_t count, int side,
                                                 uint64_t seed, GError **error)
{
    int colours[G_N_ELEMENTS(COLOURS)];
    const int chosen = choose_colours(classes, colours, error);
    if (!chosen)
        return NULL;
    struct orch_scene_set *set = set_new(colours, chosen, count, side);
    for (int64_t i = 0; i < count; i++) {
        struct painter painter = {set, side,
                                  orch_random_stream(seed, 2 * (uint64_t)i + (uint64_t)split)};
        paint(&painter, i, colours, chosen);
    }
    return set;
}
