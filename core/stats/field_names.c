/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/field_names.h"

#include "core/stats/group.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

enum { RUNS_READ_MAX = 500, SHOWN = 12, NAMES_MAX = 1000 };

/* Fields of every run that people group by (orch_run_field), and those that some runs lack. */
static const char *const FIELDS[] = {"experiment", "repeat", "who", "machine", "gpu", "recipe"};
static const char *const LACKED[] = {"commit", "branch", "tree", "plugin", NULL};

/* The parameters of the runs, each once, in the order of their first appearance. */
static GPtrArray *params_of(struct orch_store *store, const GPtrArray *runs)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < runs->len && i < RUNS_READ_MAX; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(json_t) params = orch_store_params(store, run->id, NULL);
        const char *name;
        json_t *value;
        json_object_foreach(params, name, value)
        {
            if (names->len < NAMES_MAX && g_hash_table_add(seen, g_strdup(name)))
                g_ptr_array_add(names, orch_text_line(g_strdup(name)));
        }
    }
    return names;
}

static bool any_has_number(struct orch_store *store, const GPtrArray *runs, const char *name)
{
    bool has = false;
    for (guint i = 0; i < runs->len && i < RUNS_READ_MAX && !has; i++) {
        struct orch_run_numbers *numbers = orch_run_numbers_read(store, runs->pdata[i], NULL);
        has = numbers && orch_run_numbers_has(numbers, name);
        orch_run_numbers_free(numbers);
    }
    return has;
}

static char *list_text(const GPtrArray *params)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < params->len && i < SHOWN; i++)
        g_string_append_printf(text, "%s'%s'", i ? ", " : "these runs have ",
                               (const char *)params->pdata[i]);
    if (params->len > SHOWN)
        g_string_append_printf(text, " and %u more", params->len - SHOWN);
    for (guint i = 0; i < G_N_ELEMENTS(FIELDS); i++)
        g_string_append_printf(text, "%s%s'%s'", !i && params->len ? "; " : "",
                               i ? ", " : "every run has ", FIELDS[i]);
    return g_string_free(text, FALSE);
}

char *orch_field_hint(struct orch_store *store, const GPtrArray *runs, const char *name)
{
    g_autoptr(GPtrArray) params = params_of(store, runs), all = g_ptr_array_new();
    if (any_has_number(store, runs, name))
        return g_strdup_printf("'%s' is a metric or a result; %s", name,
                               params->len ? "name a parameter" : "name 'experiment'");
    if (g_strv_contains(LACKED, name))
        return g_strdup_printf("none of the selected runs records its '%s'", name);
    g_ptr_array_extend(all, params, NULL, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(FIELDS); i++)
        g_ptr_array_add(all, (gpointer)(uintptr_t)FIELDS[i]);
    g_ptr_array_add(all, NULL);
    char *near = orch_suggest_hint(name, (const char *const *)all->pdata);
    return near ? near : list_text(params);
}
