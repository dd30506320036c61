/* SPDX-License-Identifier: MIT */
#include "lib/loggers/log_lines.h"

#include <string.h>

void *orch_log_text_open(const struct orch_log_sink *sink, size_t bytes)
{
    struct orch_log_text *in = g_malloc0(bytes);
    in->sink = sink;
    in->text = g_string_new(NULL);
    return in;
}

void orch_log_text_close(void *reader)
{
    struct orch_log_text *in = reader;
    g_string_free(in->text, TRUE);
    g_free(in);
}

const char *orch_log_text_add(struct orch_log_text *in, const uint8_t *bytes, size_t length,
                              size_t most, const char *too_large)
{
    if (in->text->len + length > most)
        return too_large;
    g_string_append_len(in->text, (const char *)bytes, (gssize)length);
    return NULL;
}

const char *orch_log_feed_lines(GString *line, const uint8_t *bytes, size_t length, size_t most,
                                const char *too_long, const char *(*take)(void *ctx), void *ctx)
{
    const char *why = NULL;
    for (const uint8_t *end = bytes + length; bytes < end && !why;) {
        const uint8_t *newline = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t part = (size_t)((newline ? newline : end) - bytes);
        if (line->len + part > most)
            return too_long;
        g_string_append_len(line, (const char *)bytes, (gssize)part);
        bytes += part + (newline != NULL);
        why = newline ? take(ctx) : NULL;
    }
    return why;
}
