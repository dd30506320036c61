/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sink that writes what a reader finds as lines of text, and feeds a reader in parts. */
#ifndef ORCH_TESTS_LOGGERS_RECORDER_H
#define ORCH_TESTS_LOGGERS_RECORDER_H

#include "lib/loggers/loggers.h"

#include <math.h>
#include <string.h>

static inline void record_point(void *ctx, const char *name, int64_t step, double time_s,
                                double value)
{
    (void)time_s;
    g_string_append_printf(ctx, "%s@%d=%.17g\n", name, (int)step, value);
}

static inline void record_result(void *ctx, const char *name, double value)
{
    g_string_append_printf(ctx, "%s=%.17g\n", name, value);
}

static inline void record_purge(void *ctx, int64_t step)
{
    g_string_append_printf(ctx, "purge %d\n", (int)step);
}

static inline void record_setting(void *ctx, const char *name, json_t *value)
{
    g_autofree char *text = json_dumps(value, JSON_ENCODE_ANY);
    g_string_append_printf(ctx, "%s: %s\n", name, text ? text : "");
}

/* A run of a database is written to the same text. */
static inline void *record_run(void *ctx, const struct orch_log_run *run)
{
    g_string_append_printf(ctx, "run %s %s\n", run->id, run->name);
    return ctx;
}

/** What a reader finds in bytes that it gets in parts of `part` bytes. The caller frees. */
static inline char *record(const struct orch_logger *logger, const void *bytes, size_t length,
                           size_t part, const char **out_why)
{
    GString *out = g_string_new(NULL);
    const struct orch_log_sink sink = {.ctx = out,
                                       .point = record_point,
                                       .result = record_result,
                                       .purge = record_purge,
                                       .setting = record_setting};
    void *reader = logger->open(&sink, "/r/plots/metrics/a/b.tsv");
    const char *why = NULL;
    for (size_t at = 0; at < length && !why; at += part)
        why = logger->feed(reader, (const uint8_t *)bytes + at, MIN(part, length - at));
    why = why ? why : logger->finish(reader);
    logger->close(reader);
    if (out_why)
        *out_why = why;
    return g_string_free(out, FALSE);
}

/** Dies when a reader finds something else in parts than in the whole. */
#define RECORD_BOTH(logger, bytes, length)                                                         \
    do {                                                                                           \
        const char *why_whole, *why_parts;                                                         \
        g_autofree char *whole = record(logger, bytes, length, MAX(length, 1), &why_whole);        \
        g_autofree char *parts = record(logger, bytes, length, 1, &why_parts);                     \
        if (strcmp(whole, parts) != 0 || why_whole != why_parts)                                   \
            fuzz_die("parts differ from the whole");                                               \
    } while (0)

#endif
