/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_name.h"

#include <string.h>

/* The letter or digit at `at`, in lower case, and its length in bytes; 0 for any other sign. */
static gunichar name_letter(const char *at, const char *end, size_t *out_bytes)
{
    *out_bytes = 1;
    if ((unsigned char)*at < 0x80)
        return g_ascii_isalnum(*at) ? (gunichar)g_ascii_tolower(*at) : 0;
    gunichar c = g_utf8_get_char_validated(at, end - at);
    if (c == (gunichar)-1 || c == (gunichar)-2)
        return 0;
    *out_bytes = (size_t)g_unichar_to_utf8(c, NULL);
    return g_unichar_isalnum(c) || g_unichar_ismark(c) ? g_unichar_tolower(c) : 0;
}

bool orch_printed_name_append(char out[ORCH_PRINTED_NAME_CHARS], const char *word, size_t length)
{
    const char *end = word + length;
    size_t at = strlen(out), bytes;
    if (at && at + 1 < ORCH_PRINTED_NAME_CHARS && out[at - 1] != '_')
        out[at++] = '_';
    bool fits = true;
    for (const char *p = word; fits && p < end; p += bytes) {
        gunichar c = name_letter(p, end, &bytes);
        if (!c && (at == 0 || out[at - 1] == '_'))
            continue;
        char letter[6] = {c ? (char)c : '_'};
        size_t letter_bytes = c >= 0x80 ? (size_t)g_unichar_to_utf8(c, letter) : 1;
        fits = at + letter_bytes < ORCH_PRINTED_NAME_CHARS;
        if (fits)
            memcpy(out + at, letter, letter_bytes);
        at += fits ? letter_bytes : 0;
    }
    while (at && out[at - 1] == '_')
        at--;
    out[at] = 0;
    return fits;
}

bool orch_printed_name_is_valid(const char *name)
{
    return g_ascii_isalpha(*name) ||
           ((unsigned char)*name >= 0x80 && g_unichar_isalpha(g_utf8_get_char(name)));
}

void orch_printed_name_turn(char name[ORCH_PRINTED_NAME_CHARS])
{
    char turned[ORCH_PRINTED_NAME_CHARS] = "";
    const char *rest = name;
    while (*rest && !orch_printed_name_is_valid(rest)) { /* up to the word of a letter */
        rest += strcspn(rest, "_");
        rest += *rest == '_';
    }
    if (!*rest || rest == name)
        return;
    g_snprintf(turned, sizeof turned, "%s_%.*s", rest, (int)(rest - name) - 1, name);
    g_strlcpy(name, turned, ORCH_PRINTED_NAME_CHARS);
}

unsigned orch_printed_name_hash(unsigned hash, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)g_ascii_tolower(word[i]);
    return hash * 33 + ' ';
}
