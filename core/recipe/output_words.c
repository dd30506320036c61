/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/recipe/output_words.h"

#include <glib.h>
#include <string.h>

/* Beginnings of a part of an option's name: "out" in --out, --outdir, --model-output. */
static const char *const BEGINNINGS[] = {"out",  "save",  "dump",  "export",
                                         "dest", "write", "logdir"};

static bool names_output(const char *option)
{
    if (strcmp(option, "-o") == 0)
        return true;
    g_autofree char *lower = g_ascii_strdown(option, -1);
    g_auto(GStrv) parts = g_strsplit_set(lower, "-_.", -1);
    for (int i = 0; parts[i]; i++)
        for (unsigned j = 0; j < G_N_ELEMENTS(BEGINNINGS); j++)
            if (g_str_has_prefix(parts[i], BEGINNINGS[j]))
                return true;
    return false;
}

bool orch_word_is_output(const char *before, const char *word)
{
    const char *equals = strchr(word, '=');
    if (*word == '-') {
        g_autofree char *option = equals ? g_strndup(word, (gsize)(equals - word)) : NULL;
        return option && names_output(option);
    }
    return before && *before == '-' && !strchr(before, '=') && names_output(before);
}
