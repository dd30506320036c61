/* SPDX-License-Identifier: MIT */
/* Normalisation of GPU names. */
#include "lib/devices/gpus.h"

#include <string.h>

/* Words in drivers' and shops' names that do not distinguish GPUs. */
static const char *const NOISE[] = {"nvidia",   "tesla", "geforce", "quadro", "gpu",
                                    "graphics", "gtx",   "rtx",     "pny",    NULL};

/* Those commonly written without a blank after them: "RTX5090", "TeslaV100". */
static const char *const GLUED[] = {"nvidia", "geforce", "tesla", "quadro", "gtx", "rtx", NULL};

static bool is_noise(const char *word)
{
    for (int i = 0; NOISE[i]; i++)
        if (strcmp(NOISE[i], word) == 0)
            return true;
    return false;
}

/* Normalises a name for comparison: lower case, without vendor, product line, blanks and
 * punctuation. "Tesla V100-SXM2-16GB" and "v100 sxm2 16gb" have the same key. Caller frees. */
static char *gpu_name_key(const char *name)
{
    g_autofree char *lower = g_ascii_strdown(name, -1);
    g_auto(GStrv) words = g_strsplit_set(lower, " -_()/.", -1);
    GString *key = g_string_new(NULL);
    for (int i = 0; words[i]; i++)
        if (!is_noise(words[i]))
            g_string_append(key, words[i]);
    for (int i = 0; GLUED[i]; i++)
        g_string_replace(key, GLUED[i], "", 0);
    return g_string_free(key, FALSE);
}

static bool has_key(const char *name, const char *key)
{
    g_autofree char *own = gpu_name_key(name);
    return *own && strcmp(own, key) == 0;
}

static bool is_keyed(const struct orch_gpu_spec *spec, const char *key)
{
    if (has_key(spec->name, key))
        return true;
    g_auto(GStrv) aliases = g_strsplit(spec->aliases ? spec->aliases : "", ",", -1);
    for (int i = 0; aliases[i]; i++)
        if (has_key(aliases[i], key))
            return true;
    return false;
}

bool orch_gpu_is_named(const struct orch_gpu_spec *spec, const char *name)
{
    g_autofree char *key = gpu_name_key(name);
    return is_keyed(spec, key);
}

bool orch_gpu_is_named_by_memory(const struct orch_gpu_spec *spec, const char *name)
{
    g_autofree char *key = gpu_name_key(name);
    g_autofree char *with = g_strconcat(key, g_str_has_suffix(key, "gb") ? "" : "gb", NULL);
    g_autofree char *memory = g_strdup_printf("%.0fgb", spec->memory_gb);
    if (!g_str_has_suffix(with, memory) || !strpbrk(name, " -_"))
        return false;
    if (is_keyed(spec, with))
        return true;
    with[strlen(with) - strlen(memory)] = '\0';
    return is_keyed(spec, with);
}
