/* SPDX-License-Identifier: MIT */
/* Internal to text_metrics.c: turns the values of a line into points. */
#ifndef ORCH_HOST_TEXT_VALUES_H
#define ORCH_HOST_TEXT_VALUES_H

#include "core/host/text_metrics.h"
#include "core/host/text_progress.h"
#include "core/host/text_steps.h"
#include "lib/wire/printed.h"
#include "lib/wire/printed_document.h"

/* A declared metric, or one added because of `metrics: any`. */
struct found_metric {
    struct orch_metric_spec *spec;
    GRegex *pattern;   /* in regex mode; NULL: none */
    int64_t next_step; /* used if no step is printed */
    int64_t last_step; /* of its newest point; -1: none */
    double last_value;
    bool is_fleeting;  /* its newest point is one of a progress bar that is drawn again */
    GArray *steps;     /* int64_t, ascending: those of its points, for counting replaced ones */
    unsigned spelling; /* of its name as it was printed first; 0: none yet */
    bool is_merged;    /* it was printed under another one, too */
    bool is_by_step;   /* its points are counted in steps, not in epochs */
    bool is_counted;   /* its step was a fraction of an epoch once, so its points are counted */
    bool is_adopted;
};

/* The line of a stream that is not complete yet. */
struct text_line {
    GString *text;
    struct printed_document document; /* JSON over several lines */
    bool skipping;                    /* the line is too long and ignored */
    bool has_return; /* the last byte was a carriage return; "\r\n" ends a line, "\r" redraws it */
    bool has_digit;  /* of a stream that is not read */
    bool is_own;     /* likewise: a message of orch's own */
};

struct text_metrics {
    enum orch_metrics_from mode;
    enum orch_metrics_on on;
    struct intake *intake;
    GArray *metrics; /* struct found_metric */
    struct text_line lines[TEXT_STREAMS];
    const GString *line; /* that is processed now */
    bool is_redrawn;     /* it is the state of a progress bar that is drawn again */
    struct orch_printed_line printed;
    GArray *rows;                    /* struct orch_printed_value: of a box that is being printed */
    struct text_position *positions; /* one for each rank */
    unsigned position_count;
    struct text_position *position; /* of the line's rank */
    struct orch_text_losses losses;
    struct text_progress progress;
    bool has_progress;                      /* the newest progress that was reported is known */
    struct orch_printed_line progress_line; /* of output that is not read for metrics */
};

/** Makes the position that of a rank (-1: of none): ranks print interleaved, and each has its own.
 */
void orch_text_choose_position(struct text_metrics *metrics, int rank);
/** Takes the values that were found in the line. */
void orch_text_take_printed(struct text_metrics *metrics);
/** Counts the line as one with numbers that were not understood. */
void orch_text_note_unread(struct text_metrics *metrics);
/** Takes the matches of the metrics' patterns in a line. */
void orch_text_take_matches(struct text_metrics *metrics, const char *line, size_t length);

#endif
