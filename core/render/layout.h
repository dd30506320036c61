/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the layout of a drawn chart: titles, panels, axis labels, legend and notes, each with
 * room for its texts at their measured width. */
#ifndef ORCH_CORE_RENDER_LAYOUT_H
#define ORCH_CORE_RENDER_LAYOUT_H

#include "core/render/frame.h"

#define ORCH_LAYOUT_LINE 18.0   /* height of a text line */
#define ORCH_LAYOUT_NOTE 16.0   /* height of a line of the notes */
#define ORCH_LAYOUT_SAMPLE 34.0 /* width of a sample in the legend, with the gap after it */
#define ORCH_LAYOUT_SAMPLE_GAP 8.0
#define ORCH_LAYOUT_SCALE 16.0 /* width of a heat map's colour scale */
#define ORCH_TITLE_SIZE 14.5   /* text sizes */
#define ORCH_NOTE_SIZE 11.5

struct orch_rect {
    double x, y, width, height; /* x, y: the lower left corner */
};

struct orch_layout {
    double width, height;
    double left, right, top, bottom; /* margins around the grid of panels */
    unsigned columns, rows;
    double panel_width, panel_height;
    double title;           /* height above each panel */
    double gap_x, gap_y;    /* between panels */
    bool is_turned;         /* names below the x axis are slanted */
    double x_names;         /* height below a panel for its tick labels */
    char **titles, **notes; /* lines */
    char **x_label, **y_label;
    GPtrArray *keys; /* char *: names in the legend; empty: no legend */
    GArray *ends; /* double: the names stand at the ends of the lines, at these heights; or NULL */
    double ends_width; /* beside the panel for the names at the ends */
    unsigned key_columns, key_rows;
    GArray *key_widths; /* double: width of each column of the legend */
};

/** Computes the layout of the frame's chart. Free it with orch_layout_clear. */
void orch_layout_make(struct orch_layout *layout, const struct orch_frame *frame);
void orch_layout_clear(struct orch_layout *layout);

/** Returns the rectangle of panel i. */
struct orch_rect orch_layout_panel(const struct orch_layout *layout, unsigned i);
/** Returns a tick's label, cut to the available width. The caller frees. */
char *orch_layout_tick(const struct orch_tick *tick);
/** Returns the width of a text of normal size. */
double orch_layout_width(const char *text);
/** Returns whether the x axis has names instead of numbers. */
bool orch_layout_has_names(const struct orch_frame *frame);
/** Returns whether the chart has a colour scale. */
bool orch_layout_has_scale(const struct orch_frame *frame);

#endif
