/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the source and the licence of a table from the note beside it. */
#include "features/imports/import.h"

#include "lib/base/file.h"

#include <string.h>

#define NOTE_BYTES_MAX (1 << 20)

/* The text after "Source:" at the start of a line (case-insensitive); NULL when there is no such
 * line. */
static char *line_behind(const char *text, const char *word)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    size_t length = strlen(word);
    for (int i = 0; lines[i]; i++) {
        const char *line = lines[i] + strspn(lines[i], " \t-*");
        if (g_ascii_strncasecmp(line, word, length) != 0 || line[length] != ':')
            continue;
        char *value = g_strstrip(g_strdup(line + length + 1));
        if (*value)
            return value;
        g_free(value);
    }
    return NULL;
}

/* The end of a clause: a comma, a semicolon or a full stop before a blank, or the text's end. */
static size_t clause_length(const char *text)
{
    for (size_t i = 0; text[i]; i++)
        if (strchr(",;.", text[i]) && (text[i + 1] == ' ' || !text[i + 1]))
            return i;
    return strlen(text);
}

/* Extracts the licence: "github.com/x/y, commit 12, licence MIT (LICENSE)." gives "MIT (LICENSE)".
 */
static char *licence_within(const char *source)
{
    static const char *const words[] = {"licence", "license"};
    g_autofree char *lower = g_ascii_strdown(source, -1);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        const char *at = strstr(lower, words[i]);
        if (!at)
            continue;
        size_t offset = (size_t)(at - lower);
        if (offset >= 3 && strncmp(at - 3, "no ", 3) == 0)
            return g_strdup("none stated");
        const char *rest = source + offset + strlen(words[i]);
        rest += strspn(rest, " :");
        char *value = g_strstrip(g_strndup(rest, clause_length(rest)));
        if (*value)
            return value;
        g_free(value);
    }
    return NULL;
}

void orch_import_provenance(const char *path, char **out_source, char **out_licence)
{
    *out_source = *out_licence = NULL;
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    bool has_ending = dot && (!slash || dot > slash);
    g_autofree char *stem = has_ending ? g_strndup(path, (size_t)(dot - path)) : g_strdup(path);
    g_autofree char *note = g_strconcat(stem, ".md", NULL);
    g_autofree char *text = NULL;
    if (!g_file_test(note, G_FILE_TEST_IS_REGULAR) ||
        !orch_file_read(note, NOTE_BYTES_MAX, &text, NULL, NULL) ||
        !g_utf8_validate(text, -1, NULL))
        return;
    *out_source = line_behind(text, "Source");
    *out_licence = line_behind(text, "Licence");
    if (!*out_licence)
        *out_licence = line_behind(text, "License");
    if (!*out_licence && *out_source)
        *out_licence = licence_within(*out_source);
}
