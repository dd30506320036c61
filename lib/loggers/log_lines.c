/* SPDX-License-Identifier: MIT */
#include "lib/loggers/log_lines.h"

#include <string.h>

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
