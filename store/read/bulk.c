/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of ids is passed to SQLite as one JSON text, so that no query per run is needed. */
#include "store/read/bulk.h"
#include "store/handle/sql.h"
#include "store/read/where.h"
#include "store/write/note_rules.h"
#include "store/write/run_fields.h"

#include <math.h>

bool orch_store_visit_runs(struct orch_store *store, const struct orch_where *where,
                           orch_bulk_run_fn visit, void *ctx, GError **error)
{
    if (where && !orch_store_where_check_names(store, where, error))
        return false;
    g_autofree char *sql = g_strdup_printf(
        "SELECT r.id, r.key, r.device_key, m.facts, r.facts, r.wall_ms FROM run r" STORE_RUN_JOINS
        " WHERE r.state = 'ok' AND r.id NOT IN " STORE_HIDDEN "%s%s%s"
        " ORDER BY r.id",
        where ? " AND (" : "", where ? orch_store_where_sql(where) : "", where ? ")" : "");
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &s, NULL) != SQLITE_OK)
        return orch_store_fail(store, error, "read");
    if (where)
        orch_store_where_bind(where, s, 1);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        const struct orch_bulk_run run = {
            .id = sqlite3_column_int64(s, 0),
            .key = orch_store_text(s, 1),
            .device_key = orch_store_text(s, 2),
            .machine_facts = orch_store_text(s, 3),
            .facts = orch_store_text(s, 4),
            .wall_ms = orch_store_column_real(s, 5),
        };
        visit(ctx, &run);
    }
    sqlite3_finalize(s);
    return more == 0;
}

static char *names_text(const char *const *names)
{
    json_t *list = json_array();
    for (int i = 0; names[i]; i++)
        json_array_append_new(list, json_string(names[i]));
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}

static const char *const QUERIES[] = {
    "SELECT e.run, e.name, e.unit, -1, e.value FROM result e"
    " WHERE e.run IN (SELECT value FROM json_each(?1))"
    " AND e.name IN (SELECT value FROM json_each(?2)) ORDER BY e.run, e.name",
    "SELECT p.run, n.name, n.unit, p.step, p.value FROM metric p"
    " CROSS JOIN metric_name n ON n.id = p.name_id WHERE p.run IN (SELECT value FROM json_each(?1))"
    " AND p.name_id IN (SELECT id FROM metric_name WHERE name IN"
    " (SELECT value FROM json_each(?2))) ORDER BY p.run, p.name_id, p.step",
};

bool orch_store_visit_values(struct orch_store *store, const int64_t *ids, size_t count,
                             const char *const *names, orch_bulk_value_fn visit, void *ctx,
                             GError **error)
{
    g_autofree char *runs = orch_store_ids_text(ids, count), *wanted = names_text(names);
    int more = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(QUERIES) && more == 0; i++) {
        sqlite3_stmt *s = orch_store_statement(store, QUERIES[i], error);
        if (!s)
            return false;
        orch_store_bind(s, "tt", runs, wanted);
        while ((more = orch_store_step(store, s, error)) > 0) {
            const struct orch_bulk_value value = {
                .run_id = sqlite3_column_int64(s, 0),
                .name = orch_store_text(s, 1),
                .unit = orch_store_text(s, 2),
                .step = sqlite3_column_int64(s, 3),
                .value = orch_store_column_real(s, 4),
            };
            if (!isnan(value.value))
                visit(ctx, &value);
        }
    }
    return more == 0;
}

bool orch_store_visit_points(struct orch_store *store, int64_t run_id, const char *const *names,
                             orch_bulk_point_fn visit, void *ctx, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT n.name, p.step, p.t_ms, p.value FROM metric p JOIN metric_name n ON n.id = "
        "p.name_id"
        " WHERE p.run = ?1 AND (?2 IS NULL OR n.name IN (SELECT value FROM json_each(?2)))"
        " ORDER BY p.run, p.name_id, p.step",
        error);
    if (!s)
        return false;
    g_autofree char *wanted = names ? names_text(names) : NULL;
    orch_store_bind(s, "it", run_id, wanted);
    bool goes_on = true;
    int more = 0;
    while (goes_on && (more = orch_store_step(store, s, error)) > 0) {
        const struct orch_point point = {
            .name = orch_store_text(s, 0),
            .step = sqlite3_column_int64(s, 1),
            .t_ms = orch_store_column_real(s, 2),
            .value = orch_store_column_real(s, 3),
        };
        goes_on = visit(ctx, &point);
    }
    sqlite3_reset(s);
    return more >= 0;
}
