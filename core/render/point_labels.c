/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws labels next to points, where each hides no point, line or other label. */
#include "core/render/sheet.h"

#include "core/render/font.h"

#include <math.h>

#define NAME_WIDTH_MAX 160.0
#define TAKEN_MAX 400    /* points that labels keep clear of */
#define SEGMENTS_MAX 500 /* line segments that labels keep clear of */

struct segment {
    double x0, y0, x1, y1;
};
struct labels {
    struct orch_sheet *sheet;
    struct orch_rect at;
    GArray *taken;    /* struct orch_rect: marks */
    GArray *names;    /* struct orch_rect: placed labels */
    GArray *segments; /* struct segment */
};

/* ---- free space ------------------------------------------------------------------------------ */

static bool overlaps(struct orch_rect a, struct orch_rect b)
{
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
           b.y < a.y + a.height;
}

/* Narrows the range t0 to t1 of a segment to the part between low and high. */
static void clip(double from, double step, double low, double high, double *t0, double *t1)
{
    if (step == 0) {
        if (from < low || from > high)
            *t1 = -1;
        return;
    }
    double a = (low - from) / step, b = (high - from) / step;
    *t0 = fmax(*t0, fmin(a, b));
    *t1 = fmin(*t1, fmax(a, b));
}

static bool crosses(struct segment s, struct orch_rect r)
{
    double t0 = 0, t1 = 1;
    clip(s.x0, s.x1 - s.x0, r.x, r.x + r.width, &t0, &t1);
    clip(s.y0, s.y1 - s.y0, r.y, r.y + r.height, &t0, &t1);
    return t0 <= t1;
}

static bool is_free(const struct labels *l, struct orch_rect place, bool may_cross)
{
    const struct orch_rect *at = &l->at;
    if (place.x <= at->x || place.x + place.width >= at->x + at->width + 14 || place.y <= at->y ||
        place.y + place.height >= at->y + at->height + 8)
        return false;
    const GArray *const full[] = {l->taken, l->names};
    for (size_t k = 0; k < G_N_ELEMENTS(full); k++)
        for (guint i = 0; i < full[k]->len; i++)
            if (overlaps(place, g_array_index(full[k], struct orch_rect, i)))
                return false;
    for (guint i = 0; !may_cross && i < l->segments->len; i++)
        if (crosses(g_array_index(l->segments, struct segment, i), place))
            return false;
    return true;
}

/* Finds a place next to the point, preferably on the right. `inout` has the size. */
static bool place_near(const struct labels *l, double x, double y, bool may_cross,
                       struct orch_rect *inout)
{
    static const double sides[][2] = {{1, 0},   {1, 0.7},  {1, -0.7}, {-1, 0},
                                      {0, 1.1}, {0, -1.1}, {-1, 0.7}, {-1, -0.7}};
    for (size_t i = 0; i < G_N_ELEMENTS(sides); i++) {
        double width = inout->width, height = inout->height;
        inout->x = x + (sides[i][0] > 0 ? 8 : sides[i][0] < 0 ? -8 - width : -width / 2);
        inout->y = y + sides[i][1] * height - height / 2;
        if (is_free(l, *inout, may_cross))
            return true;
    }
    return false;
}

/* Returns the thin line from a point to its label. */
static struct segment joint_of(double x, double y, struct orch_rect name)
{
    double end = name.x > x ? name.x - 2 : name.x + name.width + 2;
    return (struct segment){x, y, end, name.y + name.height / 2};
}

static bool crosses_name(const struct labels *l, struct segment joint)
{
    for (guint i = 0; i < l->names->len; i++)
        if (crosses(joint, g_array_index(l->names, struct orch_rect, i)))
            return true;
    return false;
}

/* Finds a place further away: to the sides, above and below, at growing distance. */
static bool place_far(const struct labels *l, double x, double y, struct orch_rect *inout)
{
    for (int distance = 2; distance <= 8; distance++)
        for (int up = -2; up <= 2; up++)
            for (int side = 1; side >= -1; side -= 2) {
                inout->x = x + 12 * distance * side - (side < 0 ? inout->width : 0);
                inout->y = y + 0.6 * up * distance * inout->height - inout->height / 2;
                if (is_free(l, *inout, false) && !crosses_name(l, joint_of(x, y, *inout)))
                    return true;
            }
    return false;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Draws a label. A label that is away from its point is connected to it by a thin line. A label
 * without room is omitted, since next to another point it would seem to name that point. */
static void draw_label(struct labels *l, const char *text, double x, double y)
{
    struct orch_pen *pen = &l->sheet->pen;
    const struct orch_ruler ruler = orch_font_ruler(ORCH_NOTE_SIZE);
    g_autofree char *label = orch_text_fit(text, &ruler, NAME_WIDTH_MAX);
    struct orch_rect place = {.width = orch_ruler_width(&ruler, label), .height = 13};
    bool is_near = place_near(l, x, y, false, &place);
    bool is_far = !is_near && place_far(l, x, y, &place);
    if (!is_near && !is_far && !place_near(l, x, y, true, &place))
        return;
    g_array_append_val(l->names, place);
    if (is_far) {
        struct segment joint = joint_of(x, y, place);
        g_array_append_val(l->segments, joint);
        orch_pen_to(pen, joint.x0, joint.y0);
        orch_pen_to(pen, joint.x1, joint.y1);
        orch_pen_line(pen, (struct orch_stroke){.color = ORCH_PEN_INK, .width = 0.6});
    }
    struct orch_pen_text how = {
        .x = place.x, .y = place.y + place.height / 2, .size = ORCH_NOTE_SIZE};
    orch_pen_write(pen, &how, label);
}

static double x_of(const struct labels *l, const GArray *points, guint i)
{
    return l->at.x + l->at.width * g_array_index(points, struct orch_point_of, i).x;
}

static double y_of(const struct labels *l, const GArray *points, guint i)
{
    return l->at.y + l->at.height * g_array_index(points, struct orch_point_of, i).y;
}

/* Reserves the room of a series' points and lines. */
static void take_room(struct labels *l, const struct orch_chart_series *series,
                      const GArray *points)
{
    bool is_of_runs = orch_series_is_of_runs(series);
    bool is_line = l->sheet->frame.chart->kind == ORCH_CHART_LINE || !is_of_runs;
    for (guint i = 0; i < points->len; i++) {
        struct orch_rect mark = {x_of(l, points, i) - 4, y_of(l, points, i) - 4, 8, 8};
        if (is_of_runs && l->taken->len < TAKEN_MAX)
            g_array_append_val(l->taken, mark);
        if (!is_line || !i || l->segments->len >= SEGMENTS_MAX)
            continue;
        struct segment segment = {x_of(l, points, i - 1), y_of(l, points, i - 1),
                                  x_of(l, points, i), y_of(l, points, i)};
        g_array_append_val(l->segments, segment);
    }
}

void orch_sheet_point_labels(struct orch_sheet *sheet, const struct orch_chart_panel *panel,
                             struct orch_rect at)
{
    struct labels l = {sheet, at, g_array_new(FALSE, FALSE, sizeof(struct orch_rect)),
                       g_array_new(FALSE, FALSE, sizeof(struct orch_rect)),
                       g_array_new(FALSE, FALSE, sizeof(struct segment))};
    for (int pass = 0; pass < 2; pass++)
        for (guint i = 0; i < panel->series->len; i++) {
            const struct orch_chart_series *series = panel->series->pdata[i];
            g_autoptr(GArray) points = orch_frame_points(&sheet->frame, series);
            if (pass == 0)
                take_room(&l, series, points);
            for (guint j = 0; pass == 1 && j < points->len; j++) {
                const char *label = g_array_index(points, struct orch_point_of, j).p->label;
                if (label)
                    draw_label(&l, label, x_of(&l, points, j), y_of(&l, points, j));
            }
        }
    g_array_unref(l.taken);
    g_array_unref(l.names);
    g_array_unref(l.segments);
}
