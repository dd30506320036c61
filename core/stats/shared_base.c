/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/shared_base.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* Parameters that name a file of trained weights, which is not the result of a recorded run. */
static const char *const WEIGHTS_PARAMS[] = {"weights", "checkpoint", "pretrained", "base_weights"};

/* An input of the runs, by its parameter, and what the runs read as that input. */
struct base {
    char *name, *experiment; /* experiment: of the run that made it; NULL: a file */
    GHashTable *sources;     /* keys of runs, or names of files */
    GHashTable *seeds;       /* of the runs that read it; uint64_t in GLib's int64 hash */
};

static void free_base(gpointer pointer)
{
    struct base *base = pointer;
    g_free(base->name);
    g_free(base->experiment);
    g_hash_table_unref(base->sources);
    g_hash_table_unref(base->seeds);
    g_free(base);
}

static struct base *base_named(GPtrArray *bases, const char *name)
{
    for (guint i = 0; i < bases->len; i++)
        if (strcmp(((struct base *)bases->pdata[i])->name, name) == 0)
            return bases->pdata[i];
    struct base *base = g_new0(struct base, 1);
    base->name = g_strdup(name);
    base->sources = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    base->seeds = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_ptr_array_add(bases, base);
    return base;
}

static void add(struct base *base, const struct orch_run *run, const char *source)
{
    g_hash_table_add(base->sources, g_strdup(source));
    g_hash_table_add(base->seeds, (gpointer)(uintptr_t)&run->seed);
}

static void add_inputs(struct orch_store *store, const struct orch_run *run, GPtrArray *bases)
{
    g_autoptr(GPtrArray) inputs = orch_store_inputs(store, run->id, NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct orch_stored_input *input = inputs->pdata[i];
        if (!input->from_key || !*input->from_key)
            continue;
        struct base *base = base_named(bases, input->name);
        struct orch_run *made =
            base->experiment ? NULL : orch_store_run(store, input->from_key, NULL);
        base->experiment = made ? g_strdup(made->experiment) : base->experiment;
        orch_run_free(made);
        add(base, run, input->from_key);
        g_hash_table_add(seen, base->name);
    }
    g_autoptr(json_t) params = orch_store_params(store, run->id, NULL);
    for (size_t i = 0; params && i < G_N_ELEMENTS(WEIGHTS_PARAMS); i++) {
        const char *file = json_string_value(json_object_get(params, WEIGHTS_PARAMS[i]));
        if (file && *file && !g_hash_table_contains(seen, WEIGHTS_PARAMS[i]))
            add(base_named(bases, WEIGHTS_PARAMS[i]), run, file);
    }
}

static char *sentence(const struct base *base)
{
    guint sources = g_hash_table_size(base->sources), seeds = g_hash_table_size(base->seeds);
    g_autofree char *what =
        base->experiment ? g_strdup_printf("run%s of '%s' (parameter '%s')", orch_plural(sources),
                                           base->experiment, base->name)
                         : g_strdup_printf("pretrained model%s (parameter '%s')",
                                           orch_plural(sources), base->name);
    g_autofree char *count = sources == 1 ? g_strdup("one") : g_strdup_printf("%u", sources);
    return g_strdup_printf("the %u repeats share %s %s, so their spread does not show how the "
                           "result varies between such %s",
                           seeds, count, what, base->experiment ? "runs" : "models");
}

char *orch_shared_base_text(struct orch_store *store, const GPtrArray *runs)
{
    g_autoptr(GPtrArray) bases = g_ptr_array_new_with_free_func(free_base);
    for (guint i = 0; store && i < runs->len; i++)
        add_inputs(store, runs->pdata[i], bases);
    for (guint i = 0; i < bases->len; i++) {
        const struct base *base = bases->pdata[i];
        if (g_hash_table_size(base->sources) < g_hash_table_size(base->seeds))
            return sentence(base);
    }
    return NULL;
}
