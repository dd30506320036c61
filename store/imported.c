/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/imported.h"

#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct orch_imported_run *orch_imported_run_new(const char *tool, const char *id)
{
    struct orch_imported_run *run = g_new0(struct orch_imported_run, 1);
    run->tool = tool;
    run->id = g_utf8_make_valid(id, (gssize)strnlen(id, 200));
    run->verdict = ORCH_VERDICT_OK;
    run->params = json_object();
    run->results = json_object();
    run->labels = json_object();
    run->tags = g_ptr_array_new_with_free_func(g_free);
    run->names = g_ptr_array_new_with_free_func(g_free);
    run->notes = g_ptr_array_new_with_free_func(g_free);
    run->name_index = g_hash_table_new(g_str_hash, g_str_equal);
    run->points = g_array_new(FALSE, FALSE, sizeof(struct orch_imported_point));
    return run;
}

void orch_imported_run_free(void *pointer)
{
    struct orch_imported_run *run = pointer;
    if (!run)
        return;
    g_free(run->id);
    g_free(run->name);
    g_free(run->experiment);
    g_free(run->user);
    g_free(run->status);
    g_free(run->fault);
    json_decref(run->params);
    json_decref(run->results);
    json_decref(run->labels);
    g_ptr_array_unref(run->tags);
    g_ptr_array_unref(run->names);
    g_ptr_array_unref(run->notes);
    g_hash_table_unref(run->name_index);
    g_array_unref(run->points);
    g_free(run);
}

void orch_imported_set_text(char **text, const char *bytes)
{
    g_free(*text);
    *text =
        bytes ? g_utf8_make_valid(bytes, (gssize)strnlen(bytes, ORCH_IMPORTED_MESSAGE_MAX)) : NULL;
}

/* ---- adding content ---------------------------------------------------------------------------
 */

/* Turns a name into a valid label: characters that a condition cannot contain become '_'. The
 * caller frees. */
static char *label_of(const char *name)
{
    g_autofree char *cut = g_strndup(name, ORCH_IMPORTED_LABEL_MAX);
    g_autofree char *valid = g_utf8_make_valid(cut, -1);
    GString *out = g_string_new(NULL);
    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        char one[8] = "";
        g_unichar_to_utf8(g_utf8_get_char(p), one);
        g_string_append(out, orch_label_is_valid(one) ? one : "_");
    }
    if (!out->len)
        g_string_append_c(out, '_');
    return g_string_free(out, FALSE);
}

/* The tool's name as UTF-8, bounded: the form in which names are kept until orch_imported_settle.
 * The caller frees. */
static char *kept_name(const char *name)
{
    return g_utf8_make_valid(name, (gssize)strnlen(name, ORCH_IMPORTED_MESSAGE_MAX));
}

/* True for digits without a leading zero, and for "0" itself. */
static size_t whole_digits(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 1 && *text == '0' ? 0 : digits;
}

/* True for a number as programs print it: no sign before zero or a positive number, no leading
 * zeros, no zeros at the end of a fraction (but "1.0"), one digit before an exponent. Anything else
 * that could be read as a number ("00123", "1.10", "72225e2") may be a text: a postcode, a version,
 * a commit. */
static bool is_printed_number(const char *text)
{
    const char *p = text + (*text == '-');
    size_t whole = whole_digits(p);
    if (!whole || strcmp(text, "-0") == 0)
        return false;
    p += whole;
    if (*p == '.') {
        size_t fraction = strspn(++p, "0123456789");
        if (!fraction || (fraction > 1 && p[fraction - 1] == '0'))
            return false;
        p += fraction;
    }
    if (*p == 'e' || *p == 'E') {
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        size_t exponent = strspn(p, "0123456789");
        if (!exponent || whole > 1)
            return false;
        p += exponent;
    }
    return !*p;
}

static bool has_room(struct orch_imported_run *run, json_t *object, const char *text)
{
    bool fits = json_object_size(object) < ORCH_IMPORTED_NAMES_MAX &&
                (!text || strnlen(text, ORCH_IMPORTED_TEXT_MAX + 1) <= ORCH_IMPORTED_TEXT_MAX);
    run->is_cut = run->is_cut || !fits;
    return fits;
}

static json_t *typed(const char *text)
{
    int64_t whole;
    double real;
    bool is_number = is_printed_number(text), is_whole = !strpbrk(text, ".eE");
    if (is_number && is_whole && orch_int_parse(text, &whole))
        return json_integer(whole);
    if (is_number && !is_whole && orch_real_parse(text, &real))
        return orch_json_real(real);
    if (g_ascii_strcasecmp(text, "true") == 0 || g_ascii_strcasecmp(text, "false") == 0)
        return json_boolean(g_ascii_tolower(*text) == 't');
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

void orch_imported_param(struct orch_imported_run *run, const char *name, const char *text)
{
    g_autofree char *kept = kept_name(name);
    if (has_room(run, run->params, text))
        json_object_set_new(run->params, kept, typed(text));
}

void orch_imported_param_json(struct orch_imported_run *run, const char *name, json_t *value)
{
    g_autofree char *kept = kept_name(name);
    if (has_room(run, run->params, json_string_value(value)))
        json_object_set(run->params, kept, value);
    json_decref(value);
}

void orch_imported_note(struct orch_imported_run *run, const char *format, ...)
{
    enum { NOTES_MAX = 20 };
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (run->notes->len < NOTES_MAX)
        g_ptr_array_add(run->notes, g_utf8_make_valid(text, -1));
}

void orch_imported_result(struct orch_imported_run *run, const char *name, double value)
{
    g_autofree char *kept = kept_name(name);
    if (has_room(run, run->results, NULL))
        json_object_set_new(run->results, kept, orch_json_real(value));
}

void orch_imported_label(struct orch_imported_run *run, const char *name, const char *text)
{
    g_autofree char *label = label_of(name);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (has_room(run, run->labels, text))
        json_object_set_new(run->labels, label, json_string(valid));
}

void orch_imported_point(struct orch_imported_run *run, const char *name, int64_t step,
                         int64_t time_ns, double value)
{
    g_autofree char *kept = kept_name(name);
    gpointer found = NULL;
    if (!g_hash_table_lookup_extended(run->name_index, kept, NULL, &found)) {
        if (run->names->len >= ORCH_IMPORTED_METRICS_MAX) {
            run->has_more_metrics = true;
            return;
        }
        found = GUINT_TO_POINTER(run->names->len);
        g_hash_table_insert(run->name_index, kept, found);
        g_ptr_array_add(run->names, g_steal_pointer(&kept));
    }
    if (run->points->len >= ORCH_IMPORTED_POINTS_MAX) {
        run->is_cut = true;
        return;
    }
    /* MLflow accepts any step number, and TensorBoard's own summaries start at -1 */
    struct orch_imported_point point = {GPOINTER_TO_UINT(found), MAX(step, 0), time_ns, value};
    if (!run->fault)
        run->fault = orch_bound_fault(ORCH_BOUNDED_STEP, (double)point.step);
    g_array_append_val(run->points, point);
}

void orch_imported_purge(struct orch_imported_run *run, int64_t step)
{
    struct orch_imported_point *points = (struct orch_imported_point *)(void *)run->points->data;
    guint kept = 0;
    if (run->purges >= ORCH_IMPORTED_PURGES_MAX) {
        run->is_cut = true;
        return;
    }
    for (guint i = 0; i < run->points->len; i++)
        if (points[i].step < step)
            points[kept++] = points[i];
    run->purges += kept < run->points->len;
    g_array_set_size(run->points, kept);
}

int64_t orch_imported_ns(struct orch_imported_run *run, enum orch_bounded which, double time,
                         double unit_ns)
{
    char *fault = orch_bound_fault(which, time * unit_ns);
    if (!fault) /* integer arithmetic keeps whole milliseconds exact */
        return time == floor(time) ? (int64_t)time * (int64_t)unit_ns : (int64_t)(time * unit_ns);
    if (run->fault)
        g_free(fault);
    else
        run->fault = fault;
    return 0;
}

/* ---- labels -----------------------------------------------------------------------------------
 */

/* Returns the labels of `names` (char *), parallel to them. A name that is a label itself keeps it;
 * then the others get theirs, with a number where another name has the label. */
static GPtrArray *labels_of(struct orch_imported_run *run, const char *what, const GPtrArray *names)
{
    GPtrArray *labels = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
    /* the last number behind a label: all below it are taken */
    g_autoptr(GHashTable) numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < names->len; i++) {
        g_ptr_array_add(labels, label_of(names->pdata[i]));
        if (strcmp(labels->pdata[i], names->pdata[i]) == 0)
            g_hash_table_add(taken, labels->pdata[i]);
    }
    for (guint i = 0; i < names->len; i++) {
        g_autofree char *plain = g_strdup(labels->pdata[i]);
        if (strcmp(plain, names->pdata[i]) == 0)
            continue;
        unsigned n = MAX(1, GPOINTER_TO_UINT(g_hash_table_lookup(numbers, plain)));
        while (g_hash_table_contains(taken, labels->pdata[i])) {
            g_free(labels->pdata[i]);
            labels->pdata[i] = g_strdup_printf("%s_%u", plain, ++n);
        }
        g_hash_table_insert(numbers, g_strdup(plain), GUINT_TO_POINTER(n));
        g_hash_table_add(taken, labels->pdata[i]);
        if (strcmp(plain, labels->pdata[i]) != 0)
            orch_imported_note(run,
                               "its %s '%s' is stored as '%s', because another one is stored as "
                               "'%s'",
                               what, (const char *)names->pdata[i], (const char *)labels->pdata[i],
                               plain);
    }
    return labels;
}

/* Renames the entries of an object to their labels. */
static void settle_object(struct orch_imported_run *run, const char *what, json_t **object)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    const char *name;
    json_t *value, *out = json_object();
    json_object_foreach(*object, name, value) g_ptr_array_add(names, (gpointer)(uintptr_t)name);
    g_autoptr(GPtrArray) labels = labels_of(run, what, names);
    for (guint i = 0; i < names->len; i++)
        json_object_set(out, labels->pdata[i], json_object_get(*object, names->pdata[i]));
    json_decref(*object);
    *object = out;
}

void orch_imported_settle(struct orch_imported_run *run)
{
    if (run->is_settled)
        return;
    run->is_settled = true;
    settle_object(run, "parameter", &run->params);
    settle_object(run, "result", &run->results);
    GPtrArray *labels = labels_of(run, "metric", run->names);
    g_hash_table_remove_all(run->name_index);
    g_ptr_array_unref(run->names);
    run->names = labels;
    if (run->has_more_metrics)
        orch_imported_note(
            run, "it has more than %d metrics, the most that a run may have: the rest is left out",
            ORCH_IMPORTED_METRICS_MAX);
}

/* ---- order ------------------------------------------------------------------------------------
 */

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
    g_autofree char *lower = g_ascii_strdown(run->experiment ? run->experiment : run->tool, 60);
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
        g_autofree char *tag = label_of(run->tags->pdata[i]);
        if (!orch_store_note(store, key, "tag", false, tag, error))
            return false;
    }
    g_autofree char *name = run->name && *run->name ? label_of(run->name) : NULL;
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
