/* SPDX-License-Identifier: MIT */
/* Extracts metrics from the standard output of a wrapped program that does not use orch's protocol:
 * values recognised by lib/wire/printed.h, or matches of each metric's regular expression. Other
 * lines are ordinary log text, never an error; values that were not understood are counted. */
#ifndef ORCH_HOST_TEXT_METRICS_H
#define ORCH_HOST_TEXT_METRICS_H

#include "core/host/intake.h"
#include "lib/wire/text_losses.h"

struct text_metrics;

/** Where output came from. */
enum text_stream { TEXT_STDOUT, TEXT_STDERR, TEXT_STREAMS };

/** Returns NULL for programs that use the protocol. */
struct text_metrics *orch_text_metrics_new(const struct orch_manifest *manifest,
                                           struct intake *intake);
void orch_text_metrics_free(struct text_metrics *metrics);

/** Processes output, split at arbitrary positions. `metrics` may be NULL. Of a stream that is not
 * read (orch_metrics_on) the lines with digits are counted. */
void orch_text_metrics_feed(struct text_metrics *metrics, enum text_stream stream,
                            const char *bytes, size_t length);
/** Processes the last lines without a line end. */
void orch_text_metrics_finish(struct text_metrics *metrics);

/** Borrowed; all zero if `metrics` is NULL. */
const struct orch_text_losses *orch_text_metrics_losses(const struct text_metrics *metrics);

#endif
