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
    void *reader = logger->open(&sink, "/r/metrics");
    const char *why = NULL;
    for (size_t at = 0; at < length && !why; at += part)
        why = logger->feed(reader, (const uint8_t *)bytes + at, MIN(part, length - at));
    why = why ? why : logger->finish(reader);
    logger->close(reader);
    if (out_why)
        *out_why = why;
    return g_string_free(out, FALSE);
}

#endif
