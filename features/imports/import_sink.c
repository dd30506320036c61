/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of lib/loggers find, as imported runs. */
#include "features/imports/import_runs.h"

#include "lib/base/json.h"
#include "lib/loggers/run_db.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 16 };

/* ---- hooks; ctx is the run --------------------------------------------------------------------
 */

static void take_point(void *ctx, const char *name, int64_t step, double time_s, double value)
{
    int64_t time_ns = isnan(time_s) ? 0 : orch_imported_ns(ctx, ORCH_BOUNDED_TIME_NS, time_s, 1e9);
    orch_imported_point(ctx, name, step, time_ns, value);
}

/* Of MLflow, whose times are whole milliseconds. */
static void take_point_ms(void *ctx, const char *name, int64_t step, double time_s, double value)
{
    int64_t time_ns = orch_imported_ns(ctx, ORCH_BOUNDED_TIME_NS, rint(time_s * 1e3), 1e6);
    orch_imported_point(ctx, name, step, time_ns, value);
}

static void take_result(void *ctx, const char *name, double value)
{
    orch_imported_result(ctx, name, value);
}

static void take_purge(void *ctx, int64_t step)
{
    orch_imported_purge(ctx, step);
}

static void take_setting(void *ctx, const char *name, json_t *value)
{
    g_autofree char *text =
        json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
    orch_imported_param(ctx, name, text);
}

static void take_ended(void *ctx, const char *status)
{
    static const struct {
        const char *status;
        enum orch_verdict verdict;
    } ends[] = {{"success", ORCH_VERDICT_OK},
                {"failure", ORCH_VERDICT_FAILED},
                {"running", ORCH_VERDICT_LOST}};
    struct orch_imported_run *run = ctx;
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        if (strcmp(status, ends[i].status) == 0) {
            orch_imported_set_text(&run->status, status);
            run->verdict = ends[i].verdict;
        }
}

static void take_about(void *ctx, const char *what, const char *text)
{
    struct orch_imported_run *run = ctx;
    if (strcmp(what, "name") == 0)
        orch_imported_set_text(&run->name, text);
    else if (strcmp(what, "experiment") == 0)
        orch_imported_set_text(&run->experiment, text);
    else if (run->tags->len < 100)
        g_ptr_array_add(run->tags, g_strndup(text, 200));
}

static void take_label(void *ctx, const char *name, const char *text)
{
    orch_imported_label(ctx, name, text);
}

static void take_started(void *ctx, double time_s)
{
    struct orch_imported_run *run = ctx;
    run->started_ns = orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, time_s, 1e9);
}

struct orch_log_sink orch_import_sink(struct orch_imported_run *run)
{
    bool is_mlflow = strcmp(run->tool, "mlflow") == 0;
    return (struct orch_log_sink){.ctx = run,
                                  .point = is_mlflow ? take_point_ms : take_point,
                                  .result = take_result,
                                  .purge = take_purge,
                                  .setting = take_setting,
                                  .ended = take_ended,
                                  .about = take_about,
                                  .label = take_label,
                                  .started = take_started};
}

/* ---- files ------------------------------------------------------------------------------------
 */

static const char *read_blocks(FILE *file, const struct orch_logger *logger, void *reader)
{
    g_autofree uint8_t *block = g_malloc(BLOCK_BYTES);
    const char *why = NULL;
    size_t n;
    while (!why && (n = fread(block, 1, BLOCK_BYTES, file)) > 0)
        why = logger->feed(reader, block, n);
    return why ? why : logger->finish(reader);
}

void orch_import_file(struct orch_imported_run *run, const struct orch_logger *logger,
                      const char *path, GPtrArray *warnings)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    FILE *file =
        fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
    if (!file) {
        orch_import_warn(warnings, "cannot read '%s'", path);
        if (fd >= 0)
            close(fd);
        return;
    }
    const struct orch_log_sink sink = orch_import_sink(run);
    void *reader = logger->open(&sink, path);
    const char *why = read_blocks(file, logger, reader);
    if (why)
        orch_import_warn(warnings, "'%s' was not read to its end: %s", path, why);
    logger->close(reader);
    fclose(file);
}

/* ---- databases --------------------------------------------------------------------------------
 */

struct reading {
    const struct orch_logger *logger;
    GPtrArray *runs;
};

/* The states of MLflow's runs; other tools have none. */
static enum orch_verdict verdict_of(const char *status)
{
    static const struct {
        const char *status;
        enum orch_verdict verdict;
    } rows[] = {{"FINISHED", ORCH_VERDICT_OK},
                {"FAILED", ORCH_VERDICT_FAILED},
                {"KILLED", ORCH_VERDICT_CANCELLED}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].status, status) == 0)
            return rows[i].verdict;
    return ORCH_VERDICT_LOST;
}

static void *begin_run(void *ctx, const struct orch_log_run *found)
{
    const struct reading *reading = ctx;
    struct orch_imported_run *run = orch_imported_run_new(reading->logger->name, found->id);
    orch_imported_set_text(&run->name, found->name);
    orch_imported_set_text(&run->status, *found->status ? found->status : "not known");
    run->verdict = verdict_of(found->status);
    run->started_ns = orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, found->started_ms, 1e6);
    run->ended_ns = orch_imported_ns(run, ORCH_BOUNDED_ENDED_NS, found->ended_ms, 1e6);
    orch_imported_set_text(&run->user, found->user);
    orch_imported_set_text(&run->experiment, found->experiment);
    g_ptr_array_add(reading->runs, run);
    return run;
}

static bool read_all(const struct orch_logger *logger, const char *path, struct reading *reading,
                     GError **error)
{
    struct orch_imported_run shape = {.tool = logger->name};
    struct orch_log_sink sink = orch_import_sink(&shape);
    sink.ctx = reading;
    sink.run = begin_run;
    void *reader = logger->open(&sink, path);
    bool has_more = true, ok = true;
    while (ok && has_more)
        ok = logger->read(reader, INT64_MIN, &has_more, error);
    logger->close(reader);
    return ok;
}

bool orch_import_database(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error)
{
    const struct orch_logger *logger =
        ORCH_LOGGER_TRACKIO.knows(path, "?", 1) ? &ORCH_LOGGER_TRACKIO : &ORCH_LOGGER_MLFLOW_DB;
    struct reading reading = {logger, runs};
    bool ok = read_all(logger, path, &reading, error);
    if (ok && runs->len >= ORCH_TRACKER_RUNS_MAX)
        orch_import_warn(warnings, "'%s': only the first %d runs are imported", path,
                         ORCH_TRACKER_RUNS_MAX);
    return ok;
}
