/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/object_picture.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/cairo/font.h"
#include "plugins/common/boxes/box_score.h"
#include "plugins/onnxrun/label_places.h"

#include <cairo.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SIDE = 320, GAP = 12, COLUMNS = 2, TEXT = 13, LINE = 17, BOXES_MAX = 8 };
static const char PICTURE_FILE[] = "picture.png";

static void set_color(cairo_t *cairo, uint32_t color, double opacity)
{
    cairo_set_source_rgba(cairo, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                          (color & 255) / 255.0, opacity);
}

/* Colours that are distinguishable with colour blindness (Okabe and Ito 2008) and dark enough for
 * white text. */
static uint32_t color_of(int32_t label)
{
    static const uint32_t colors[] = {0x0072b2, 0xd55e00, 0x00795a, 0xa8457d, 0x8a5c00, 0x3a3a3a};
    return colors[(uint32_t)label % G_N_ELEMENTS(colors)];
}

static double text_width(const char *text)
{
    double width = 0;
    for (; *text; text = g_utf8_next_char(text))
        width += orch_font_width(g_utf8_get_char(text)) * TEXT;
    return width;
}

/* ---- one image ---------------------------------------------------------------------------- */

/* An input as a picture of its own size. */
static cairo_surface_t *surface_of(const struct onnxrun_trial *t, const float *input)
{
    const int channels = (int)t->batch.shape[1], height = (int)t->batch.shape[2],
              width = (int)t->batch.shape[3];
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
        return surface; /* writing says why */
    unsigned char *bytes = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface), plane = width * height;
    for (int i = 0; i < plane; i++) {
        uint32_t pixel = 0;
        for (int c = 0; c < 3; c++) {
            const int from = c < channels ? c : 0;
            const double value =
                (double)input[from * plane + i] * (double)t->std[from] + (double)t->mean[from];
            pixel = pixel << 8 | (uint32_t)lrint(255 * CLAMP(value, 0, 1));
        }
        memcpy(bytes + (size_t)(i / width) * (size_t)stride + (size_t)(i % width) * 4, &pixel, 4);
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}

static void draw_image(cairo_t *cairo, const struct onnxrun_trial *t, const float *input)
{
    cairo_surface_t *surface = surface_of(t, input);
    cairo_save(cairo);
    cairo_scale(cairo, (double)SIDE / (double)t->batch.shape[3],
                (double)SIDE / (double)t->batch.shape[2]);
    cairo_set_source_surface(cairo, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_BILINEAR);
    cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD);
    cairo_rectangle(cairo, 0, 0, (double)t->batch.shape[3], (double)t->batch.shape[2]);
    cairo_fill(cairo);
    cairo_restore(cairo);
    cairo_surface_destroy(surface);
}

/* A text on a ground of its own, moved into the image where it would leave it, and away from the
 * labels at `places` (struct onnxrun_place). Without a free place it is left out: its box has the
 * class's colour. */
static void draw_label(cairo_t *cairo, const char *text, double x, double y, uint32_t color,
                       GArray *places)
{
    const double width = text_width(text) + 6;
    struct onnxrun_place at = {CLAMP(x, 0, MAX(0, SIDE - width)), CLAMP(y, 0, SIDE - LINE), width};
    if (!orch_onnxrun_place_find(places, SIDE, LINE, &at))
        return;
    g_array_append_val(places, at);
    x = at.x;
    y = at.y;
    set_color(cairo, color, 0.85);
    cairo_rectangle(cairo, x, y, width, LINE);
    cairo_fill(cairo);
    set_color(cairo, 0xffffff, 1);
    orch_font_show(cairo, text, x + 3, y + TEXT, TEXT);
}

static void trace_box(cairo_t *cairo, struct orch_box box)
{
    box = orch_box_clip(box);
    cairo_rectangle(cairo, (double)box.x1 * SIDE, (double)box.y1 * SIDE,
                    (double)(box.x2 - box.x1) * SIDE, (double)(box.y2 - box.y1) * SIDE);
}

static char *name_of(const struct onnxrun_trial *t, int32_t label)
{
    return t->classes && label < (int32_t)g_strv_length(t->classes)
               ? g_strdup(t->classes[label])
               : g_strdup_printf("class %d", label);
}

/* White dashes with a dark rim: seen on any ground, and what lies below is seen between them. */
static void draw_object(cairo_t *cairo, struct orch_box box)
{
    static const double dashes[] = {7, 6};
    cairo_set_dash(cairo, dashes, 2, 0);
    trace_box(cairo, box);
    cairo_set_line_width(cairo, 4);
    set_color(cairo, 0x000000, 0.7);
    cairo_stroke_preserve(cairo);
    cairo_set_line_width(cairo, 2);
    set_color(cairo, 0xffffff, 1);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void draw_objects(cairo_t *cairo, const struct orch_sample_objects *objects, int64_t number)
{
    for (int64_t i = objects->first[number]; i < objects->first[number + 1]; i++)
        draw_object(cairo, objects->boxes[i]);
}

static void draw_names(cairo_t *cairo, const struct onnxrun_trial *t,
                       const struct orch_sample_objects *objects, int64_t number, GArray *places)
{
    for (int64_t i = objects->first[number]; i < objects->first[number + 1]; i++) {
        g_autofree char *name = name_of(t, objects->labels[i]);
        draw_label(cairo, name, (double)objects->boxes[i].x1 * SIDE,
                   (double)objects->boxes[i].y2 * SIDE, 0x000000, places);
    }
}

static int by_score(const void *a, const void *b)
{
    const struct orch_detection *one = *(const struct orch_detection *const *)a,
                                *two = *(const struct orch_detection *const *)b;
    return (one->score < two->score) - (one->score > two->score);
}

/* The detections that are drawn (struct orch_detection *), by falling score. */
static GPtrArray *choose_detections(const struct onnxrun_trial *t,
                                    const struct onnxrun_group *group, int64_t number)
{
    GPtrArray *chosen = g_ptr_array_new();
    for (int64_t i = group->first[number]; i < group->first[number + 1]; i++) {
        struct orch_detection *detection =
            &g_array_index(group->detections, struct orch_detection, i);
        if ((double)detection->score >= t->p->score)
            g_ptr_array_add(chosen, detection);
    }
    g_ptr_array_sort(chosen, by_score);
    if (chosen->len > BOXES_MAX)
        g_ptr_array_set_size(chosen, BOXES_MAX);
    return chosen;
}

/* The best is drawn last, above the others. */
static void draw_detections(cairo_t *cairo, const GPtrArray *detections)
{
    cairo_set_line_width(cairo, 3);
    for (guint i = detections->len; i-- > 0;) {
        const struct orch_detection *detection = detections->pdata[i];
        trace_box(cairo, detection->box);
        set_color(cairo, color_of(detection->label), 1);
        cairo_stroke(cairo);
    }
}

/* The best takes its place first. */
static void draw_scores(cairo_t *cairo, const struct onnxrun_trial *t, const GPtrArray *detections,
                        GArray *places)
{
    for (guint i = 0; i < detections->len; i++) {
        const struct orch_detection *detection = detections->pdata[i];
        g_autofree char *name = name_of(t, detection->label);
        g_autofree char *text = g_strdup_printf("%s %.2f", name, (double)detection->score);
        draw_label(cairo, text, (double)detection->box.x1 * SIDE,
                   (double)detection->box.y1 * SIDE - LINE, color_of(detection->label), places);
    }
}

/* Texts are drawn last, so that no line crosses them. */
static void draw_input(cairo_t *cairo, const struct onnxrun_trial *t,
                       const struct onnxrun_group *group, int64_t number)
{
    draw_image(cairo, t, group->inputs.data + number * onnxrun_each(&group->inputs));
    g_autoptr(GPtrArray) detections = choose_detections(t, group, number);
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(struct onnxrun_place));
    draw_detections(cairo, detections);
    if (group->objects)
        draw_objects(cairo, group->objects, number);
    draw_scores(cairo, t, detections, places);
    if (group->objects)
        draw_names(cairo, t, group->objects, number, places);
}

/* ---- which images ------------------------------------------------------------------------- */

/* The number of objects of an image, or INT64_MAX where one of them has another label: the image
 * of a class has no other. */
static int64_t objects_of(const struct onnxrun_group *group, int64_t number, int32_t label)
{
    const int64_t begin = group->objects->first[number], end = group->objects->first[number + 1];
    for (int64_t i = begin; i < end; i++)
        if (group->objects->labels[i] != label)
            return INT64_MAX;
    return end > begin ? end - begin : INT64_MAX;
}

/* The first image with fewest objects of which all have that label; -1: none. */
static int64_t clearest(const struct onnxrun_group *group, const bool *is_chosen, int32_t label)
{
    int64_t best = -1, fewest = INT64_MAX;
    for (int64_t i = 0; i < group->inputs.shape[0]; i++) {
        const int64_t count = is_chosen[i] ? INT64_MAX : objects_of(group, i, label);
        best = count < fewest ? i : best;
        fewest = MIN(fewest, count);
    }
    return best;
}

static int64_t first_with(const struct onnxrun_group *group, const bool *is_chosen, int32_t label)
{
    for (int64_t i = 0; i < group->inputs.shape[0]; i++)
        for (int64_t k = group->objects->first[i]; k < group->objects->first[i + 1]; k++)
            if (!is_chosen[i] && group->objects->labels[k] == label)
                return i;
    return -1;
}

/* The numbers of the images, in the order in which they are chosen (int64_t): one of each class,
 * with no other class where there is such an image, then the next ones. */
static GArray *choose(const struct onnxrun_group *group, int64_t wanted)
{
    const int64_t total = group->inputs.shape[0];
    g_autofree bool *is_chosen = g_new0(bool, total);
    GArray *chosen = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int32_t label = 1; group->objects && label < group->classes; label++) {
        int64_t i = clearest(group, is_chosen, label);
        i = i < 0 ? first_with(group, is_chosen, label) : i;
        if (i < 0 || (int64_t)chosen->len >= wanted)
            continue;
        g_array_append_val(chosen, i);
        is_chosen[i] = true;
    }
    for (int64_t i = 0; i < total && (int64_t)chosen->len < wanted; i++)
        if (!is_chosen[i])
            g_array_append_val(chosen, i);
    return chosen;
}

/* ---- the picture -------------------------------------------------------------------------- */

static bool write_picture(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                          const GArray *chosen, GError **error)
{
    const int columns = MIN(COLUMNS, (int)chosen->len);
    const int rows = ((int)chosen->len + columns - 1) / columns;
    cairo_surface_t *surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, columns * (SIDE + GAP) + GAP, rows * (SIDE + GAP) + GAP + LINE + GAP);
    cairo_t *cairo = cairo_create(surface);
    set_color(cairo, 0xffffff, 1);
    cairo_paint(cairo);
    for (guint i = 0; i < chosen->len; i++) {
        cairo_save(cairo);
        cairo_translate(cairo, GAP + (int)i % columns * (SIDE + GAP),
                        GAP + (int)i / columns * (SIDE + GAP));
        cairo_rectangle(cairo, 0, 0, SIDE, SIDE);
        cairo_clip(cairo);
        draw_input(cairo, t, group, g_array_index(chosen, int64_t, i));
        cairo_restore(cairo);
    }
    set_color(cairo, 0x202020, 1);
    g_autofree char *key = g_strdup_printf(
        "coloured: found, with its score of at least %g; dashed: the object", t->p->score);
    orch_font_show(cairo, key, GAP, rows * (SIDE + GAP) + GAP + TEXT, TEXT);
    cairo_status_t status = cairo_status(cairo);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png(surface, PICTURE_FILE);
    cairo_destroy(cairo);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot write '%s': %s", PICTURE_FILE,
                   cairo_status_to_string(status));
    return false;
}

/* Scores the boxes that are drawn, by the rule of VOC: a box is right if it overlaps an object of
 * its class by more than half. */
static struct orch_box_score *score_drawn(const struct onnxrun_trial *t,
                                          const struct onnxrun_group *group, const GArray *chosen)
{
    struct orch_box_score *score = orch_box_score_new(group->classes, ORCH_BOX_SCORE_IOU);
    for (guint i = 0; i < chosen->len; i++) {
        const int64_t number = g_array_index(chosen, int64_t, i);
        const int64_t begin = group->objects->first[number],
                      end = group->objects->first[number + 1];
        g_autoptr(GPtrArray) drawn = choose_detections(t, group, number);
        g_autoptr(GArray) boxes = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
        for (guint k = 0; k < drawn->len; k++)
            g_array_append_vals(boxes, drawn->pdata[k], 1);
        orch_box_score_add(score, group->objects->boxes + begin, group->objects->labels + begin,
                           NULL, end - begin, (const struct orch_detection *)(void *)boxes->data,
                           boxes->len);
    }
    return score;
}

/* "2 images: found 1 of 1 object of Coat, 2 of 3 objects of Shirt; 1 box is wrong" */
static void note_picture(const struct onnxrun_trial *t, const struct onnxrun_group *group,
                         const GArray *chosen)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "picture: %u image%s", chosen->len, orch_plural(chosen->len));
    int64_t wrong = 0, classes = 0;
    struct orch_box_score *score = group->objects ? score_drawn(t, group, chosen) : NULL;
    for (int32_t label = 1; score && label < group->classes; label++) {
        const struct orch_class_score of = orch_box_score_class(score, label);
        g_autofree char *name = name_of(t, label);
        wrong += of.detections - of.hits;
        if (of.objects)
            g_string_append_printf(text, "%s%" PRId64 " of %" PRId64 " object%s of %s",
                                   classes++ ? ", " : ": found ", of.hits, of.objects,
                                   orch_plural(of.objects), name);
    }
    if (score && wrong)
        g_string_append_printf(text, "; %" PRId64 " box%s wrong", wrong,
                               wrong == 1 ? " is" : "es are");
    else if (score)
        g_string_append(text, "; no box is wrong");
    t->host->note(t->host, text->str);
    orch_box_score_free(score);
}

bool orch_onnxrun_picture_write(const struct onnxrun_trial *t, GError **error)
{
    for (guint i = 0; i < t->groups->len; i++) {
        const struct onnxrun_group *group = &g_array_index(t->groups, struct onnxrun_group, i);
        if (!group->detections || !t->has_normalisation || t->p->pictures == 0 ||
            strcmp(group->name, ORCH_SAMPLE_REAL) != 0)
            continue;
        g_autoptr(GArray) chosen = choose(group, t->p->pictures);
        if (!write_picture(t, group, chosen, error))
            return false;
        t->host->artifact(t->host, "picture", PICTURE_FILE);
        note_picture(t, group, chosen);
    }
    return true;
}
