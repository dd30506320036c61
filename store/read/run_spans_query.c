/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/read/run_spans.h"

#include "store/handle/sql.h"
#include "store/write/note_rules.h"

static const char SPANS[] =
    "SELECT r.id, r.started, r.ended FROM run r JOIN machine m ON m.id = r.machine"
    " WHERE r.recipe = ?1 AND r.experiment = ?2 AND m.key = ?3 AND r.id NOT IN " STORE_HIDDEN
    " ORDER BY r.ended DESC LIMIT 10000";

GArray *orch_store_run_spans(struct orch_store *store, const char *recipe, const char *experiment,
                             const char *machine_key, GError **error)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, SPANS, -1, &s, NULL) != SQLITE_OK) {
        orch_store_fail(store, error, "read");
        return NULL;
    }
    orch_store_bind(s, "ttt", recipe, experiment, machine_key);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(struct orch_run_span));
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_run_span span = {sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
                                     sqlite3_column_int64(s, 2)};
        g_array_append_val(spans, span);
    }
    sqlite3_finalize(s);
    if (more == 0)
        return spans;
    g_array_unref(spans);
    return NULL;
}

char *orch_store_run_span_facts(struct orch_store *store, int64_t run)
{
    sqlite3_stmt *s = orch_store_statement(store, "SELECT facts FROM run WHERE id = ?", NULL);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", run);
    char *facts = orch_store_step(store, s, NULL) > 0 ? orch_store_column_text(s, 0) : NULL;
    sqlite3_reset(s);
    return facts;
}
