/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/task.h"

#include "core/stats/group.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* The names whose values make runs incomparable. */
static const struct {
    const char *name;
    enum { OF_RUN, OF_PARAMS, OF_RESULTS } from;
} TASK[] = {
    {"recipe", OF_RUN},       {"experiment", OF_RUN},      {"plugin", OF_RUN},
    {"dataset", OF_PARAMS},   {"data_set", OF_PARAMS},     {"data", OF_PARAMS},
    {"task", OF_PARAMS},      {"classes", OF_PARAMS},      {"num_classes", OF_PARAMS},
    {"n_classes", OF_PARAMS}, {"class_count", OF_RESULTS},
};
enum { NAMES = G_N_ELEMENTS(TASK), EXPERIMENT = 1, PLUGIN = 2 };

struct orch_tasks {
    guint count;               /* runs */
    const char **values;       /* NAMES values of each run, interned; NULL: it has none */
    bool distinguishes[NAMES]; /* whether the name distinguishes tasks */
};

static char *value_of(struct orch_store *store, const struct orch_run *run, const json_t *params,
                      size_t name)
{
    if (TASK[name].from != OF_PARAMS)
        return orch_run_field(store, run, TASK[name].name);
    const json_t *value = params ? json_object_get(params, TASK[name].name) : NULL;
    return value ? orch_value_format_json(value) : NULL;
}

static const char *at(const struct orch_tasks *tasks, guint run, size_t name)
{
    return tasks->values[(gsize)run * NAMES + name];
}

/* Returns whether some experiment has several programs. Only then is the program named. */
static bool has_programs(const struct orch_tasks *tasks)
{
    g_autoptr(GHashTable) plugins = g_hash_table_new(NULL, NULL); /* interned */
    for (guint i = 0; i < tasks->count; i++) {
        gpointer experiment = (gpointer)(uintptr_t)at(tasks, i, EXPERIMENT), plugin;
        if (!g_hash_table_lookup_extended(plugins, experiment, NULL, &plugin))
            g_hash_table_insert(plugins, experiment, (gpointer)(uintptr_t)at(tasks, i, PLUGIN));
        else if (plugin != at(tasks, i, PLUGIN))
            return true;
    }
    return false;
}

static void read_values(struct orch_tasks *tasks, struct orch_store *store, const GPtrArray *runs)
{
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(json_t) params = orch_store_params(store, run->id, NULL);
        for (size_t j = 0; j < NAMES; j++) {
            g_autofree char *value = value_of(store, run, params, j);
            tasks->values[(gsize)tasks->count * NAMES + j] = value ? g_intern_string(value) : NULL;
        }
        tasks->count++;
    }
}

/* Records the names in which runs from..to differ. A missing value counts as a value of its own. */
static void find_distinguishing(struct orch_tasks *tasks, guint from, guint to)
{
    for (size_t j = 0; j < NAMES; j++)
        for (guint i = from + 1; i < to; i++)
            tasks->distinguishes[j] =
                tasks->distinguishes[j] || at(tasks, i, j) != at(tasks, from, j);
}

static struct orch_tasks *tasks_for(guint runs)
{
    struct orch_tasks *tasks = g_new0(struct orch_tasks, 1);
    tasks->values = g_new0(const char *, (gsize)runs *NAMES + 1);
    return tasks;
}

struct orch_tasks *orch_tasks_new(struct orch_store *store, const GPtrArray *runs,
                                  const char *const *chosen)
{
    struct orch_tasks *tasks = tasks_for(runs->len);
    read_values(tasks, store, runs);
    find_distinguishing(tasks, 0, runs->len);
    tasks->distinguishes[PLUGIN] = tasks->distinguishes[PLUGIN] && has_programs(tasks);
    for (size_t j = 0; j < NAMES; j++)
        if (chosen && g_strv_contains(chosen, TASK[j].name))
            tasks->distinguishes[j] = false;
    return tasks;
}

struct orch_tasks *orch_tasks_of_sides(struct orch_store *store, const GPtrArray *a,
                                       const GPtrArray *b)
{
    struct orch_tasks *tasks = tasks_for(a->len + b->len);
    read_values(tasks, store, a);
    read_values(tasks, store, b);
    find_distinguishing(tasks, 0, a->len);
    find_distinguishing(tasks, a->len, a->len + b->len);
    tasks->distinguishes[PLUGIN] = tasks->distinguishes[PLUGIN] && has_programs(tasks);
    return tasks;
}

void orch_tasks_free(struct orch_tasks *tasks)
{
    if (!tasks)
        return;
    g_free(tasks->values);
    g_free(tasks);
}

GPtrArray *orch_tasks_names(const struct orch_tasks *tasks)
{
    GPtrArray *names = g_ptr_array_new();
    for (size_t j = 0; j < NAMES; j++)
        if (tasks->distinguishes[j])
            g_ptr_array_add(names, (gpointer)(uintptr_t)TASK[j].name);
    return names;
}

char *orch_tasks_label(const struct orch_tasks *tasks, guint index, json_t *of)
{
    GString *text = g_string_new(NULL);
    const char *lacks = NULL;
    for (size_t j = 0; j < NAMES; j++) {
        const char *value = at(tasks, index, j);
        if (!tasks->distinguishes[j])
            continue;
        if (value)
            g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", TASK[j].name, value);
        else
            lacks = lacks ? lacks : TASK[j].name;
        if (of)
            json_object_set_new(of, TASK[j].name, orch_json_text_or_null(value));
    }
    if (!text->len && lacks)
        g_string_printf(text, "no %s", lacks);
    bool any = text->len;
    char *label = g_string_free(text, !any);
    return any ? label : NULL;
}
