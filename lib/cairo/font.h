/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The font of drawings, for cairo. */
#ifndef ORCH_LIB_CAIRO_FONT_H
#define ORCH_LIB_CAIRO_FONT_H

#include <cairo.h>
#include <glib.h>

/** Returns the advance width of a character at size 1. */
double orch_font_width(gunichar c);

/** Draws a text in the current source and the given size. x, y is the left end of its baseline. */
void orch_font_show(cairo_t *cairo, const char *text, double x, double y, double size);

#endif
