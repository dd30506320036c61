/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts and wraps texts to a width, measured in columns of a terminal or in pixels of a font. */
#ifndef ORCH_CORE_RENDER_WRAP_H
#define ORCH_CORE_RENDER_WRAP_H

#include <glib.h>

struct orch_ruler {
    double (*width)(gunichar c); /* of a character, at `size` 1 */
    double size;
};
/** Measures columns of a terminal. */
extern const struct orch_ruler ORCH_COLUMNS;

double orch_ruler_width(const struct orch_ruler *ruler, const char *text);

/** Returns the text cut to the width, with '...' at the end when it was cut. Control characters
 * become spaces, invalid UTF-8 becomes the replacement character. The caller frees. */
char *orch_text_fit(const char *text, const struct orch_ruler *ruler, double width);
/** Wraps the text to lines of the width, at spaces if possible. At most 30 lines; the last one ends
 * in '...' when text was cut. Free with g_strfreev. */
char **orch_text_fit_lines(const char *text, const struct orch_ruler *ruler, double width);

/** The functions above for columns of a terminal. */
char *orch_text_short(const char *text, int columns);
char **orch_text_wrap(const char *text, int columns);

#endif
