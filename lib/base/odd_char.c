/* SPDX-License-Identifier: MIT */
#include "lib/base/odd_char.h"

#include "lib/base/text.h"

/* First and last of a range, its name, and what is meant; NULL: nothing. The first row that fits.
 */
static const struct {
    gunichar first, last;
    const char *name, *plain;
    bool is_visible;
} ODD[] = {
    {0xa0, 0xa0, "a no-break space", "space", false},
    {0xad, 0xad, "a soft hyphen", NULL, false},
    {0x2000, 0x200a, "a space of another width", "space", false},
    {0x200b, 0x200b, "a zero-width space", NULL, false},
    {0x2010, 0x2015, "a dash", "hyphen", true},
    {0x2028, 0x2028, "a line separator", "line break", false},
    {0x2029, 0x2029, "a paragraph separator", "line break", false},
    {0x202f, 0x202f, "a narrow no-break space", "space", false},
    {0x205f, 0x205f, "a mathematical space", "space", false},
    {0x2212, 0x2212, "a minus sign", "hyphen", true},
    {0x3000, 0x3000, "an ideographic space", "space", false},
    {0xfeff, 0xfeff, "a byte order mark", NULL, false},
    {0xff1a, 0xff1a, "a full-width colon", "colon", false},
    {0xff01, 0xff5e, "a full-width character", "one", true},
};

/* The row of a character; for one that is hidden without a row, the index behind the last. -1: it
 * is none of them. */
static int row_of(gunichar c)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ODD); i++)
        if (c >= ODD[i].first && c <= ODD[i].last)
            return (int)i;
    return c >= 0x80 && orch_text_is_hidden(c) ? (int)G_N_ELEMENTS(ODD) : -1;
}

const char *orch_odd_char_find(const char *text, size_t length, bool has_visible)
{
    for (const char *at = text, *end = text + length; at < end; at++) {
        if ((unsigned char)*at < 0xc2)
            continue;
        const gunichar c = g_utf8_get_char_validated(at, end - at);
        const int row = c == (gunichar)-1 || c == (gunichar)-2 ? -1 : row_of(c);
        const bool is_visible = row >= 0 && row < (int)G_N_ELEMENTS(ODD) && ODD[row].is_visible;
        if (row >= 0 && (has_visible || !is_visible))
            return at;
    }
    return NULL;
}

char *orch_odd_char_describe(const char *at, char **out_hint)
{
    const gunichar c = g_utf8_get_char(at);
    const int row = row_of(c);
    const bool has_row = row >= 0 && row < (int)G_N_ELEMENTS(ODD);
    const char *plain = has_row ? ODD[row].plain : NULL;
    *out_hint = plain ? g_strdup_printf("write a plain %s instead", plain) : g_strdup("remove it");
    return g_strdup_printf("U+%04X (%s)", (unsigned)c, has_row ? ODD[row].name : "invisible");
}
