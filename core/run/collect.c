/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal is read twice: once for everything but metric points (their lines are skipped without
 * being decoded), once to stream the points into the store, so memory stays bounded. */
#include "core/run/collect.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/journal.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All that becomes one record. */
struct gathering {
    json_t *record;    /* as made before the start */
    json_t *facts;     /* merged with the host's */
    GArray *results;   /* struct orch_named_real, names borrowed from `events` */
    GArray *artifacts; /* struct orch_artifact_row, likewise */
    GPtrArray *texts;  /* owned strings */
    GString *log;      /* log events, as text */
    json_t *notes;
    char *reason, *stderr_tail;
    char *lost_artifact; /* the first one that is not what the host saw, and why; or NULL */
    enum orch_verdict verdict;
    char *state;
    int exit_code, signal;
    int64_t started_ns, ended_ns;
    double wall_ms;
    bool ended;
};

static const char *keep(struct gathering *all, const char *text)
{
    char *copy = g_strdup(text);
    g_ptr_array_add(all->texts, copy);
    return copy;
}

static void set_result(struct gathering *all, const char *name, double value)
{
    for (guint i = 0; i < all->results->len; i++) {
        struct orch_named_real *row = &g_array_index(all->results, struct orch_named_real, i);
        if (strcmp(row->name, name) == 0) {
            row->value = value;
            return;
        }
    }
    struct orch_named_real row = {keep(all, name), value};
    g_array_append_val(all->results, row);
}

static void add_artifact(struct gathering *all, const char *name, const char *sha256, int64_t bytes)
{
    struct orch_artifact_row row = {keep(all, name), keep(all, sha256), bytes};
    for (guint i = 0; i < all->artifacts->len; i++) {
        struct orch_artifact_row *there =
            &g_array_index(all->artifacts, struct orch_artifact_row, i);
        if (strcmp(there->name, name) == 0) {
            *there = row;
            return;
        }
    }
    g_array_append_val(all->artifacts, row);
}

static void take_end(struct gathering *all, const struct orch_event *event)
{
    json_t *facts = json_object_get(event->json, "facts");
    all->ended = true;
    all->verdict = event->verdict;
    g_free(all->state);
    all->state = g_strdup(event->verdict_word);
    g_free(all->reason);
    all->reason = g_strdup(event->text);
    all->exit_code = (int)orch_json_int(event->json, "exit_code", -1);
    all->signal = (int)orch_json_int(event->json, "signal", 0);
    all->started_ns = orch_json_int(event->json, "started_ns", all->started_ns);
    all->ended_ns = orch_json_int(event->json, "ended_ns", all->ended_ns);
    orch_json_get_real(json_object_get(event->json, "wall_ms"), &all->wall_ms);
    g_free(all->stderr_tail);
    all->stderr_tail = g_strdup(orch_json_text(event->json, "stderr_tail", NULL));
    if (json_is_object(facts))
        json_object_update(all->facts, facts);
    if (all->stderr_tail && *all->stderr_tail && !orch_verdict_facts(all->verdict)->spares)
        json_object_set_new(all->facts, "stderr_tail", json_string(all->stderr_tail));
}

static void lose_artifact(struct gathering *all, const struct orch_event *event, const char *why)
{
    g_autofree char *text = g_strdup_printf("artifact '%s': '%s' %s after the trial had ended",
                                            event->name, event->text, why);
    g_string_append_printf(all->log, "warning: %s\n", text);
    if (!all->lost_artifact)
        all->lost_artifact = g_steal_pointer(&text);
}

/* A file outside of the trial's folder may have changed or gone since its host looked, above all
 * when its runner was killed and another command collects it later. That must cost this run only:
 * an error here would meet every later command again. */
static bool take_artifact(struct orch_store *store, struct gathering *all,
                          const struct orch_event *event, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    struct stat info;
    if (stat(event->text, &info) != 0 || !S_ISREG(info.st_mode) || access(event->text, R_OK) != 0) {
        lose_artifact(all, event, "was removed or became unreadable");
        return true;
    }
    if (!orch_store_put_object(store, event->text, sha256, &bytes, error))
        return false;
    if (event->sha256 && strcmp(sha256, event->sha256) != 0)
        lose_artifact(all, event, "changed");
    else
        add_artifact(all, event->name, sha256, bytes);
    return true;
}

/* A run that would spare others must have all that it says it made. */
static void judge_artifacts(struct gathering *all)
{
    if (!all->lost_artifact || !orch_verdict_facts(all->verdict)->spares)
        return;
    all->verdict = ORCH_VERDICT_LOST;
    g_free(all->state);
    all->state = g_strdup(orch_verdict_name(ORCH_VERDICT_LOST));
    g_free(all->reason);
    all->reason = g_strdup(all->lost_artifact);
}

static bool take_event(struct orch_store *store, struct gathering *all,
                       const struct orch_event *event, GError **error)
{
    switch (event->kind) {
    case ORCH_EVENT_RESULT:
        set_result(all, event->name, event->value);
        return true;
    case ORCH_EVENT_NOTE:
        json_array_append_new(all->notes, json_string(event->text));
        return true;
    case ORCH_EVENT_LOG:
        g_string_append_printf(all->log, "%s: %s\n", orch_json_text(event->json, "level", "info"),
                               event->text);
        return true;
    case ORCH_EVENT_ARTIFACT:
        return take_artifact(store, all, event, error);
    case ORCH_EVENT_END:
        take_end(all, event);
        return true;
    default:
        return true;
    }
}

/* Captured output is kept like an artifact; an empty one is not. */
static bool take_output(struct orch_store *store, struct gathering *all, const char *trial_dir,
                        const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, name, NULL);
    struct stat info;
    if (stat(path, &info) != 0 || info.st_size == 0)
        return true;
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    if (!orch_store_put_object(store, path, sha256, &bytes, error))
        return false;
    add_artifact(all, name, sha256, bytes);
    return true;
}

static bool take_log(struct orch_store *store, struct gathering *all, const char *trial_dir,
                     GError **error)
{
    if (all->log->len) {
        g_autofree char *path = g_build_filename(trial_dir, "log", NULL);
        if (!orch_file_write(path, all->log->str, all->log->len, false, error))
            return false;
    }
    return take_output(store, all, trial_dir, "stdout", error) &&
           take_output(store, all, trial_dir, "stderr", error) &&
           (!all->log->len || take_output(store, all, trial_dir, "log", error));
}

static bool gather(struct orch_store *store, struct gathering *all, const char *trial_dir,
                   GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, "journal", NULL);
    struct orch_journal *journal = orch_journal_open(path, error);
    if (!journal)
        return false;
    orch_journal_skip_metrics(journal);
    struct orch_event event;
    GError *problem = NULL;
    bool ok = true;
    while (ok && orch_journal_next(journal, &event, &problem)) {
        ok = take_event(store, all, &event, &problem);
        orch_event_clear(&event);
    }
    unsigned bad = orch_journal_bad_count(journal);
    orch_journal_close(journal);
    if (bad)
        json_object_set_new(all->facts, "journal_bad_lines", json_integer(bad));
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (json_array_size(all->notes))
        json_object_set(all->facts, "notes", all->notes);
    judge_artifacts(all);
    return take_log(store, all, trial_dir, error);
}

/* ---- points -----------------------------------------------------------------------------------
 */

struct points {
    struct orch_journal *journal;
    struct orch_event event;
    bool has_event;
    size_t next;
    int64_t count;
};

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    struct points *points = ctx;
    while (!points->has_event || points->next == points->event.point_count) {
        if (points->has_event)
            orch_event_clear(&points->event);
        points->has_event = orch_journal_next(points->journal, &points->event, error);
        points->next = 0;
        if (!points->has_event)
            return false;
        if (points->event.kind != ORCH_EVENT_METRICS)
            points->next = points->event.point_count;
    }
    *out = points->event.points[points->next++];
    points->count++;
    return true;
}

/* ---- the record -------------------------------------------------------------------------------
 */

/* Rows of an array of arrays of texts; a null is NULL. */
static const char *cell_text(const json_t *rows, size_t row, size_t column)
{
    return json_string_value(json_array_get(json_array_get(rows, row), column));
}

static bool write_record(struct orch_store *store, struct gathering *all, const char *key,
                         const char *trial_dir, int64_t *out_points, GError **error)
{
    const json_t *r = all->record;
    const json_t *source = json_object_get(r, "source");
    const json_t *params = json_object_get(r, "params");
    const json_t *inputs = json_object_get(r, "inputs");
    const json_t *metrics = json_object_get(r, "metrics");
    size_t param_count = json_array_size(params), input_count = json_array_size(inputs),
           metric_count = json_array_size(metrics);
    g_autofree struct orch_named_text *param_rows = g_new0(struct orch_named_text, param_count + 1);
    for (size_t i = 0; i < param_count; i++)
        param_rows[i] = (struct orch_named_text){cell_text(params, i, 0), cell_text(params, i, 1),
                                                 cell_text(params, i, 2)};
    g_autofree struct orch_input_row *input_rows = g_new0(struct orch_input_row, input_count + 1);
    for (size_t i = 0; i < input_count; i++)
        input_rows[i] = (struct orch_input_row){cell_text(inputs, i, 0), cell_text(inputs, i, 1),
                                                cell_text(inputs, i, 2)};
    g_autofree struct orch_metric_row *metric_rows =
        g_new0(struct orch_metric_row, metric_count + 1);
    for (size_t i = 0; i < metric_count; i++)
        metric_rows[i] = (struct orch_metric_row){
            cell_text(metrics, i, 0), cell_text(metrics, i, 1), cell_text(metrics, i, 2)};
    const json_t *units = json_object_get(all->facts, "metric_units");
    const char *unit_of;
    json_t *unit;
    metric_rows =
        g_renew(struct orch_metric_row, metric_rows, metric_count + json_object_size(units) + 1);
    json_object_foreach((json_t *)(uintptr_t)units, unit_of, unit)
    {
        metric_rows[metric_count++] =
            (struct orch_metric_row){unit_of, json_string_value(unit), "none"};
    }
    g_autofree char *machine = orch_json_canonical(json_object_get(r, "machine_facts"));
    g_autofree char *facts = orch_json_canonical(all->facts);
    guint64 seed = 0;
    orch_json_get_u64(json_object_get(r, "seed"), &seed);
    g_autofree char *journal = g_build_filename(trial_dir, "journal", NULL);
    struct points points = {.journal = orch_journal_open(journal, error)};
    if (!points.journal)
        return false;
    struct orch_record record = {
        .key = key,
        .recipe_key = orch_json_text(r, "recipe_key", NULL),
        .recipe = orch_json_text(r, "recipe", NULL),
        .experiment = orch_json_text(r, "experiment", NULL),
        .plugin = orch_json_text(r, "plugin", NULL),
        .plugin_version = orch_json_text(r, "plugin_version", NULL),
        .build = orch_json_text(r, "build", NULL),
        .source_tree = orch_json_text(source, "tree", NULL),
        .source_commit = orch_json_text(source, "commit", NULL),
        .source_branch = orch_json_text(source, "branch", NULL),
        .source_remote = orch_json_text(source, "remote", NULL),
        .source_dirty = json_is_true(json_object_get(source, "dirty")),
        .fingerprint = orch_json_text(r, "fingerprint", NULL),
        .where_key = orch_json_text(r, "where_key", NULL),
        .seed = seed,
        .repeat = (int)orch_json_int(r, "repeat", 1),
        .attempt = (int)orch_json_int(r, "attempt", 1),
        .state = all->state,
        .reason = all->reason,
        .exit_code = all->exit_code,
        .signal = all->signal,
        .machine_key = orch_json_text(r, "machine_key", NULL),
        .machine_facts = machine,
        .who = orch_json_text(r, "who", NULL),
        .argv = orch_json_text(r, "argv", NULL),
        .started_ns = all->started_ns,
        .ended_ns = all->ended_ns,
        .wall_ms = all->wall_ms,
        .facts = facts,
        .params = param_rows,
        .param_count = param_count,
        .inputs = input_rows,
        .input_count = input_count,
        .results = (struct orch_named_real *)(void *)all->results->data,
        .result_count = all->results->len,
        .artifacts = (struct orch_artifact_row *)(void *)all->artifacts->data,
        .artifact_count = all->artifacts->len,
        .metrics = metric_rows,
        .metric_count = metric_count,
        .next_point = next_point,
        .next_ctx = &points,
    };
    bool ok = orch_store_record(store, &record, error);
    if (points.has_event)
        orch_event_clear(&points.event);
    orch_journal_close(points.journal);
    *out_points = points.count;
    return ok;
}

static void gathering_init(struct gathering *all, json_t *record, int64_t started_ns)
{
    memset(all, 0, sizeof *all);
    all->record = record;
    all->facts = json_object_get(record, "facts") ? json_incref(json_object_get(record, "facts"))
                                                  : json_object();
    all->results = g_array_new(FALSE, FALSE, sizeof(struct orch_named_real));
    all->artifacts = g_array_new(FALSE, FALSE, sizeof(struct orch_artifact_row));
    all->texts = g_ptr_array_new_with_free_func(g_free);
    all->log = g_string_new(NULL);
    all->notes = json_array();
    all->verdict = ORCH_VERDICT_LOST;
    all->state = g_strdup(orch_verdict_name(ORCH_VERDICT_LOST));
    all->reason = g_strdup("its host ended without a verdict");
    all->exit_code = -1;
    all->started_ns = started_ns;
    all->ended_ns = orch_now_ns();
    all->wall_ms = NAN;
}

static void gathering_clear(struct gathering *all)
{
    json_decref(all->record);
    json_decref(all->facts);
    json_decref(all->notes);
    g_array_unref(all->results);
    g_array_unref(all->artifacts);
    g_ptr_array_unref(all->texts);
    g_string_free(all->log, TRUE);
    g_free(all->reason);
    g_free(all->state);
    g_free(all->stderr_tail);
    g_free(all->lost_artifact);
}

static void fill_collected(const struct gathering *all, int64_t points, struct orch_collected *out)
{
    out->verdict = all->verdict;
    out->reason = g_strdup(all->reason);
    out->wall_ms = all->wall_ms;
    out->point_count = points;
    out->stderr_tail = g_strdup(all->stderr_tail);
    out->facts = json_incref(all->facts);
    out->results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < all->results->len; i++) {
        const struct orch_named_real *row = &g_array_index(all->results, struct orch_named_real, i);
        double *value = g_new(double, 1);
        *value = row->value;
        g_hash_table_insert(out->results, g_strdup(row->name), value);
    }
}

void orch_collected_clear(struct orch_collected *collected)
{
    g_free(collected->reason);
    g_free(collected->stderr_tail);
    json_decref(collected->facts);
    if (collected->results)
        g_hash_table_unref(collected->results);
    memset(collected, 0, sizeof *collected);
}

/* The trial needs no further attempt: the folder that trial.json gave it for checkpoints goes, if
 * it lies where ours do. */
static void drop_checkpoint(struct orch_store *store, const char *trial_dir)
{
    g_autofree char *folder = g_build_filename(orch_store_folder(store), "checkpoints", NULL);
    g_autofree char *path = g_build_filename(trial_dir, "trial.json", NULL);
    g_autofree char *text = NULL;
    size_t length;
    if (access(folder, F_OK) != 0 || !orch_file_read(path, 16 << 20, &text, &length, NULL))
        return;
    g_autoptr(json_t) trial = orch_json_parse(text, length, 16 << 20, NULL);
    const char *checkpoint = orch_json_text(trial, "checkpoint_dir", NULL);
    g_autofree char *parent = checkpoint ? g_path_get_dirname(checkpoint) : NULL;
    if (parent && strcmp(parent, folder) == 0)
        orch_tree_remove(checkpoint, NULL);
}

bool orch_collect(struct orch_store *store, const char *key, const char *trial_dir,
                  const char *record_json, int64_t started_ns, struct orch_collected *out,
                  GError **error)
{
    json_t *record = orch_json_parse(record_json, strlen(record_json), 16 << 20, error);
    if (!record)
        return false;
    struct gathering all;
    gathering_init(&all, record, started_ns);
    int64_t points = 0;
    bool ok = gather(store, &all, trial_dir, error);
    if (ok && !all.ended)
        all.wall_ms = (double)(all.ended_ns - all.started_ns) / 1e6;
    ok = ok && write_record(store, &all, key, trial_dir, &points, error);
    if (ok) {
        fill_collected(&all, points, out);
        if (orch_verdict_facts(all.verdict)->spares)
            drop_checkpoint(store, trial_dir);
        orch_tree_remove(trial_dir, NULL);
    }
    gathering_clear(&all);
    return ok;
}
