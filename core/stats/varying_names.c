/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value that was set for a whole sweep (-s epochs=3, `with:`) distinguishes runs as well as a
 * swept one: a trial run with 3 epochs and the same with 9 are not two repeats. It may also follow
 * the repeat, as a reference to the weights of the same repeat does, so it counts only where runs
 * of one seed differ in it. */
#include "core/stats/varying_names.h"

#include "core/stats/same_trial.h"
#include "core/stats/seeds.h"
#include "core/stats/tried_command.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* So many of the other names are enough to tell runs apart, and more than a table shows. */
#define OTHERS_MAX 20

/* What is known of a run. */
struct facts {
    const struct orch_run *run;
    json_t *coords; /* the swept parameters; an object */
    json_t *params; /* all, without secrets */
};

static void facts_free(void *pointer)
{
    struct facts *facts = pointer;
    json_decref(facts->coords);
    json_decref(facts->params);
    g_free(facts);
}

static GPtrArray *read_all(struct orch_store *store, const GPtrArray *runs, GError **error)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(facts_free);
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        json_t *params = orch_run_open_params(store, run, error);
        if (!params)
            return NULL;
        g_autoptr(json_t) recorded = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
        json_t *coords = json_object_get(recorded, "coords");
        struct facts *facts = g_new0(struct facts, 1);
        *facts = (struct facts){run, coords ? json_incref(coords) : json_object(), params};
        g_ptr_array_add(all, facts);
    }
    return g_steal_pointer(&all);
}

static bool experiments_vary(const GPtrArray *all)
{
    for (guint i = 1; i < all->len; i++) {
        const struct facts *a = all->pdata[i - 1], *b = all->pdata[i];
        if (g_strcmp0(a->run->experiment, b->run->experiment) != 0)
            return true;
    }
    return false;
}

/* Adds the swept parameters with more than one value, in order of first appearance. */
static void add_swept(const GPtrArray *all, GPtrArray *names)
{
    g_autoptr(GHashTable) first =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)json_decref);
    g_autoptr(GPtrArray) order = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) varying = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < all->len; i++) {
        const struct facts *facts = all->pdata[i];
        const char *name;
        json_t *value;
        json_object_foreach(facts->coords, name, value)
        {
            json_t *before = g_hash_table_lookup(first, name);
            if (orch_is_seed_name(name))
                continue;
            if (!before) {
                g_ptr_array_add(order, g_strdup(name));
                g_hash_table_insert(first, g_strdup(name), json_incref(value));
            } else if (!json_equal(before, value)) {
                g_hash_table_add(varying, (gpointer)(uintptr_t)g_intern_string(name));
            }
        }
    }
    for (guint i = 0; i < order->len; i++)
        if (g_hash_table_contains(varying, order->pdata[i]))
            g_ptr_array_add(names, g_strdup(order->pdata[i]));
}

/* A text that is equal for runs that would count as one run of one setting by these names. */
static char *setting_text(const struct facts *facts, const GPtrArray *names)
{
    const struct orch_run *run = facts->run;
    g_autoptr(json_t) all = json_pack("[s? s? i o]", run->recipe, run->experiment, run->repeat,
                                      orch_json_u64(orch_run_seed(run, facts->params)));
    for (guint i = 0; all && i < names->len; i++) {
        json_t *value = json_object_get(facts->params, names->pdata[i]);
        json_array_append_new(all, value ? json_incref(value) : json_null());
    }
    return all ? orch_json_canonical(all) : g_strdup(run->key);
}

/* Appends the parameters of the first object in which the two differ, up to OTHERS_MAX. */
static void add_differing(const json_t *a, const json_t *b, GPtrArray *names)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, name, value)
    {
        json_t *other = json_object_get(b, name);
        if (names->len >= OTHERS_MAX)
            return;
        if (!(other && json_equal(value, other)) && !orch_is_seed_name(name))
            orch_texts_add_once(names, name);
    }
}

static void add_params(const struct facts *a, const struct facts *b, GPtrArray *names)
{
    add_differing(a->params, b->params, names);
    add_differing(b->params, a->params, names);
}

static void add_command(const struct facts *a, const struct facts *b, GPtrArray *names)
{
    g_auto(GStrv) x = orch_run_setting_words(a->run), y = orch_run_setting_words(b->run);
    bool is_same = !x || !y || g_strv_equal((const char *const *)x, (const char *const *)y);
    if (!is_same)
        orch_texts_add_once(names, ORCH_COMMAND_FIELD);
}

/* Compares each run with the first one of its setting by the names that there were. */
static void add_of_equal(const GPtrArray *all, GPtrArray *names,
                         void (*add)(const struct facts *a, const struct facts *b,
                                     GPtrArray *names))
{
    g_autoptr(GHashTable) first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) added = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < all->len; i++) {
        char *setting = setting_text(all->pdata[i], names);
        const struct facts *before = g_hash_table_lookup(first, setting);
        if (before)
            add(before, all->pdata[i], added);
        g_hash_table_insert(first, setting, before ? (gpointer)(uintptr_t)before : all->pdata[i]);
    }
    for (guint i = 0; i < added->len; i++)
        orch_texts_add_once(names, added->pdata[i]);
}

char **orch_varying_names(struct orch_store *store, const GPtrArray *runs, GError **error)
{
    g_autoptr(GPtrArray) all = read_all(store, runs, error);
    if (!all)
        return NULL;
    GPtrArray *names = g_ptr_array_new();
    if (experiments_vary(all))
        g_ptr_array_add(names, g_strdup("experiment"));
    add_swept(all, names);
    add_of_equal(all, names, add_params);
    add_of_equal(all, names, add_command);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

bool orch_mixed_names_add(struct orch_store *store, const GPtrArray *runs, const char *const *skip,
                          GPtrArray *names, GError **error)
{
    g_auto(GStrv) all = runs->len > 1 ? orch_varying_names(store, runs, error) : g_new0(char *, 1);
    for (guint i = 0; all && all[i]; i++)
        if (!(skip && g_strv_contains(skip, all[i])))
            orch_texts_add_once(names, all[i]);
    return all != NULL;
}

const char *orch_mixed_word(const char *name)
{
    return strcmp(name, "experiment") == 0 ? "experiments" : name;
}

char *orch_mixed_sentence(const GPtrArray *names)
{
    g_autoptr(GString) joined = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(joined, "%s%s", i ? ", " : "", orch_mixed_word(names->pdata[i]));
    return names->len ? g_strdup_printf(ORCH_MIXED_WORDS, joined->str) : NULL;
}
