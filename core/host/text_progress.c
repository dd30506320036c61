/* SPDX-License-Identifier: MIT */
/* Epochs of a known number decide; steps and bars then tell how much of an epoch is done. Without
 * them the counter that is the least far is taken, as a bar around others is. A counter that began
 * again counts a part of something unknown, and so may one that began in the current epoch, when
 * epochs are printed without the number of all: then nothing is said, because a wrong remaining
 * time is worse than none. */
#include "core/host/text_progress.h"

#include <math.h>
#include <string.h>

void orch_text_progress_init(struct text_progress *progress)
{
    *progress = (struct text_progress){.open_epoch = NAN};
}

bool orch_text_progress_is_likely(const char *text, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if ((text[i] == '/' && g_ascii_isdigit(text[i - 1]) &&
             (g_ascii_isdigit(text[i + 1]) || text[i + 1] == ' ')) ||
            (text[i] == '%' && text[i + 1] == '|'))
            return true;
    return false;
}

/* ---- bars -------------------------------------------------------------------------------------
 */

/* Reads digits, perhaps with a decimal point. */
static bool parse_count(const char **at, const char *end, double *out)
{
    char text[32];
    size_t n = 0;
    while (*at + n < end && (g_ascii_isdigit((*at)[n]) || (*at)[n] == '.'))
        n++;
    if (!n || n >= sizeof text)
        return false;
    memcpy(text, *at, n);
    text[n] = '\0';
    *out = g_ascii_strtod(text, NULL);
    *at += n;
    return true;
}

/* Finds the count of a bar: "3/100 [" at the beginning of the line, or after the bar that follows
 * "3%|". */
static bool find_bar(const char *text, const char *end, double *out_done, double *out_total)
{
    const char *percent = g_strstr_len(text, end - text, "%|");
    const char *at = text;
    if (percent) {
        const char *close = memchr(percent + 2, '|', (size_t)(end - percent - 2));
        if (!close)
            return false;
        at = close + 1;
    }
    while (at < end && *at == ' ')
        at++;
    if (at >= end || !g_ascii_isdigit(*at) || !parse_count(&at, end, out_done) || at >= end ||
        *at++ != '/' || !parse_count(&at, end, out_total))
        return false;
    return at + 1 < end && at[0] == ' ' && (at[1] == '[' || (unsigned char)at[1] >= 0x80) &&
           *out_total > 0 && *out_done <= *out_total;
}

/* Values may come out of order; only a counter that falls to less than half has begun again. */
static void take_bar(struct text_progress *progress, double done, double total)
{
    struct text_bar *bar = progress->bars;
    for (; bar < progress->bars + progress->bar_count; bar++)
        if (!(bar->total < total) && !(bar->total > total))
            break;
    if (bar == progress->bars + progress->bar_count) {
        if (progress->bar_count == TEXT_BARS_MAX)
            return;
        progress->bar_count++;
        *bar = (struct text_bar){done, total, progress->open_epoch, false};
    }
    bar->is_repeated = bar->is_repeated || done < bar->done / 2;
    bar->done = bar->is_repeated ? done : MAX(done, bar->done);
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static void take_epoch(struct text_progress *progress, double epoch, double total)
{
    if (!(progress->epochs > 0) || !(progress->epochs <= total && progress->epochs >= total) ||
        epoch < progress->epoch / 2)
        *progress = (struct text_progress){.is_from_zero = !(epoch > 0), .open_epoch = NAN};
    if (epoch < progress->epoch) /* "the best was epoch 3/60" */
        return;
    if (epoch > progress->epoch)
        progress->inside = 0;
    progress->epoch = epoch;
    progress->epochs = total;
}

/* What the counters of a line say. */
struct counts {
    double epoch, epochs, step, steps; /* NaN: not printed */
    bool has_values;                   /* besides the learning rate */
};

static struct counts counts_of(const struct orch_printed_line *line)
{
    struct counts counts = {NAN, NAN, NAN, NAN, false};
    for (guint i = 0; i < line->values->len; i++) {
        const struct orch_printed_value *value =
            &g_array_index(line->values, struct orch_printed_value, i);
        if (value->kind == ORCH_PRINTED_EPOCH && isnan(counts.epoch)) {
            counts.epoch = value->value;
            counts.epochs = value->total;
        } else if (value->kind == ORCH_PRINTED_STEP && isnan(counts.step)) {
            counts.step = value->value;
            counts.steps = value->total;
        }
        counts.has_values = counts.has_values ||
                            (value->kind == ORCH_PRINTED_VALUE && strcmp(value->last, "lr") != 0);
    }
    return counts;
}

/* A line with an epoch and values, without steps, is printed when the epoch is over. */
static bool has_ended(const struct counts *counts)
{
    return !isnan(counts->epoch) && isnan(counts->step) && counts->has_values;
}

static bool tell_epochs(const struct text_progress *progress, double *out_done, double *out_total)
{
    double begun = progress->epoch - (progress->is_from_zero ? 0 : 1);
    *out_done = CLAMP(begun + progress->inside, 0, progress->epochs);
    *out_total = progress->epochs;
    return true;
}

static void take_open_epoch(struct text_progress *progress, double epoch)
{
    progress->open_epoch = epoch;
    for (unsigned i = 0; i < progress->bar_count; i++)
        if (isnan(progress->bars[i].epoch))
            progress->bars[i].epoch = epoch;
}

/* True for a counter of the whole, as far as is known. */
static bool is_whole(const struct text_progress *progress, const struct text_bar *bar)
{
    return !bar->is_repeated && (isnan(progress->open_epoch) || progress->open_epoch > bar->epoch);
}

static bool tell_bars(const struct text_progress *progress, double *out_done, double *out_total)
{
    const struct text_bar *slowest = NULL;
    for (unsigned i = 0; i < progress->bar_count; i++) {
        const struct text_bar *bar = &progress->bars[i];
        if (is_whole(progress, bar) &&
            (!slowest || bar->done / bar->total < slowest->done / slowest->total))
            slowest = bar;
    }
    *out_done = slowest ? slowest->done : 0;
    *out_total = slowest ? slowest->total : 0;
    return true;
}

bool orch_text_progress_take(struct text_progress *progress, const struct orch_printed_line *line,
                             const char *text, size_t length, double *out_done, double *out_total)
{
    struct counts counts = counts_of(line);
    bool is_bar = find_bar(text, text + length, &counts.step, &counts.steps);
    bool has_steps = counts.steps > 0 && counts.step >= 0 && counts.step <= counts.steps;
    if (counts.epochs > 0 && counts.epoch >= 0 && counts.epoch <= counts.epochs)
        take_epoch(progress, counts.epoch, counts.epochs);
    else if (!isnan(counts.epoch))
        take_open_epoch(progress, counts.epoch);
    else if (!is_bar && !has_steps)
        return false;
    if (progress->epochs > 0) {
        if (has_steps)
            progress->inside = MAX(progress->inside, counts.step / counts.steps);
        else if (has_ended(&counts) && counts.epochs > 0)
            progress->inside = 1;
        return tell_epochs(progress, out_done, out_total);
    }
    if (has_steps)
        take_bar(progress, counts.step, counts.steps);
    return tell_bars(progress, out_done, out_total);
}
