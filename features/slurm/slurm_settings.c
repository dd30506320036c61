/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `slurm:` of a recipe or of a profile. Texts become arguments of sbatch, so they may not
 * hold spaces, quotes or line ends; the shell lines of `setup` are copied into the job script. */
#include "features/slurm/slurm_settings.h"

#include <string.h>

static const struct orch_slurm_settings DEFAULTS = {.margin_s = -1};

static const struct orch_yaml_key KEYS[] = {{"partition", .type = "text"},
                                            {"account", .type = "text"},
                                            {"qos", .type = "text"},
                                            {"constraint", .type = "text"},
                                            {"reservation", .type = "text"},
                                            {"exclude", .type = "text"},
                                            {"gpu_type", .type = "text"},
                                            {"setup", .type = "texts"},
                                            {"time", .type = "duration"},
                                            {"memory", .type = "bytes"},
                                            {"margin", .type = "duration"},
                                            {"requeue", .type = "flag"},
                                            {0}};

/* Lists, features (a&b, [x|y]) and ranges of nodes (n[1-4]). */
static const char WORD_CHARACTERS[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:@&|*[]()+-=!/%";

static const struct {
    const char *key;
    size_t offset;
} WORDS[] = {
    {"partition", offsetof(struct orch_slurm_settings, partition)},
    {"account", offsetof(struct orch_slurm_settings, account)},
    {"qos", offsetof(struct orch_slurm_settings, qos)},
    {"constraint", offsetof(struct orch_slurm_settings, constraint)},
    {"reservation", offsetof(struct orch_slurm_settings, reservation)},
    {"exclude", offsetof(struct orch_slurm_settings, exclude)},
    {"gpu_type", offsetof(struct orch_slurm_settings, gpu_type)},
};

static void read_word(struct recipe_draft *draft, const struct orch_yaml *map, const char *key,
                      char **out)
{
    g_autofree char *text = NULL;
    if (!orch_recipe_get_text(draft, map, key, &text))
        return;
    if (!*text || text[strspn(text, WORD_CHARACTERS)] || *text == '-') {
        orch_recipe_error_at(draft, orch_yaml_get(map, key),
                             "write the value as sbatch takes it, without spaces and quotes",
                             "'%s': '%s' is not a word that sbatch takes", key, text);
        return;
    }
    g_free(*out);
    *out = g_steal_pointer(&text);
}

static void read_setup(struct recipe_draft *draft, const struct orch_yaml *map,
                       struct orch_slurm_settings *out)
{
    g_autoptr(GPtrArray) lines = orch_recipe_get_texts(draft, map, "setup");
    if (!lines)
        return;
    GPtrArray *copies = g_ptr_array_new();
    for (guint i = 0; i < lines->len; i++)
        g_ptr_array_add(copies, g_strdup(((const struct orch_yaml *)lines->pdata[i])->text));
    g_ptr_array_add(copies, NULL);
    g_strfreev(out->setup);
    out->setup = (char **)g_ptr_array_free(copies, FALSE);
}

static void *read_settings(struct recipe_draft *draft, const struct orch_yaml *parent,
                           void *earlier)
{
    const struct orch_yaml *map = orch_recipe_get_map(draft, parent, ORCH_RECIPE_KEY_SLURM.name);
    struct orch_slurm_settings *out = earlier;
    bool may_requeue;
    if (!out) {
        out = g_new(struct orch_slurm_settings, 1);
        *out = DEFAULTS;
    }
    if (!map)
        return out;
    orch_recipe_check_keys(draft, map, "'slurm'", KEYS);
    for (unsigned i = 0; i < G_N_ELEMENTS(WORDS); i++)
        read_word(draft, map, WORDS[i].key, (char **)(void *)((char *)out + WORDS[i].offset));
    read_setup(draft, map, out);
    orch_recipe_get_duration(draft, map, "time", &out->time_s);
    orch_recipe_get_bytes(draft, map, "memory", &out->memory_bytes);
    orch_recipe_get_duration(draft, map, "margin", &out->margin_s);
    if (orch_recipe_get_bool(draft, map, "requeue", &may_requeue))
        out->no_requeue = !may_requeue;
    return out;
}

static void free_settings(void *value)
{
    struct orch_slurm_settings *settings = value;
    if (!settings)
        return;
    for (unsigned i = 0; i < G_N_ELEMENTS(WORDS); i++)
        g_free(*(char **)(void *)((char *)settings + WORDS[i].offset));
    g_strfreev(settings->setup);
    g_free(settings);
}

static const struct orch_yaml_key VALUE = {.keys = KEYS, .type = "nothing"};

const struct orch_recipe_key ORCH_RECIPE_KEY_SLURM = {.name = "slurm",
                                                      .value = &VALUE,
                                                      .in_profiles = true,
                                                      .read = read_settings,
                                                      .free = free_settings};

const struct orch_slurm_settings *orch_slurm_settings_of(const struct orch_expansion *expansion)
{
    const void *value = orch_expansion_value(expansion, &ORCH_RECIPE_KEY_SLURM);
    return value ? value : &DEFAULTS;
}
