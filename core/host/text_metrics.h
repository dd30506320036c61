/* SPDX-License-Identifier: MIT */
/* Extracts metrics from the standard output of a wrapped program that does not use orch's protocol:
 * values recognised by lib/wire/printed.h, or matches of each metric's regular expression. Other
 * lines are ordinary log text, never an error; values that were not understood are counted. */
#ifndef ORCH_HOST_TEXT_METRICS_H
#define ORCH_HOST_TEXT_METRICS_H

#include "core/host/intake.h"

struct text_metrics;

/** Output that was not recorded. */
struct text_losses {
    int64_t unread_lines;    /* lines with numbers that were not understood, wholly or in part */
    char *unread_first;      /* the first of them, safe to display; NULL: none */
    int64_t excess_values;   /* of names beyond the number that a trial may have */
    char *excess_first;      /* the first such name; NULL: none */
    int64_t replaced_points; /* replaced by a later value of the same step */
    char *replaced_first;    /* "loss at 3"; NULL: none */
    int64_t single_values;   /* of results, replaced by another value that was printed later */
    char *single_first;      /* name of the first such result; NULL: none */
    int64_t merged_names;    /* metrics that were printed under names of several spellings */
    char *merged_first;      /* "val_loss"; NULL: none */
    int64_t unheard_lines;   /* lines with numbers on standard error, which was not read */
};

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
const struct text_losses *orch_text_metrics_losses(const struct text_metrics *metrics);

#endif
