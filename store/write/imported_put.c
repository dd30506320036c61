/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes an imported run (imported.c) into the store: its points in order, its record, its labels.
 */
#include "store/write/imported.h"

#include "lib/base/json.h"
#include "lib/base/label_from.h"
#include "lib/base/text.h"
#include "store/handle/sql.h"
#include "store/write/note_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int compare_points(const void *a, const void *b)
{
    const struct orch_imported_point *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Numbers the points of a metric that was logged without steps by time; all its points have the
 * same step. */
static void count_steps(struct orch_imported_run *run)
{
    struct orch_imported_point *points = (struct orch_imported_point *)(void *)run->points->data;
    guint count = run->points->len;
    if (count)
        qsort(points, count, sizeof *points, compare_points);
    for (guint i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && points[end].name == points[i].name; end++)
            ;
        bool is_one_step = end - i > 1 && points[end - 1].step == points[i].step;
        for (guint j = i; is_one_step && j < end; j++)
            points[j].step = j - i;
    }
}

static void settle_times(struct orch_imported_run *run)
{
    int64_t first = INT64_MAX, last = 0;
    for (guint i = 0; i < run->points->len; i++) {
        int64_t at = g_array_index(run->points, struct orch_imported_point, i).time_ns;
        if (at > 0) {
            first = MIN(first, at);
            last = MAX(last, at);
        }
    }
    if (run->started_ns <= 0)
        run->started_ns = first < INT64_MAX ? first : 0;
    if (run->ended_ns < run->started_ns)
        run->ended_ns = MAX(last, run->started_ns);
}

/* ---- the record -------------------------------------------------------------------------------
 */

/* Makes a key in the form of orch_key_make from the run's start and a digest of its whole
 * content. */
static void make_key(const struct orch_imported_run *run, const char *head, char *out)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, (const guchar *)head, (gssize)strlen(head) + 1);
    for (guint i = 0; i < run->names->len; i++) {
        const char *name = run->names->pdata[i];
        g_checksum_update(sum, (const guchar *)name, (gssize)strlen(name) + 1);
    }
    for (guint i = 0; i < run->points->len; i++) {
        const struct orch_imported_point *point =
            &g_array_index(run->points, struct orch_imported_point, i);
        double value = isnan(point->value) ? (double)NAN : point->value;
        g_checksum_update(sum, (const guchar *)&point->name, sizeof point->name);
        g_checksum_update(sum, (const guchar *)&point->step, sizeof point->step);
        g_checksum_update(sum, (const guchar *)&point->time_ns, sizeof point->time_ns);
        g_checksum_update(sum, (const guchar *)&value, sizeof value);
    }
    const char *hex = g_checksum_get_string(sum);
    int64_t ms = run->started_ns / 1000000;
    snprintf(out, ORCH_KEY_CHARS, "%08x-%04x-7%.3s-8%.3s-%.12s",
             (unsigned)((ms >> 16) & 0xffffffff), (unsigned)(ms & 0xffff), hex, hex + 3, hex + 6);
    g_checksum_free(sum);
}

static json_t *facts_of(const struct orch_imported_run *run)
{
    json_t *from =
        json_pack("{s:s s:s s:s? s:s? s:s? s:O}", "tool", run->tool, "id", run->id, "status",
                  run->status, "user", run->user, "name", run->name, "labels", run->labels);
    if (run->is_cut || run->has_more_metrics)
        json_object_set_new(from, "cut", json_true());
    return json_pack("{s:o s:O}", "imported", from, "coords", run->params);
}

struct stream {
    const struct orch_imported_run *run;
    guint next;
};

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct stream *stream = ctx;
    const struct orch_imported_run *run = stream->run;
    if (stream->next == run->points->len)
        return false;
    const struct orch_imported_point *point =
        &g_array_index(run->points, struct orch_imported_point, stream->next++);
    int64_t since = point->time_ns > run->started_ns ? point->time_ns - run->started_ns : 0;
    *out = (struct orch_point){run->names->pdata[point->name], point->step, (double)since / 1e6,
                               point->value};
    return true;
}

/* A valid experiment name. The caller frees. */
static char *experiment_of(const struct orch_imported_run *run)
{
    enum { BYTES_MAX = 60 };
    g_autofree char *ascii =
        orch_text_ascii(run->experiment ? run->experiment : run->tool, BYTES_MAX);
    g_autofree char *lower = g_ascii_strdown(ascii, -1);
    for (char *p = lower; *p; p++)
        if (!g_ascii_isalnum(*p) && *p != '-')
            *p = '_';
    const char *start = lower + strspn(lower, "_-0123456789");
    return g_strdup(*start ? start : run->tool);
}

static const char *type_of(const json_t *value)
{
    return json_is_integer(value)   ? "int"
           : json_is_real(value)    ? "real"
           : json_is_boolean(value) ? "bool"
                                    : "string";
}

static bool write_record(struct orch_store *store, const struct orch_imported_run *run,
                         const char *key, const char *facts, GError **error)
{
    size_t param_count = json_object_size(run->params), i = 0, j = 0;
    g_autofree struct orch_named_text *params = g_new0(struct orch_named_text, param_count + 1);
    g_autofree struct orch_named_real *results =
        g_new0(struct orch_named_real, json_object_size(run->results) + 1);
    g_autofree struct orch_metric_row *metrics =
        g_new0(struct orch_metric_row, run->names->len + 1);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    const char *name;
    json_t *value;
    json_object_foreach(run->params, name, value)
    {
        char *text = orch_json_canonical(value);
        g_ptr_array_add(texts, text);
        params[i++] = (struct orch_named_text){name, type_of(value), text};
    }
    json_object_foreach(run->results, name, value)
    {
        results[j].name = name;
        orch_json_get_real(value, &results[j++].value);
    }
    for (guint k = 0; k < run->names->len; k++)
        metrics[k] = (struct orch_metric_row){run->names->pdata[k], NULL, "none"};
    g_autofree char *experiment = experiment_of(run);
    g_autofree char *plugin = g_strconcat("import:", run->tool, NULL);
    g_autofree char *reason = run->verdict == ORCH_VERDICT_OK || !run->status
                                  ? NULL
                                  : g_strdup_printf("%s says '%s'", run->tool, run->status);
    struct stream stream = {.run = run};
    struct orch_record record = {
        .key = key,
        .recipe = plugin,
        .experiment = experiment,
        .plugin = plugin,
        .plugin_version = "1.0.0",
        .build = run->id,
        .repeat = 1,
        .attempt = 1,
        .state = orch_verdict_name(run->verdict),
        .reason = reason,
        .exit_code = -1,
        .who = orch_user_name(),
        .started_ns = run->started_ns,
        .ended_ns = run->ended_ns,
        .wall_ms = (double)(run->ended_ns - run->started_ns) / 1e6,
        .facts = facts,
        .params = params,
        .param_count = param_count,
        .results = results,
        .result_count = j,
        .metrics = metrics,
        .metric_count = run->names->len,
        .next_point = next_point,
        .next_ctx = &stream,
    };
    return orch_store_record(store, &record, error);
}

/* Hides earlier imports of the same run. */
static bool hide_earlier(struct orch_store *store, const struct orch_imported_run *run,
                         const char *key, GError **error)
{
    g_autofree char *plugin = g_strconcat("import:", run->tool, NULL);
    g_autofree char *why = g_strdup_printf("imported again as %s", key);
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    sqlite3_stmt *s =
        orch_store_statement(store,
                             "SELECT r.key FROM run r WHERE r.plugin = ? AND r.build = ?"
                             " AND r.key <> ? AND r.id NOT IN " STORE_HIDDEN " LIMIT 100",
                             error);
    if (!s)
        return false;
    orch_store_bind(s, "ttt", plugin, run->id, key);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(keys, orch_store_column_text(s, 0));
    bool ok = more == 0;
    for (guint i = 0; ok && i < keys->len; i++)
        ok = orch_store_note(store, keys->pdata[i], "tombstone", false, why, error);
    return ok;
}

static bool put_labels(struct orch_store *store, const struct orch_imported_run *run,
                       const char *key, GError **error)
{
    for (guint i = 0; i < MIN(run->tags->len, 100u); i++) {
        g_autofree char *tag = orch_label_from(run->tags->pdata[i]);
        if (!orch_store_note(store, key, "tag", false, tag, error))
            return false;
    }
    g_autofree char *name = run->name && *run->name ? orch_label_from(run->name) : NULL;
    return !name || orch_store_set_name(store, key, name, false, error);
}

/* The run, its labels and the hiding of earlier imports, in one transaction: a later import of the
 * same run finds its key and adds nothing. */
static bool put_all(struct orch_store *store, struct orch_imported_run *run, const char *key,
                    const char *facts, GError **error)
{
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (write_record(store, run, key, facts, error) && put_labels(store, run, key, error) &&
        hide_earlier(store, run, key, error))
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}

const char *orch_imported_fault(struct orch_imported_run *run)
{
    orch_imported_settle(run);
    settle_times(run);
    if (!run->fault)
        run->fault = orch_bound_fault(ORCH_BOUNDED_STARTED_NS, (double)run->started_ns);
    if (!run->fault)
        run->fault = orch_bound_fault(ORCH_BOUNDED_ENDED_NS, (double)run->ended_ns);
    return run->fault;
}

bool orch_store_put_imported(struct orch_store *store, struct orch_imported_run *run,
                             bool *out_added, GError **error)
{
    char key[ORCH_KEY_CHARS];
    int64_t known = 0;
    orch_imported_settle(run);
    count_steps(run);
    settle_times(run);
    g_autoptr(json_t) facts = facts_of(run);
    g_autofree char *facts_text = orch_json_canonical(facts);
    g_autoptr(json_t) head =
        json_pack("{s:O s:O s:s? s:I s:I}", "facts", facts, "results", run->results, "experiment",
                  run->experiment, "started", (json_int_t)run->started_ns, "ended",
                  (json_int_t)run->ended_ns);
    g_autofree char *head_text = orch_json_canonical(head);
    make_key(run, head_text, key);
    if (!orch_store_get_int(store, &known, 0, error, "SELECT 1 FROM run WHERE key = ?", "t", key))
        return false;
    *out_added = !known;
    return known || put_all(store, run, key, facts_text, error);
}
