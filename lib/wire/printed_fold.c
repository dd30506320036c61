/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_fold.h"

#include <string.h>

static const struct {
    const char *sign;
    char plain; /* 0: left out */
} SIGNS[] = {
    {"\xe2\x88\x92", '-'}, {"\xe2\x80\x8b", 0},   {"\xe2\x80\x87", ' '}, {"\xe2\x80\x89", ' '},
    {"\xe2\x80\xaf", ' '}, {"\xe2\x86\x92", ' '}, {"\xe2\x94\x82", '|'}, {"\xe2\x94\x83", '|'},
    {"\xe2\x95\x91", '|'}, {"\xc2\xa0", ' '},     {"\xe3\x80\x80", ' '}, {"\xe3\x80\x81", ','},
    {"\xef\xbb\xbf", 0},   {"\xef\xbd\x9c", '|'},
};

/* Full-width forms U+FF01 to U+FF5E are those of U+0021 to U+007E. */
static char full_width(const unsigned char *at)
{
    if (at[0] != 0xef || (at[1] != 0xbc && at[1] != 0xbd))
        return 0;
    int plain = at[1] == 0xbc ? at[2] - 0x81 + 0x21 : at[2] - 0x80 + 0x60;
    bool is_form = at[1] == 0xbc ? at[2] >= 0x81 && at[2] <= 0xbf : at[2] >= 0x80 && at[2] <= 0x9e;
    return is_form ? (char)plain : 0;
}

size_t orch_printed_escape_bytes(const char *at, const char *end)
{
    if (*at != '\033')
        return 0;
    const char *p = at + 1;
    if (p < end && *p == ']') { /* a title or a link, up to BEL or ESC \ */
        while (p < end && *p != '\a' && *p != '\033')
            p++;
        p += p + 1 < end && *p == '\033';
        return (size_t)(MIN(p + 1, end) - at);
    }
    if (p < end && *p == '[')
        for (p++; p < end && (unsigned char)*p < 0x40;)
            p++;
    return (size_t)(MIN(p + 1, end) - at);
}

bool orch_printed_fold_line(const char *text, size_t length, GString *out)
{
    const char *end = text + length, *at = text;
    while (at < end && !((unsigned char)*at >= 0x80 || *at == '\033'))
        at++;
    if (at == end)
        return false;
    g_string_truncate(out, 0);
    g_string_append_len(out, text, at - text);
    while (at < end) {
        size_t skip = orch_printed_escape_bytes(at, end);
        char plain = 0;
        for (size_t i = 0; !skip && (unsigned char)*at >= 0x80 && i < G_N_ELEMENTS(SIGNS); i++) {
            size_t bytes = strlen(SIGNS[i].sign);
            if ((size_t)(end - at) >= bytes && memcmp(at, SIGNS[i].sign, bytes) == 0) {
                skip = bytes;
                plain = SIGNS[i].plain;
            }
        }
        if (!skip && end - at >= 3 && (plain = full_width((const unsigned char *)at)))
            skip = 3;
        if (!skip)
            g_string_append_c(out, *at++);
        else if (plain)
            g_string_append_c(out, plain);
        at += skip;
    }
    return true;
}
