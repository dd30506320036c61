/* SPDX-License-Identifier: MIT */
/* Lines of a file whose bytes come in parts. */
#ifndef ORCH_LOGGERS_LOG_LINES_H
#define ORCH_LOGGERS_LOG_LINES_H

#include <glib.h>
#include <stdint.h>

/** Appends the bytes to `line`, and calls `take` after each line end, which is left out. `take`
 * empties `line`, or goes on with it; it returns why reading ends, or NULL. Returns that, or
 * `too_long` when a line has more than `most` bytes. */
const char *orch_log_feed_lines(GString *line, const uint8_t *bytes, size_t length, size_t most,
                                const char *too_long, const char *(*take)(void *ctx), void *ctx);

#endif
