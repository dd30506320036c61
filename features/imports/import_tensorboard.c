/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of TensorBoard's event files as one run. lib/loggers/tensorboard.c reads them. */
#include "features/imports/import_runs.h"

#include "lib/base/text.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 16 };

static void take_point(void *ctx, const char *name, int64_t step, double time_s, double value)
{
    int64_t time_ns = isnan(time_s) ? 0 : orch_imported_ns(ctx, ORCH_BOUNDED_TIME_NS, time_s, 1e9);
    orch_imported_point(ctx, name, step, time_ns, value);
}

static void take_purge(void *ctx, int64_t step)
{
    orch_imported_purge(ctx, step);
}

static void take_setting(void *ctx, const char *name, json_t *value)
{
    char number[ORCH_REAL_CHARS];
    const char *text = json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
                                              : json_string_value(value);
    orch_imported_param(ctx, name,
                        text ? text : orch_real_format(json_number_value(value), number));
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

static const char *read_blocks(FILE *file, void *reader)
{
    g_autofree uint8_t *block = g_malloc(BLOCK_BYTES);
    const char *why = NULL;
    size_t n;
    while (!why && (n = fread(block, 1, BLOCK_BYTES, file)) > 0)
        why = ORCH_LOGGER_TENSORBOARD.feed(reader, block, n);
    return why ? why : ORCH_LOGGER_TENSORBOARD.finish(reader);
}

static void read_file(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    FILE *file =
        fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? fdopen(fd, "rb") : NULL;
    if (!file) {
        orch_import_warn(warnings, "'%s' cannot be read", path);
        if (fd >= 0)
            close(fd);
        return;
    }
    const struct orch_log_sink sink = {.ctx = run,
                                       .point = take_point,
                                       .purge = take_purge,
                                       .setting = take_setting,
                                       .ended = take_ended};
    void *reader = ORCH_LOGGER_TENSORBOARD.open(&sink);
    const char *why = read_blocks(file, reader);
    if (why)
        orch_import_warn(warnings, "'%s' is not read to its end: %s", path, why);
    ORCH_LOGGER_TENSORBOARD.close(reader);
    fclose(file);
}

void orch_import_tensorboard(const char *folder, const char *name, GPtrArray *runs,
                             GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    struct orch_imported_run *run = orch_imported_run_new("tensorboard", name);
    orch_imported_set_text(&run->name, name);
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        if (ORCH_LOGGER_TENSORBOARD.knows(entries->pdata[i], NULL, 0))
            read_file(run, path, warnings);
    }
    if (run->points->len || json_object_size(run->params)) {
        g_ptr_array_add(runs, run);
        return;
    }
    orch_import_warn(warnings, "'%s' has no scalars", folder);
    orch_imported_run_free(run);
}
