/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mark and the colour of a series on a terminal. */
#include "core/render/text_draw.h"

gunichar orch_text_mark(const struct orch_text_sheet *sheet, const struct orch_chart_series *series)
{
    /* circle, square, triangle, diamond, triangle down, star: filled, then hollow */
    static const gunichar full[] = {0x25cf, 0x25a0, 0x25b2, 0x25c6, 0x25bc, 0x2605};
    static const gunichar hollow[] = {0x25cb, 0x25a1, 0x25b3, 0x25c7, 0x25bd, 0x2606};
    unsigned index = orch_frame_index(&sheet->frame, series);
    if (!orch_series_is_of_runs(series))
        return sheet->canvas.ascii ? '.' : 0x00b7;
    bool is_hollow = series->role == ORCH_SERIES_PREDICTED;
    if (sheet->canvas.ascii || sheet->frame.names->len > G_N_ELEMENTS(full))
        return (gunichar)((is_hollow ? 'a' : 'A') + index % 26);
    return (is_hollow ? hollow : full)[index];
}

int orch_text_color(const struct orch_text_sheet *sheet, const struct orch_chart_series *series)
{
    /* near the colours of Okabe and Ito, on dark and on light backgrounds */
    static const int colors[] = {32, 166, 36, 175, 178, 74, ORCH_NO_COLOR, 142};
    if (series->role == ORCH_SERIES_IDEAL || series->role == ORCH_SERIES_REFERENCE)
        return 245;
    return colors[orch_frame_index(&sheet->frame, series) % G_N_ELEMENTS(colors)];
}
