/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/joined_rows.h"

#include "core/rows/rows_text.h"
#include "core/rows/run_rows.h"

#include "lib/devices/gpus.h"
#include "lib/net/net.h"
#include "predictors/features/batch_reading.h"

#include <string.h>

struct joint {
    GPtrArray *names;    /* char *: columns, the target first */
    GPtrArray *tables;   /* struct orch_csv * */
    GPtrArray *keys;     /* of all tables' rows */
    GPtrArray *readings; /* char *: how data sets are understood */
};

static void add_table(struct joint *j, struct orch_csv *csv)
{
    g_ptr_array_add(j->tables, csv);
    for (int c = 0; c < orch_csv_columns(csv); c++)
        if (!g_ptr_array_find_with_equal_func(j->names, orch_csv_name(csv, c), g_str_equal, NULL))
            g_ptr_array_add(j->names, g_strdup(orch_csv_name(csv, c)));
}

/* The zoo's name of a network, however it is spelled; each spelling is looked up once. */
static const char *known_net(const char *name, GHashTable *nets)
{
    char *known = g_hash_table_lookup(nets, name);
    if (!known) {
        known = orch_net_canonical_name(name);
        known = known ? known : g_strdup(name);
        g_hash_table_insert(nets, g_strdup(name), known);
    }
    return known;
}

/* Maps the names that files and frameworks use for GPUs, networks and precisions to one spelling.
 */
static const char *known_value(const char *column, const char *value, GHashTable *nets)
{
    enum orch_precision precision;
    bool is_gpu = strcmp(column, "gpu") == 0 && *value;
    const struct orch_gpu_spec *gpu = is_gpu ? orch_gpu_find(value) : NULL;
    if (gpu)
        return gpu->name;
    if (strcmp(column, "net") == 0)
        return known_net(value, nets);
    bool is_known = strcmp(column, "precision") == 0 && orch_precision_find(value, &precision);
    return is_known ? orch_precision_names()[precision] : value;
}

static struct orch_csv *join(struct joint *j, GError **error)
{
    g_autoptr(GHashTable) nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < j->names->len; i++)
        orch_rows_append_text(out, j->names->pdata[i]);
    orch_rows_end(out);
    for (guint t = 0; t < j->tables->len; t++) {
        const struct orch_csv *csv = j->tables->pdata[t];
        for (size_t row = 0; row < orch_csv_rows(csv); row++) {
            for (guint i = 0; i < j->names->len; i++) {
                int c = orch_csv_find(csv, j->names->pdata[i]);
                const char *value = c < 0 ? "" : orch_csv_text(csv, row, c);
                orch_rows_append_text(out, known_value(j->names->pdata[i], value, nets));
            }
            orch_rows_end(out);
        }
    }
    struct orch_csv *all = orch_csv_parse("the store's rows", out->str, out->len, error);
    g_string_free(out, TRUE);
    return all;
}

/* Keeps only the rows of the runs in `only`. */
static struct orch_csv *pick_runs(struct orch_store *store, const char *const *only,
                                  struct orch_csv *csv, GPtrArray *keys, GError **error)
{
    g_autoptr(GHashTable) wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int i = 0; only[i]; i++) {
        struct orch_run *run = orch_store_run(store, only[i], error);
        if (!run)
            return NULL;
        g_hash_table_add(wanted, g_strdup(run->key));
        orch_run_free(run);
    }
    GString *out = g_string_new(NULL);
    for (int c = 0; c < orch_csv_columns(csv); c++)
        orch_rows_append_text(out, orch_csv_name(csv, c));
    orch_rows_end(out);
    guint kept = 0;
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        if (!g_hash_table_contains(wanted, keys->pdata[kept])) {
            g_ptr_array_remove_index(keys, kept);
            continue;
        }
        kept++;
        for (int c = 0; c < orch_csv_columns(csv); c++)
            orch_rows_append_text(out, orch_csv_text(csv, row, c));
        orch_rows_end(out);
    }
    struct orch_csv *some = orch_csv_parse("these runs", out->str, out->len, error);
    g_string_free(out, TRUE);
    return some;
}

static bool add_runs(struct orch_store *store, const struct orch_training_request *r,
                     struct joint *j, GError **error)
{
    struct orch_csv *csv = orch_rows_of_runs(store, r->where, r->target, j->keys, NULL, error);
    if (csv && r->only) {
        struct orch_csv *some = pick_runs(store, r->only, csv, j->keys, error);
        orch_csv_free(csv);
        csv = some;
    }
    if (csv)
        add_table(j, csv);
    return csv;
}

static bool add_dataset(struct orch_store *store, const char *name, const char *target,
                        struct joint *j, GError **error)
{
    struct orch_csv *csv = orch_rows_of_dataset(store, name, target, error);
    if (!csv)
        return false;
    g_autofree char *reading = orch_batch_reading_apply(csv, NULL, target);
    if (reading)
        g_ptr_array_add(j->readings, g_strdup_printf("data set '%s': %s", name, reading));
    for (size_t row = 0; row < orch_csv_rows(csv); row++)
        g_ptr_array_add(j->keys, g_strdup(name));
    add_table(j, csv);
    return true;
}

struct orch_csv *orch_joined_rows(struct orch_store *store, const struct orch_training_request *r,
                                  GPtrArray *keys, GPtrArray *readings, GError **error)
{
    struct joint j = {.names = g_ptr_array_new_with_free_func(g_free),
                      .tables = g_ptr_array_new_with_free_func((GDestroyNotify)orch_csv_free),
                      .keys = keys,
                      .readings = readings};
    g_ptr_array_add(j.names, g_strdup(r->target));
    bool ok = !r->runs || add_runs(store, r, &j, error);
    for (int i = 0; ok && r->datasets && r->datasets[i]; i++)
        ok = add_dataset(store, r->datasets[i], r->target, &j, error);
    struct orch_csv *csv = ok ? join(&j, error) : NULL;
    g_ptr_array_unref(j.names);
    g_ptr_array_unref(j.tables);
    return csv;
}
