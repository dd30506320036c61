/* SPDX-License-Identifier: MIT */
/* Readers of texts whose bytes come in parts: of their lines, or of the whole. */
#ifndef ORCH_LOGGERS_LOG_LINES_H
#define ORCH_LOGGERS_LOG_LINES_H

#include "lib/loggers/loggers.h"

/** The first member of a reader. */
struct orch_log_text {
    const struct orch_log_sink *sink;
    GString *text; /* the line that is not complete yet, or the document */
};

/** A reader of `bytes` bytes, which are 0 but for the text. */
void *orch_log_text_open(const struct orch_log_sink *sink, size_t bytes);
/** Frees a reader; a member of struct orch_logger. */
void orch_log_text_close(void *reader);
/** Appends the bytes to the document. Returns NULL, or `too_large` when it has more than `most`. */
const char *orch_log_text_add(struct orch_log_text *in, const uint8_t *bytes, size_t length,
                              size_t most, const char *too_large);

/** Appends the bytes to `line`, and calls `take` after each line end, which is left out. `take`
 * empties `line`, or goes on with it; it returns why reading ends, or NULL. Returns that, or
 * `too_long` when a line has more than `most` bytes. */
const char *orch_log_feed_lines(GString *line, const uint8_t *bytes, size_t length, size_t most,
                                const char *too_long, const char *(*take)(void *ctx), void *ctx);

#endif
