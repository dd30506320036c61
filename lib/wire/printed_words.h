/* SPDX-License-Identifier: MIT */
/* The vocabulary of printed lines: what a word means beside a number. */
#ifndef ORCH_WIRE_PRINTED_WORDS_H
#define ORCH_WIRE_PRINTED_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/** Classes of a word; a word may have several. */
enum orch_printed_class {
    WORD_EPOCH = 1 << 0,       /* counts epochs */
    WORD_STEP = 1 << 1,        /* counts steps */
    WORD_BATCH = 1 << 2,       /* counts steps only in an unambiguous form: "batch 3/10" */
    WORD_COUNTED = 1 << 3,     /* behind a count of steps: "3/10 batches" */
    WORD_LEVEL = 1 << 4,       /* the level of a log */
    WORD_COPULA = 1 << 5,      /* between a name and its value: "is" */
    WORD_PREPOSITION = 1 << 6, /* before a number that is no value of the words before */
    WORD_OTHER = 1 << 7,       /* the counter behind it is that of something else: "best epoch 3" */
    WORD_PLACE = 1 << 8,       /* a whole number behind it names a place and measures nothing */
    WORD_RANK = 1 << 9,        /* numbers the process that printed the line */
    WORD_FIRST_RANK = 1 << 10, /* does so at the beginning of a line only */
    WORD_SET = 1 << 11,        /* behind a label: "Test set" */
    WORD_ORDINAL = 1 << 12,    /* its number belongs to a name: "fold 1", "top 5" */
    WORD_NEUTRAL = 1 << 13,    /* as a heading it tells nothing apart: "Results:" */
    WORD_QUALIFIER = 1 << 14,  /* within a sentence it belongs to the name: "best loss" */
    WORD_USUAL = 1 << 15,      /* a name that training programs commonly use */
    WORD_COUNT = 1 << 16,      /* a number of things, to which no unit of a heading applies */
    WORD_TRAIN = 1 << 17,      /* these four say which data a value is of */
    WORD_VAL = 1 << 18,
    WORD_TEST = 1 << 19,
    WORD_EVAL = 1 << 20,
    WORD_TIME_LEFT = 1 << 21,  /* a time that is left, with a unit of time */
    WORD_NO_MEASURE = 1 << 22, /* measures nothing whatever its unit: eta_seconds, v_num */
    WORD_TYPE = 1 << 23,       /* the name of a type around a number: "tensor" */
    WORD_DEVICE = 1 << 24,     /* "cuda" before ":0" */
    WORD_SOURCE = 1 << 25,     /* the ending of a source file */
    WORD_TITLE = 1 << 27,      /* what stands behind its number is a title: "Benchmark 1: ls" */
    WORD_STEPS = 1 << 28,      /* before a number of steps, where a usual metric follows */
    WORD_BILLIONS = 1 << 26,   /* beside "7B": a number of things, not bytes */
};

#define WORD_LABEL (WORD_TRAIN | WORD_VAL | WORD_TEST | WORD_EVAL)

/** The classes of a word, whatever its case; 0 for a word of none. */
unsigned orch_printed_classes(const char *word, size_t length);

/** "train", "val", "test" or "eval" for a word of WORD_LABEL; NULL for others. Borrowed. */
const char *orch_printed_label(unsigned classes);

/** True for a value that measures nothing: a time that is left ("ETA: 3s", "time remaining 5 min",
 * eta_seconds=12), the number of a log ("v_num=0" of Lightning). `name` is as in
 * orch_printed_value. A name such as eta is one of these only with a unit of time, as it is also
 * that of a learning rate. */
bool orch_printed_is_time_left(const char *name, const char *unit);

/** True for a name that training programs commonly use ("loss", "val_acc", "f1", "lr"). Such a name
 * has a value even within a sentence. */
bool orch_printed_name_is_usual(const char *name);

#endif
