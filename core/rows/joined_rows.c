/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/joined_rows.h"

#include "core/rows/run_rows.h"

#include "lib/base/text.h"
#include "lib/devices/gpus.h"
#include "lib/net/net.h"
#include "predictors/features/batch_reading.h"

#include <string.h>

struct joint {
    GPtrArray *names;    /* char *: columns, the target first */
    GString *text;       /* CSV rows; the header is not included yet */
    GPtrArray *tables;   /* struct orch_csv * */
    GPtrArray *keys;     /* of all tables' rows */
    GPtrArray *readings; /* char *: how data sets are understood */
};

static int name_at(const GPtrArray *names, const char *name)
{
    for (guint i = 0; i < names->len; i++)
        if (strcmp(names->pdata[i], name) == 0)
            return (int)i;
    return -1;
}

static void add_table(struct joint *j, struct orch_csv *csv)
{
    g_ptr_array_add(j->tables, csv);
    for (int c = 0; c < orch_csv_columns(csv); c++)
        if (name_at(j->names, orch_csv_name(csv, c)) < 0)
            g_ptr_array_add(j->names, g_strdup(orch_csv_name(csv, c)));
}

static const char *known_gpu(const char *name)
{
    const struct orch_gpu_spec *spec = *name ? orch_gpu_find(name) : NULL;
    return spec ? spec->name : name;
}

/* Maps the names that files and frameworks use for a precision to one spelling. */
static const char *known_precision(const char *name)
{
    enum orch_precision precision;
    return orch_precision_find(name, &precision) ? orch_precision_names()[precision] : name;
}

/* The zoo's name of a network, however it is spelled; each spelling is looked up once. */
static const char *known_net(const char *name, GHashTable *nets)
{
    const char *known = g_hash_table_lookup(nets, name);
    if (known)
        return known;
    char *own = orch_net_canonical_name(name);
    own = own ? own : g_strdup(name);
    g_hash_table_insert(nets, g_strdup(name), own);
    return own;
}

static const char *known_value(const char *column, const char *value, GHashTable *nets)
{
    if (strcmp(column, "gpu") == 0)
        return known_gpu(value);
    if (strcmp(column, "net") == 0)
        return known_net(value, nets);
    return strcmp(column, "precision") == 0 ? known_precision(value) : value;
}

static struct orch_csv *join(struct joint *j, GError **error)
{
    g_autoptr(GHashTable) nets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < j->names->len; i++) {
        g_string_append(out, i ? "," : "");
        orch_csv_append(out, j->names->pdata[i]);
    }
    g_string_append_c(out, '\n');
    for (guint t = 0; t < j->tables->len; t++) {
        const struct orch_csv *csv = j->tables->pdata[t];
        for (size_t row = 0; row < orch_csv_rows(csv); row++) {
            for (guint i = 0; i < j->names->len; i++) {
                int c = orch_csv_find(csv, j->names->pdata[i]);
                const char *value = c < 0 ? "" : orch_csv_text(csv, row, c);
                g_string_append(out, i ? "," : "");
                orch_csv_append(out, known_value(j->names->pdata[i], value, nets));
            }
            g_string_append_c(out, '\n');
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
    for (int c = 0; c < orch_csv_columns(csv); c++) {
        g_string_append(out, c ? "," : "");
        orch_csv_append(out, orch_csv_name(csv, c));
    }
    g_string_append_c(out, '\n');
    guint kept = 0;
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        if (!g_hash_table_contains(wanted, keys->pdata[kept])) {
            g_ptr_array_remove_index(keys, kept);
            continue;
        }
        kept++;
        for (int c = 0; c < orch_csv_columns(csv); c++) {
            g_string_append(out, c ? "," : "");
            orch_csv_append(out, orch_csv_text(csv, row, c));
        }
        g_string_append_c(out, '\n');
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
