/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/read/spark.h"
#include "store/handle/sql.h"

/* The id under which the run has the metric, and its first and last step. Returns 1, 0 when the run
 * has none, -1 with an error. */
static int find_range(struct orch_store *store, int64_t run_id, const char *metric, int64_t *out_id,
                      int64_t *out_first, int64_t *out_last, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT n.id, (SELECT min(m.step) FROM metric m WHERE m.run = ?2 AND m.name_id = n.id) f,"
        " (SELECT max(m.step) FROM metric m WHERE m.run = ?2 AND m.name_id = n.id)"
        " FROM metric_name n WHERE n.name = ?1 AND f IS NOT NULL LIMIT 1",
        error);
    if (!s)
        return -1;
    orch_store_bind(s, "ti", metric, run_id);
    const int more = orch_store_step(store, s, error);
    if (more > 0) {
        *out_id = sqlite3_column_int64(s, 0);
        *out_first = sqlite3_column_int64(s, 1);
        *out_last = sqlite3_column_int64(s, 2);
        sqlite3_reset(s);
    }
    return more;
}

GArray *orch_store_spark(struct orch_store *store, int64_t run_id, const char *metric,
                         unsigned count, GError **error)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct orch_thin_point));
    int64_t id, first, last;
    const int found = find_range(store, run_id, metric, &id, &first, &last, error);
    sqlite3_stmt *s =
        found > 0 ? orch_store_statement(store,
                                         "SELECT step, t_ms, value FROM metric WHERE run = ?1 AND"
                                         " name_id = ?2 AND step >= ?3 ORDER BY step LIMIT 1",
                                         error)
                  : NULL;
    if (found <= 0 || !s)
        return found == 0 ? g_steal_pointer(&points) : NULL;
    const double span = (double)last - (double)first;
    int64_t next = first;
    for (unsigned k = 0; k < count && next <= last; k++) {
        const double even = (double)first + span * k / (count - 1);
        const int64_t from =
            k + 1 == count || even >= (double)last ? last : MAX(next, (int64_t)even);
        orch_store_bind(s, "iii", run_id, id, from);
        const int more = orch_store_step(store, s, error);
        if (more < 0)
            return NULL;
        if (more == 0)
            break;
        const struct orch_thin_point point = {.step = sqlite3_column_int64(s, 0),
                                              .t_ms = orch_store_column_real(s, 1),
                                              .value = orch_store_column_real(s, 2)};
        g_array_append_val(points, point);
        sqlite3_reset(s);
        if (point.step == G_MAXINT64)
            break;
        next = point.step + 1;
    }
    return g_steal_pointer(&points);
}

int orch_store_series_is_long(struct orch_store *store, int64_t run_id, const char *metric,
                              int64_t points, GError **error)
{
    int64_t id, first, last, count = 0;
    const int found = find_range(store, run_id, metric, &id, &first, &last, error);
    if (found <= 0)
        return found;
    if (!orch_store_get_int(store, &count, 0, error,
                            "SELECT count(*) FROM (SELECT 1 FROM metric WHERE run = ?1 AND"
                            " name_id = ?2 LIMIT ?3)",
                            "iii", run_id, id, points + 1))
        return -1;
    return count > points;
}
