/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A reader finds a name beside its line faster than in a legend. Names are moved apart, but never
 * far from their lines: a name that stands beside another line would be wrong. */
#include "core/render/line_labels.h"

#include "core/render/font.h"
#include "core/render/pen.h"

#include <math.h>

enum { LINES_LEAST = 2, LINES_MOST = 5 };
#define WIDTH_MOST 170.0 /* of a name */
#define END_LEAST 0.92   /* share of the panel's width at which a line ends */
#define APART 15.0       /* between two names */
#define MOVED_MOST 13.0  /* of a name from the end of its line */
#define MARK_ROOM 22.0   /* from the axis to the name, with the line's mark */

struct name {
    double wanted, y;
    guint key;
};

static int compare_names(gconstpointer a, gconstpointer b)
{
    const struct name *one = a, *two = b;
    return (one->wanted > two->wanted) - (one->wanted < two->wanted);
}

/* Where the line ends, as a share of the panel's height; NaN: it ends early. */
static double end_of(const struct orch_frame *frame, const struct orch_chart_series *series)
{
    g_autoptr(GArray) points = orch_frame_points(frame, series);
    if (points->len < 2)
        return (double)NAN;
    const struct orch_point_of *last =
        &g_array_index(points, struct orch_point_of, points->len - 1);
    return last->x >= END_LEAST && last->y >= 0 && last->y <= 1 ? last->y : (double)NAN;
}

/* Moves names apart, from the lowest on, and back as far as the row of names was moved up. */
static bool spread(GArray *names)
{
    g_array_sort(names, compare_names);
    for (guint i = 0; i < names->len; i++) {
        struct name *n = &g_array_index(names, struct name, i);
        n->y = i ? fmax(n->wanted, g_array_index(names, struct name, i - 1).y + APART) : n->wanted;
    }
    for (guint first = 0, i = 1; i <= names->len;
         i++) { /* a group of names that touch is centred */
        const bool touches = i < names->len && g_array_index(names, struct name, i).y -
                                                       g_array_index(names, struct name, i - 1).y <=
                                                   APART + 1e-9;
        if (touches)
            continue;
        double moved = 0;
        for (guint k = first; k < i; k++)
            moved += g_array_index(names, struct name, k).y -
                     g_array_index(names, struct name, k).wanted;
        moved /= i - first;
        for (guint k = first; k < i; k++)
            g_array_index(names, struct name, k).y -= moved;
        first = i;
    }
    for (guint i = 0; i < names->len; i++) {
        const struct name *n = &g_array_index(names, struct name, i);
        const bool is_close = i && n->y - g_array_index(names, struct name, i - 1).y < APART - 1;
        if (is_close || fabs(n->y - n->wanted) > MOVED_MOST)
            return false;
    }
    return true;
}

static bool can_have(const struct orch_frame *frame)
{
    const struct orch_chart *chart = frame->chart;
    return chart->kind == ORCH_CHART_LINE && chart->panels->len == 1 && !chart->x_names &&
           !frame->x_places && frame->keys->len >= LINES_LEAST && frame->keys->len <= LINES_MOST;
}

bool orch_line_labels_place(const struct orch_frame *frame, double height, GArray **out_y,
                            double *out_width)
{
    if (!can_have(frame))
        return false;
    const struct orch_ruler ruler = orch_font_ruler(ORCH_PEN_FONT);
    g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(struct name));
    double width = 0;
    for (guint i = 0; i < frame->keys->len; i++) {
        const struct orch_chart_series *key = frame->keys->pdata[i];
        g_autofree char *text = orch_frame_key(key, &ORCH_COLUMNS, 1000);
        const double end = end_of(frame, key), own = orch_ruler_width(&ruler, text);
        const struct name name = {.wanted = end * height, .key = i};
        if (isnan(end) || !*text || own > WIDTH_MOST)
            return false;
        width = fmax(width, own);
        g_array_append_val(names, name);
    }
    if (!spread(names))
        return false;
    *out_y = g_array_sized_new(FALSE, TRUE, sizeof(double), names->len);
    g_array_set_size(*out_y, names->len);
    for (guint i = 0; i < names->len; i++) {
        const struct name *n = &g_array_index(names, struct name, i);
        g_array_index(*out_y, double, n->key) = n->y;
    }
    *out_width = MARK_ROOM + width;
    return true;
}
