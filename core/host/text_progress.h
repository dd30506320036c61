/* SPDX-License-Identifier: MIT */
/* How far a program is, according to its output: "Epoch 3/60", "step 120/1000", and progress bars
 * such as "3%|#   | 3/100 [00:01<00:32, 3.0it/s]". docs/printed-values.md documents the rules. */
#ifndef ORCH_HOST_TEXT_PROGRESS_H
#define ORCH_HOST_TEXT_PROGRESS_H

#include "lib/wire/printed.h"

enum { TEXT_BARS_MAX = 4 };

/** A counter of which only the total identifies it. */
struct text_bar {
    double done, total;
    double epoch;     /* the first one without a number of all epochs since it began; NaN: none */
    bool is_repeated; /* it began again, so it is no measure of the whole */
};

struct text_progress {
    double epoch, epochs; /* the newest epoch and the number of all; epochs 0: not printed */
    bool is_from_zero;    /* the first epoch is 0 */
    double inside;        /* finished share of the newest epoch */
    double open_epoch;    /* the newest one printed without the number of all; NaN: none */
    struct text_bar bars[TEXT_BARS_MAX];
    unsigned bar_count;
};

void orch_text_progress_init(struct text_progress *progress);
/** True when a line may hold progress; cheap, for output that is not parsed otherwise. */
bool orch_text_progress_is_likely(const char *text, size_t length);
/** Takes a line and what was parsed of it. Returns true when the line says something about the
 * progress: `*out_done` is the finished part of `*out_total`, which is 0 when it is not known. */
bool orch_text_progress_take(struct text_progress *progress, const struct orch_printed_line *line,
                             const char *text, size_t length, double *out_done, double *out_total);

#endif
