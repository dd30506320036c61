/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cairo/font.h"

#include <cairo-ft.h>
#include <fontconfig/fontconfig.h>
#include <freetype/freetype.h>
#include <stdbool.h>

extern const char ORCH_FONT[]; /* CMakeLists.txt */
extern const unsigned long ORCH_FONT_LENGTH;

static FT_Face font; /* NULL: FreeType cannot read the font */
static cairo_font_face_t *own_face;

/* Turns hinting and metrics rounding off, because they would differ between machines. */
static void plain_options(cairo_font_options_t *options)
{
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
}

/* Loads the built-in font once; it is kept until the program ends. */
static cairo_font_face_t *face_of_own(void)
{
    static FT_Library library;
    if (own_face)
        return own_face;
    if (FT_Init_FreeType(&library) == 0 &&
        FT_New_Memory_Face(library, (const FT_Byte *)ORCH_FONT, (FT_Long)ORCH_FONT_LENGTH, 0,
                           &font) == 0)
        own_face = cairo_ft_font_face_create_for_ft_face(font, FT_LOAD_NO_HINTING);
    else
        own_face =
            cairo_toy_font_face_create("sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    return own_face;
}

/* Returns a system font that has the character, or NULL. */
static cairo_font_face_t *face_of_system(gunichar c)
{
    FcPattern *wanted = FcPatternCreate();
    FcCharSet *characters = FcCharSetCreate();
    FcCharSetAddChar(characters, c);
    FcPatternAddString(wanted, FC_FAMILY, (const FcChar8 *)"sans-serif");
    FcPatternAddCharSet(wanted, FC_CHARSET, characters);
    FcPatternAddBool(wanted, FC_SCALABLE, FcTrue);
    FcConfigSubstitute(NULL, wanted, FcMatchPattern);
    FcDefaultSubstitute(wanted);
    FcResult result;
    FcPattern *found = FcFontMatch(NULL, wanted, &result);
    FcCharSet *has = NULL;
    cairo_font_face_t *face = NULL;
    if (found && FcPatternGetCharSet(found, FC_CHARSET, 0, &has) == FcResultMatch &&
        FcCharSetHasChar(has, c))
        face = cairo_ft_font_face_create_for_pattern(found);
    if (found)
        FcPatternDestroy(found);
    FcCharSetDestroy(characters);
    FcPatternDestroy(wanted);
    return face;
}

static bool own_has(gunichar c)
{
    face_of_own();
    return !font || FT_Get_Char_Index(font, c) != 0;
}

/* Returns the font for a character. Borrowed. */
static cairo_font_face_t *face_of(gunichar c)
{
    static GHashTable *others; /* gunichar -> face or NULL, for characters not in our font */
    if (own_has(c))
        return face_of_own();
    if (!others)
        others = g_hash_table_new(NULL, NULL);
    gpointer face;
    if (!g_hash_table_lookup_extended(others, GUINT_TO_POINTER(c), NULL, &face)) {
        face = face_of_system(c);
        g_hash_table_insert(others, GUINT_TO_POINTER(c), face);
    }
    return face ? face : face_of_own();
}

/* ---- widths ------------------------------------------------------------------------------------
 */

static double measure(gunichar c)
{
    enum { SIZE = 1000 };
    char text[8] = "";
    text[g_unichar_to_utf8(c, text)] = '\0';
    cairo_matrix_t size, unit;
    cairo_matrix_init_scale(&size, SIZE, SIZE);
    cairo_matrix_init_identity(&unit);
    cairo_font_options_t *options = cairo_font_options_create();
    plain_options(options);
    cairo_scaled_font_t *scaled = cairo_scaled_font_create(face_of(c), &size, &unit, options);
    cairo_text_extents_t extents;
    cairo_scaled_font_text_extents(scaled, text, &extents);
    cairo_scaled_font_destroy(scaled);
    cairo_font_options_destroy(options);
    return extents.x_advance / SIZE;
}

double orch_font_width(gunichar c)
{
    static GHashTable *widths; /* gunichar -> double * */
    if (!widths)
        widths = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    double *width = g_hash_table_lookup(widths, GUINT_TO_POINTER(c));
    if (!width) {
        width = g_new(double, 1);
        *width = measure(c);
        g_hash_table_insert(widths, GUINT_TO_POINTER(c), width);
    }
    return *width;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

void orch_font_show(cairo_t *cairo, const char *text, double x, double y, double size)
{
    cairo_font_options_t *options = cairo_font_options_create();
    plain_options(options);
    cairo_set_font_options(cairo, options);
    cairo_font_options_destroy(options);
    cairo_move_to(cairo, x, y);
    while (*text) { /* as far as one font has the characters */
        cairo_font_face_t *face = face_of(g_utf8_get_char(text));
        const char *end = text;
        while (*end && face_of(g_utf8_get_char(end)) == face)
            end = g_utf8_next_char(end);
        g_autofree char *part = g_strndup(text, (gsize)(end - text));
        cairo_set_font_face(cairo, face);
        cairo_set_font_size(cairo, size);
        cairo_show_text(cairo, part);
        text = end;
    }
}
