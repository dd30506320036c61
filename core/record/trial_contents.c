/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/trial_contents.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/bounds.h"
#include "lib/wire/journal.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { START_TAGS_MAX = 100, SETTINGS_MAX = 1000 };

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

void orch_gathering_add_artifact(struct gathering *all, const char *name, const char *sha256,
                                 int64_t bytes)
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

void orch_gathering_drop(struct gathering *all, const char *why)
{
    all->verdict = ORCH_VERDICT_LOST;
    g_free(all->state);
    all->state = g_strdup(orch_verdict_name(ORCH_VERDICT_LOST));
    g_free(all->reason);
    all->reason = g_strdup(why);
}

/* Reads a number from the journal. False when it is out of bounds: then no host wrote the journal,
 * and the run is lost. */
static bool take_number(struct gathering *all, const json_t *json, enum orch_bounded which,
                        double *out)
{
    if (!orch_json_get_real(json_object_get(json, ORCH_BOUNDS[which].name), out))
        return true;
    g_autofree char *fault = orch_bound_fault(which, *out);
    g_autofree char *why = fault ? g_strdup_printf("its journal's %s", fault) : NULL;
    if (why)
        orch_gathering_drop(all, why);
    return !why;
}

static bool take_end_numbers(struct gathering *all, const json_t *json)
{
    double started, ended, exit_code = -1, signal = 0, wall_ms = NAN;
    g_autofree char *fault = orch_bound_facts_fault(json_object_get(json, "facts"));
    if (fault) {
        g_autofree char *why = g_strdup_printf("its journal's %s", fault);
        orch_gathering_drop(all, why);
        return false;
    }
    if (!take_number(all, json, ORCH_BOUNDED_STARTED_NS, &started) ||
        !take_number(all, json, ORCH_BOUNDED_ENDED_NS, &ended) ||
        !take_number(all, json, ORCH_BOUNDED_EXIT_CODE, &exit_code) ||
        !take_number(all, json, ORCH_BOUNDED_SIGNAL, &signal) ||
        !take_number(all, json, ORCH_BOUNDED_WALL_MS, &wall_ms))
        return false;
    all->exit_code = (int)exit_code;
    all->signal = (int)signal;
    all->wall_ms = wall_ms;
    all->started_ns = orch_json_int(json, "started_ns", all->started_ns);
    all->ended_ns = orch_json_int(json, "ended_ns", all->ended_ns);
    return true;
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
    if (!take_end_numbers(all, event->json))
        return;
    g_free(all->stderr_tail);
    all->stderr_tail = g_strdup(orch_json_text(event->json, "stderr_tail", NULL));
    if (json_is_object(facts))
        json_object_update_recursive(all->facts, facts);
    if (all->stderr_tail && *all->stderr_tail && !orch_verdict_facts(all->verdict)->is_reused)
        json_object_set_new(all->facts, "stderr_tail", json_string(all->stderr_tail));
}

static void lose_artifact(struct gathering *all, const struct orch_event *event, const char *why)
{
    g_autofree char *text =
        g_strdup_printf("artifact '%s': '%s' %s", event->name, event->text, why);
    g_string_append_printf(all->log, "warning: %s\n", text);
    if (!all->lost_artifact)
        all->lost_artifact = g_steal_pointer(&text);
}

/* Accepts only files in the trial's own folder, reached without symbolic links and with the digest
 * that the host saw, because a journal can name any file. A file that has changed or vanished since
 * (mostly when the runner was killed and a later command collects the trial) affects only this run.
 */
static bool take_artifact(struct orch_store *store, struct gathering *all, int folder,
                          const struct orch_event *event, GError **error)
{
    const char *path = orch_below_path_is_valid(event->text) ? event->text : NULL;
    int64_t bytes;
    bool fits = false;
    int fd = path ? orch_below_open_file(folder, path) : -1;
    if (fd < 0) {
        lose_artifact(all, event,
                      path ? "was removed or became unreadable after the trial had ended"
                           : "is not in the trial's folder");
        return true;
    }
    close(fd);
    if (!event->sha256) {
        lose_artifact(all, event, "has no digest in the journal");
        return true;
    }
    if (!orch_store_put_object_at(store, folder, path, event->sha256, &bytes, &fits, error))
        return false;
    if (fits) {
        orch_gathering_add_artifact(all, event->name, event->sha256, bytes);
        g_ptr_array_add(all->taken, g_strdup(path));
    } else {
        lose_artifact(all, event, "changed after the trial had ended");
    }
    return true;
}

/* A run can be reused only if it has every artifact that it reported. */
static void judge_artifacts(struct gathering *all)
{
    if (!all->lost_artifact || !orch_verdict_facts(all->verdict)->is_reused)
        return;
    orch_gathering_drop(all, all->lost_artifact);
}

/* Settings that a program names after start(), beside those of the files that it logs to. */
static void add_settings(struct gathering *all, const json_t *settings)
{
    const char *name;
    json_t *value, *kept = json_object_get(all->facts, ORCH_FACT_LOGGED_SETTINGS);
    if (!json_is_object(settings))
        return;
    if (!kept) {
        kept = json_object();
        json_object_set_new(all->facts, ORCH_FACT_LOGGED_SETTINGS, kept);
    }
    json_object_foreach((json_t *)(uintptr_t)settings, name,
                        value) if (json_object_size(kept) < SETTINGS_MAX &&
                                   orch_label_is_valid(name) && !json_is_object(value) &&
                                   !json_is_array(value)) json_object_set(kept, name, value);
}

/* Notes what a trial's program gave to start(), and said later of its settings. */
static void take_start(struct gathering *all, const json_t *event)
{
    const json_t *params = json_object_get(event, "params"), *tags = json_object_get(event, "tags");
    const char *name = orch_json_text(event, "name", NULL);
    if (orch_label_is_valid(name))
        json_object_set_new(all->record, "name", json_string(name));
    json_t *valid = json_array();
    json_array_extend(valid, json_object_get(all->record, "tags")); /* of an earlier event */
    for (size_t i = 0; json_array_size(valid) < START_TAGS_MAX && i < json_array_size(tags); i++)
        if (orch_label_is_valid(json_string_value(json_array_get(tags, i))))
            json_array_append(valid, json_array_get(tags, i));
    if (json_array_size(valid))
        json_object_set(all->record, "tags", valid);
    json_decref(valid);
    if (json_object_size(params))
        json_object_set(all->facts, ORCH_FACT_STARTED_WITH, (json_t *)(uintptr_t)params);
    add_settings(all, json_object_get(event, "settings"));
}

/* Keeps the step from which the points before a mark do not count. */
static void add_mark(struct gathering *all, const struct orch_event *event)
{
    int64_t from = orch_json_int(event->json, "from", INT64_MIN);
    GArray *marks = g_hash_table_lookup(all->reported, event->name);
    if (!marks) {
        marks = g_array_new(FALSE, FALSE, sizeof(int64_t));
        g_hash_table_insert(all->reported, g_strdup(event->name), marks);
    }
    g_array_append_val(marks, from);
}

static bool take_event(struct orch_store *store, struct gathering *all, int folder,
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
        return take_artifact(store, all, folder, event, error);
    case ORCH_EVENT_RUN:
        take_start(all, event->json);
        return true;
    case ORCH_EVENT_REPORTED:
        add_mark(all, event);
        return true;
    case ORCH_EVENT_END:
        take_end(all, event);
        return true;
    default:
        return true;
    }
}

/* Captured output is stored like an artifact, unless it is empty. */
static bool take_output(struct orch_store *store, struct gathering *all, int folder,
                        const char *name, GError **error)
{
    struct stat info;
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    int fd = orch_below_open_file(folder, name);
    if (fd < 0 && errno != ENOENT)
        g_string_append_printf(all->log, "warning: '%s' of the trial cannot be read\n", name);
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    bool ok = orch_store_put_object_fd(store, fd, name, sha256, &bytes, error);
    close(fd);
    if (ok)
        orch_gathering_add_artifact(all, name, sha256, bytes);
    return ok;
}

static bool take_log(struct orch_store *store, struct gathering *all, int folder, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    if (!take_output(store, all, folder, "stdout", error) ||
        !take_output(store, all, folder, "stderr", error))
        return false;
    if (!all->log->len)
        return true;
    if (!orch_store_put_object_bytes(store, all->log->str, all->log->len, sha256, error))
        return false;
    orch_gathering_add_artifact(all, "log", sha256, (int64_t)all->log->len);
    return true;
}

/* Takes over `problem`. True when the trial caused it, which is then treated as having no journal.
 */
static bool judge_problem(struct gathering *all, GError *problem, GError **error)
{
    if (!g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_PROTOCOL)) {
        g_propagate_error(error, problem);
        return false;
    }
    g_free(all->reason);
    all->reason = g_strdup(problem->message);
    g_string_append_printf(all->log, "warning: %s\n", problem->message);
    g_error_free(problem);
    return true;
}

bool orch_gather_journal(struct orch_store *store, struct gathering *all, int folder,
                         GError **error)
{
    GError *problem = NULL;
    struct orch_journal *journal = orch_journal_open_at(folder, "journal", &problem);
    if (!journal)
        return judge_problem(all, problem, error) && take_log(store, all, folder, error);
    orch_journal_skip_metrics(journal);
    struct orch_event event;
    bool ok = true;
    while (ok && orch_journal_next(journal, &event, &problem)) {
        ok = take_event(store, all, folder, &event, &problem);
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
    return take_log(store, all, folder, error);
}

enum { HOST_ERROR_BYTES_MAX = 65536, HOST_REASON_BYTES_MAX = 1000 };

void orch_gather_loss(struct gathering *all, int folder)
{
    if (all->ended || all->reason)
        return;
    g_autofree char *text = NULL;
    const char *why = "killed, or the machine went down";
    if (folder >= 0 &&
        orch_below_read(folder, "host.stderr", HOST_ERROR_BYTES_MAX, &text, NULL, NULL) &&
        *g_strstrip(text)) {
        const char *own = strstr(text, "orch-host: ");
        why = own ? own + strlen("orch-host: ") : text;
    }
    g_autofree char *line = g_strndup(why, MIN(strcspn(why, "\n"), HOST_REASON_BYTES_MAX));
    g_autofree char *valid = g_utf8_make_valid(line, -1);
    all->reason = g_strdup_printf("orch-host, which recorded it, ended early: %s", valid);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

void orch_gathering_init(struct gathering *all, json_t *record, int64_t started_ns)
{
    memset(all, 0, sizeof *all);
    all->record = record;
    all->facts = json_object_get(record, "facts") ? json_incref(json_object_get(record, "facts"))
                                                  : json_object();
    all->results = g_array_new(FALSE, FALSE, sizeof(struct orch_named_real));
    all->artifacts = g_array_new(FALSE, FALSE, sizeof(struct orch_artifact_row));
    all->texts = g_ptr_array_new_with_free_func(g_free);
    all->taken = g_ptr_array_new_with_free_func(g_free);
    all->log = g_string_new(NULL);
    all->notes = json_object_get(all->facts, "notes")
                     ? json_copy(json_object_get(all->facts, "notes"))
                     : json_array();
    all->reported =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    all->verdict = ORCH_VERDICT_LOST;
    all->state = g_strdup(orch_verdict_name(ORCH_VERDICT_LOST));
    all->exit_code = -1;
    all->started_ns = started_ns;
    all->ended_ns = orch_now_ns();
    all->wall_ms = NAN;
}

void orch_gathering_clear(struct gathering *all)
{
    json_decref(all->record);
    json_decref(all->facts);
    json_decref(all->notes);
    g_array_unref(all->results);
    g_array_unref(all->artifacts);
    g_ptr_array_unref(all->texts);
    g_ptr_array_unref(all->taken);
    g_hash_table_unref(all->reported);
    g_string_free(all->log, TRUE);
    g_free(all->reason);
    g_free(all->state);
    g_free(all->stderr_tail);
    g_free(all->lost_artifact);
}
