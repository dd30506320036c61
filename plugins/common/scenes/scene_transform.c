/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws plans. The distortion changes saturation and hue in the chroma plane of YIQ, not in HSV as
 * the authors of SSD do, because all of it is then one linear map of the colours. */
#include "plugins/common/scenes/scene_transform.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/data/random.h"

#include <math.h>
#include <string.h>

#define EXPAND_DEFAULT 4.0
#define EXPAND_MAX 16.0
#define TRIES 50        /* crops for one threshold */
#define THRESHOLDS 20   /* thresholds for one image */
#define SHARE_LEAST 0.3 /* of a crop's sides */
#define ASPECT_MOST 2.0

/* ---- texts ------------------------------------------------------------------------------------
 */

static const char *const NAMES[] = {"distort", "expand", "crop", "flip", NULL};
enum { DISTORT, EXPAND, CROP, FLIP, KINDS };

static int find_name(const char *text, const char *name, GError **error)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(NAMES[i], name) == 0)
            return i;
    g_autofree char *hint = orch_suggest_hint(name, NAMES);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint,
                   "unknown transform '%s' in '%s': expected distort, expand, crop, flip", name,
                   text);
    return -1;
}

static bool set_transform(struct orch_scene_transforms *out, int kind, const char *text,
                          const char *value, GError **error)
{
    double most = EXPAND_DEFAULT;
    const bool is_number = !value || orch_real_parse(value, &most);
    if (value && kind != EXPAND) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "transform '%s' takes no value", text);
        return false;
    }
    if (!is_number || most < 1 || most > EXPAND_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "transform '%s': its factor must be from 1 to %g", text, EXPAND_MAX);
        return false;
    }
    out->distorts |= kind == DISTORT;
    out->crops |= kind == CROP;
    out->flips |= kind == FLIP;
    if (kind == EXPAND)
        out->expand = most;
    return true;
}

bool orch_scene_transforms_parse(const char *const *texts, size_t count,
                                 struct orch_scene_transforms *out, GError **error)
{
    struct orch_scene_transforms transforms = {0};
    int last = -1;
    for (size_t i = 0; i < count; i++) {
        g_autofree char *text = g_strstrip(g_strdup(texts[i]));
        char *value = strpbrk(text, " \t");
        if (value)
            *value++ = '\0';
        const int kind = find_name(texts[i], text, error);
        if (kind < 0 ||
            !set_transform(&transforms, kind, texts[i], value ? g_strchug(value) : NULL, error))
            return false;
        if (kind <= last) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "list each transform once, in the order distort, expand, crop, flip",
                           kind == last ? "transform '%s' comes twice"
                                        : "transform '%s' is listed too late",
                           texts[i]);
            return false;
        }
        last = kind;
    }
    *out = transforms;
    return true;
}

/* ---- colours ----------------------------------------------------------------------------------
 */

static const double TO_YIQ[3][3] = {
    {0.299, 0.587, 0.114}, {0.595716, -0.274453, -0.321263}, {0.211456, -0.522591, 0.311135}};
static const double FROM_YIQ[3][3] = {{1, 0.9562957197589482, 0.6210244164652610},
                                      {1, -0.2721220993185105, -0.6473805968256951},
                                      {1, -1.1069890167364902, 1.7046149983646479}};

/* A number from `least` to `most` with probability 1/2, else `none`. Always reads two numbers. */
static double sometimes(uint64_t *random, double least, double most, double none)
{
    const bool is_drawn = orch_random_unit(random) < 0.5;
    const double value = least + (most - least) * orch_random_unit(random);
    return is_drawn ? value : none;
}

static void draw_colours(uint64_t *random, float colour[3][4])
{
    const double brightness = sometimes(random, -32, 32, 0);
    const double contrast = sometimes(random, 0.5, 1.5, 1);
    const double saturation = sometimes(random, 0.5, 1.5, 1);
    const double hue = sometimes(random, -18, 18, 0) * G_PI / 180;
    const double turn[3][3] = {{1, 0, 0},
                               {0, saturation * cos(hue), -saturation * sin(hue)},
                               {0, saturation * sin(hue), saturation * cos(hue)}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    sum += FROM_YIQ[i][k] * turn[k][l] * TO_YIQ[l][j];
            colour[i][j] = (float)(contrast * sum);
        }
        /* grey stays grey: the rows of the map have the sum of the contrast */
        colour[i][3] = (float)(contrast * brightness);
    }
}

/* ---- windows ----------------------------------------------------------------------------------
 */

struct orch_scene_plan orch_scene_plan_none(void)
{
    return (struct orch_scene_plan){
        {0, 0, 1, 1}, false, {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
}

static void draw_canvas(uint64_t *random, double most, struct orch_box *window)
{
    const bool is_drawn = orch_random_unit(random) < 0.5;
    const double side = 1 + (most - 1) * orch_random_unit(random);
    const double left = (side - 1) * orch_random_unit(random);
    const double top = (side - 1) * orch_random_unit(random);
    if (is_drawn)
        *window =
            (struct orch_box){(float)-left, (float)-top, (float)(side - left), (float)(side - top)};
}

static bool shows_centre(struct orch_box window, struct orch_box box)
{
    const float x = (box.x1 + box.x2) / 2, y = (box.y1 + box.y2) / 2;
    return x > window.x1 && x < window.x2 && y > window.y1 && y < window.y2;
}

struct scene {
    int width, height;
    const struct orch_box *boxes;
    int64_t count;
};

/* Whether a crop may be taken: at least one object overlaps it by `least`, and the centre of at
 * least one is seen. */
static bool is_good(const struct scene *scene, struct orch_box window, float least)
{
    bool is_overlapped = false, is_seen = false;
    for (int64_t i = 0; i < scene->count; i++) {
        is_overlapped |= orch_box_iou(scene->boxes[i], window, 0) >= least;
        is_seen |= shows_centre(window, scene->boxes[i]);
    }
    return scene->count == 0 || (is_overlapped && is_seen);
}

/* One random part of `within`, with sides of at least SHARE_LEAST and pixels no more than
 * ASPECT_MOST times as wide as high, or the other way round. False if the shape is not allowed. */
static bool draw_part(uint64_t *random, const struct scene *scene, struct orch_box within,
                      struct orch_box *out)
{
    const double all_w = (double)(within.x2 - within.x1), all_h = (double)(within.y2 - within.y1);
    const double w = all_w * (SHARE_LEAST + (1 - SHARE_LEAST) * orch_random_unit(random));
    const double h = all_h * (SHARE_LEAST + (1 - SHARE_LEAST) * orch_random_unit(random));
    const double x = (double)within.x1 + (all_w - w) * orch_random_unit(random);
    const double y = (double)within.y1 + (all_h - h) * orch_random_unit(random);
    const double aspect = w * scene->width / (h * scene->height);
    *out = (struct orch_box){(float)x, (float)y, (float)(x + w), (float)(y + h)};
    return aspect <= ASPECT_MOST && aspect >= 1 / ASPECT_MOST;
}

static void draw_crop(uint64_t *random, const struct scene *scene, struct orch_box *window)
{
    /* the first is the whole image, the last any part */
    static const float LEAST[] = {2, 0.1F, 0.3F, 0.5F, 0.7F, 0.9F, 0};
    for (int i = 0; i < THRESHOLDS; i++) {
        const float least = LEAST[orch_random_below_32(random, G_N_ELEMENTS(LEAST))];
        if (least > 1)
            return;
        for (int t = 0; t < TRIES; t++) {
            struct orch_box part;
            if (draw_part(random, scene, *window, &part) && is_good(scene, part, least)) {
                *window = part;
                return;
            }
        }
    }
}

struct orch_scene_plan orch_scene_plan_draw(const struct orch_scene_transforms *transforms,
                                            int width, int height, const struct orch_box *boxes,
                                            int64_t count, uint64_t stream)
{
    struct orch_scene_plan plan = orch_scene_plan_none();
    const struct scene scene = {width, height, boxes, count};
    if (transforms->distorts)
        draw_colours(&stream, plan.colour);
    if (transforms->expand > 1)
        draw_canvas(&stream, transforms->expand, &plan.window);
    if (transforms->flips)
        plan.is_mirrored = orch_random_below_32(&stream, 2);
    if (transforms->crops)
        draw_crop(&stream, &scene, &plan.window);
    return plan;
}

int64_t orch_scene_plan_boxes(const struct orch_scene_plan *plan, const struct orch_box *boxes,
                              int64_t count, struct orch_box *out, int64_t *out_object)
{
    const struct orch_box w = plan->window;
    const float width = w.x2 - w.x1, height = w.y2 - w.y1;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const struct orch_box part = orch_box_overlap(boxes[i], w);
        struct orch_box box = {(part.x1 - w.x1) / width, (part.y1 - w.y1) / height,
                               (part.x2 - w.x1) / width, (part.y2 - w.y1) / height};
        if (plan->is_mirrored)
            box = (struct orch_box){1 - box.x2, box.y1, 1 - box.x1, box.y2};
        box = orch_box_clip(box); /* rounding */
        if (!shows_centre(w, boxes[i]) || !orch_box_is_proper(box))
            continue;
        out[kept] = box;
        out_object[kept++] = i;
    }
    return kept;
}
