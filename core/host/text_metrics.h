/* SPDX-License-Identifier: MIT */
/* Metrics of a wrapped program that knows nothing of orch, found in the lines of its standard
 * output: values as lib/wire/printed.h reads them, or what each metric's regular expression finds.
 * A line that holds none is ordinary log text, never an error; what looked like a value and was not
 * understood is counted. */
#ifndef ORCH_HOST_TEXT_METRICS_H
#define ORCH_HOST_TEXT_METRICS_H

#include "core/host/intake.h"

struct text_metrics;

/** What was printed and is not in the record. */
struct text_losses {
    int64_t unread_lines;    /* held numbers that were not understood */
    char *unread_first;      /* the first of them, fit to be shown; NULL: there is none */
    int64_t replaced_points; /* replaced by a later value of the same step */
    char *replaced_first;    /* "loss at 3"; NULL: there is none */
};

/** NULL for programs that speak the protocol. */
struct text_metrics *text_metrics_new(const struct orch_manifest *manifest, struct intake *intake);
void text_metrics_free(struct text_metrics *metrics);

/** Takes output as it comes; lines may be cut anywhere. NULL is allowed for `metrics`. */
void text_metrics_feed(struct text_metrics *metrics, const char *bytes, size_t length);
/** A last line without line end counts too. */
void text_metrics_finish(struct text_metrics *metrics);

/** Borrowed; all zero for NULL. */
const struct text_losses *text_metrics_losses(const struct text_metrics *metrics);

#endif
