/* SPDX-License-Identifier: MIT */
/* Values in what programs print: one line of text to names, numbers and steps.
 * docs/printed-values.md is the grammar for users; its examples are a test. Lines that JSON can
 * read are read as JSON. What a value means for a metric (its step, its unit) is decided by the
 * caller (core/host/text_metrics.c).
 */
#ifndef ORCH_WIRE_PRINTED_H
#define ORCH_WIRE_PRINTED_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** Bytes of a name, the final NUL included. */
#define ORCH_PRINTED_NAME_CHARS 64
/** Bytes of a unit, the final NUL included. */
#define ORCH_PRINTED_UNIT_CHARS 24

enum orch_printed_kind {
    ORCH_PRINTED_VALUE,
    ORCH_PRINTED_EPOCH,  /* counts epochs (or rounds, episodes) */
    ORCH_PRINTED_STEP,   /* counts steps (or iterations, batches) */
    ORCH_PRINTED_UNREAD, /* a name with something like a number that cannot be read: "loss: 0,91" */
};

struct orch_printed_value {
    enum orch_printed_kind kind;
    char name[ORCH_PRINTED_NAME_CHARS]; /* [a-z][a-z0-9_]*: "Test Accuracy" is "test_accuracy" */
    char last[ORCH_PRINTED_NAME_CHARS]; /* its last word: "accuracy" */
    char unit[ORCH_PRINTED_UNIT_CHARS]; /* "s", "images/s"; "": none */
    double value;                       /* of a percentage the share: 0.912 for "91.2%" */
    double total;                       /* of a step "3/10": 10; NaN: not said */
    double printed_percent;             /* 91.2 for "91.2%"; NaN: it is no percentage */
    bool is_sure; /* written with ':' or '=', or in JSON: a value whatever stands around it */
};

struct orch_printed_line {
    GArray *values;   /* struct orch_printed_value, at most 256 */
    bool has_number;  /* a number stands in it; times of day, dates and versions do not count */
    bool is_pure;     /* nothing stands in it but names, values and what belongs to them */
    bool is_progress; /* begins with a progress count or bar ("938/938 [====]", "45%|###  |") */
};

void orch_printed_line_init(struct orch_printed_line *line);
void orch_printed_line_clear(struct orch_printed_line *line);

/** Reads one line without its end; whatever was in `out` is replaced. Any bytes are allowed. */
void orch_printed_line_parse(struct orch_printed_line *out, const char *text, size_t length);

/** A number as programs print it: "12,345.6", "91.2%", "1e-3", "3.5s", "nan". Reads from `text` up
 * to `end`; returns the position behind it, unit included, NULL when there is none. `out_unit`: "%"
 * for a percentage, whose share is `*out`. */
const char *orch_printed_number(const char *text, const char *end, double *out,
                                char out_unit[ORCH_PRINTED_UNIT_CHARS]);

/** Reads a word as a unit that stands behind a number and a space ("3.5 s"); false: it is none. */
bool orch_printed_unit(const char *word, size_t length, char out_unit[ORCH_PRINTED_UNIT_CHARS]);

/** The unit in which values of that unit are kept when nothing declares another, so that runs are
 * comparable: "s" for times, "MB" for bytes, else the same. Borrowed. */
const char *orch_printed_unit_common(const char *unit);

/** Converts a number with unit `from` into one with unit `to` (times, bytes). False: they are of
 * different kinds, and the number is untouched. */
bool orch_printed_unit_convert(const char *from, const char *to, double *inout);

/** Is it a name that training programs use ("loss", "val_acc", "f1", "lr")? Such a name is a value
 * within a sentence too. */
bool orch_printed_name_is_usual(const char *name);

#endif
