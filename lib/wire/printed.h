/* SPDX-License-Identifier: MIT */
/* Extracts values from program output: a line of text becomes names, numbers and steps.
 * docs/printed-values.md documents the grammar; its examples are a test. JSON is parsed as JSON,
 * also over several lines. The caller decides what a value means for a metric (its step, its unit),
 * see core/host/text_metrics.c. */
#ifndef ORCH_WIRE_PRINTED_H
#define ORCH_WIRE_PRINTED_H

#include "lib/base/unit.h"
#include "lib/wire/printed_table.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** Size of a name, including the NUL. */
#define ORCH_PRINTED_NAME_CHARS 128

enum orch_printed_kind {
    ORCH_PRINTED_VALUE,
    ORCH_PRINTED_EPOCH,  /* a counter of epochs (or rounds, episodes) */
    ORCH_PRINTED_STEP,   /* a counter of steps (or iterations, batches) */
    ORCH_PRINTED_UNREAD, /* a name with a malformed number: "loss: 0,91" */
    ORCH_PRINTED_PLACE,  /* a place or an identity: "pid=123", "DataLoader 0"; or a time that is
                            left: "ETA: 3s". No measurement */
    ORCH_PRINTED_NEXT,   /* the values behind it are those of another record: [{...}, {...}] */
};

struct orch_printed_value {
    enum orch_printed_kind kind;
    char name[ORCH_PRINTED_NAME_CHARS]; /* lower-case letters of any script, digits and '_': "Test
                                           Accuracy" becomes "test_accuracy" */
    char last[ORCH_PRINTED_NAME_CHARS]; /* its last word: "accuracy" */
    char short_name[ORCH_PRINTED_NAME_CHARS]; /* within a sentence: "test_accuracy" of "reached the
                                                 test accuracy 0.9" */
    char unit[ORCH_UNIT_CHARS];               /* "s", "images/s"; "" without a unit */
    double value;                             /* for a percentage the share: 0.912 for "91.2%" */
    double total;                             /* 10 for a step "3/10"; NaN if not given */
    double printed_percent;                   /* 91.2 for "91.2%"; NaN if not a percentage */
    bool is_sure; /* written with ':' or '=', or in JSON: a value regardless of its context */
    bool is_late; /* a counter after the values of its line, or in brackets: "best 0.4, epoch 3" */
    unsigned spelling; /* a hash of the name as printed, without case */
};

struct orch_printed_line {
    GArray *values;             /* struct orch_printed_value, at most 1,024 */
    GString *folded, *row;      /* the line in plain signs; a table's row as text */
    struct printed_table table; /* of the lines before */
    GArray *headings;           /* struct printed_heading: those of the lines before */
    const char *label; /* "train", "test", ... of the line, for a summary below it; or NULL */
    bool is_row;       /* a row of a box of names and values, whose rows belong together */
    bool has_number;   /* contains a number, apart from times of day, dates, versions and places */
    bool has_unread;   /* contains a number that no value stands for, nor a form leaves out */
    bool is_pure;      /* contains only names and values */
    bool is_progress;  /* begins with a progress count or bar ("938/938 [====]", "45%|###  |") */
    bool is_cut;       /* has more words or values than are read */
    bool is_tree;      /* is part of a drawn tree, as settings are shown */
    int rank;          /* the process of several that printed the line ("[rank1]: ..."); -1: none */
};

void orch_printed_line_init(struct orch_printed_line *line);
void orch_printed_line_clear(struct orch_printed_line *line);

/** Parses one line without its end, or a whole JSON document (printed_document.h), and replaces the
 * contents of `out`. Accepts arbitrary bytes. Takes time proportional to the length. */
void orch_printed_line_parse(struct orch_printed_line *out, const char *text, size_t length);

/** Parses a duration in parts, with at least two of them: "1h 2m 3s", "2 min 30 s", "1 day,
 * 2:03:04". Returns the position after it, or NULL if there is none. */
const char *orch_printed_duration(const char *text, const char *end, double *out_s);

/** Parses a number as programs print it: "12,345.6", "91.2%", "1e-3", "3.5s", "nan". Returns the
 * position after it and its unit, at most `end`, or NULL if there is none. For a percentage
 * `out_unit` is "%" and `*out` the share. */
const char *orch_printed_number(const char *text, const char *end, double *out,
                                char out_unit[ORCH_UNIT_CHARS]);

/** Parses a word as a unit after a number and a space ("3.5 s"); false if it is not one. */
bool orch_printed_unit(const char *word, size_t length, char out_unit[ORCH_UNIT_CHARS]);

#endif
