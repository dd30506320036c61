/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of report items. A kind is one row, which says what a recipe may write (checked while
 * the recipe is read) and how its section is computed (core/report). Features list their rows in
 * their descriptors (core/feature/feature.h). */
#ifndef ORCH_CORE_RECIPE_REPORT_KINDS_H
#define ORCH_CORE_RECIPE_REPORT_KINDS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

struct orch_document;
struct orch_section_context;
struct report_item;

/** The type of a key's value. */
enum orch_report_shape {
    ORCH_SHAPE_AXES,              /* names to group by: one, or a list */
    ORCH_SHAPE_AXIS,              /* one of them */
    ORCH_SHAPE_X,                 /* an axis, or a value (to plot a metric against a metric) */
    ORCH_SHAPE_Y,                 /* values, or an axis where z is the value: of a plot */
    ORCH_SHAPE_VALUES,            /* "last val_accuracy": one, or a list */
    ORCH_SHAPE_VALUE,             /* one of them */
    ORCH_SHAPE_BETTER,            /* one value whose metric declares whether higher or lower is
                                     better */
    ORCH_SHAPE_SERIES,            /* a metric with a value by step or epoch */
    ORCH_SHAPE_EXPERIMENTS,       /* the experiments that the item covers: one, or a list */
    ORCH_SHAPE_OTHER_EXPERIMENTS, /* experiments besides those that the item covers */
    ORCH_SHAPE_ARTIFACT,
    ORCH_SHAPE_WORDS, /* words of the key's own list: one, or a list */
    ORCH_SHAPE_WORD,  /* one of them */
    ORCH_SHAPE_FLAG,
    ORCH_SHAPE_NUMBERS,
    ORCH_SHAPE_SHARE,      /* one number above 0 and up to 0.5 */
    ORCH_SHAPE_REFERENCE,  /* numbers, or {name, x, y, source}, or a list of them */
    ORCH_SHAPE_COUNTS,     /* integers from 1 */
    ORCH_SHAPE_BY_PROFILE, /* a number, or a map from profile to number */
    ORCH_SHAPE_COUNT,      /* one of them */
    ORCH_SHAPE_COLUMNS,    /* axes; or columns of a data set or an artifact, which are not known yet
                            */
    ORCH_SHAPE_COLUMN,     /* one of them */
    ORCH_SHAPE_SIDE,       /* a value, or an experiment */
    ORCH_SHAPE_FORMULAS,   /* "speedup = a / b": one, or a list */
    ORCH_SHAPE_WHERE,      /* a filter */
    ORCH_SHAPE_TEXTS,
    ORCH_SHAPE_TEXT,
};

/** The words that a key takes. Another word is "unknown WHAT 'word'OF". */
struct orch_report_words {
    const char *const *words; /* ends with NULL; or: */
    const char *const *(*listed)(void);
    const char *what, *of; /* "column", " of a speedup"; of: or NULL */
    const char *hint;      /* NULL: the most similar word, or all of them */
};

struct orch_report_key {
    const char *name; /* NULL ends a table */
    enum orch_report_shape shape;
    const struct orch_report_words *words; /* of ORCH_SHAPE_WORDS and ORCH_SHAPE_WORD */
    bool is_required;
};

/** Which settings an item of a kind tests against each other. The items of a question that test
 * the same value share one family of tests. */
enum orch_report_tests {
    ORCH_TESTS_NONE,
    ORCH_TESTS_ALL,      /* every two, by the keys `value` and `by` */
    ORCH_TESTS_BASELINE, /* each with the `baseline`, by `value`, `by` and `best_of` */
};

/** A kind of report item. */
struct orch_report_kind {
    const char *name;
    const struct orch_report_key *keys; /* NULL: the item is a text */
    bool may_be_bare;                   /* `- coverage:` without keys */
    bool is_slow;                       /* it fits models */
    bool divides_times; /* the answer divides times, and so says first how many were disturbed */
    enum orch_report_tests tests;
    const char *place; /* the device property that it always groups by ("gpu"), or NULL */
    /** Checks what the table of keys cannot express (report_shapes.h); NULL: nothing. */
    void (*check)(struct report_item *item);
    /** Returns whether an item is about trials of the recipe; NULL: every one is. */
    bool (*has_trials)(const json_t *spec);
    /** Fills the section. False with an error when the store cannot be read. */
    bool (*fill)(struct orch_section_context *a, GError **error);
    /** For a kind that is filled after all other sections, because it is about them: returns the
     * title under which it is added to a report that does not ask for it, or NULL. */
    const char *(*joins)(const struct orch_document *document);
};

/** Returns the kinds of all features (const struct orch_report_kind *). The caller unrefs. */
GPtrArray *orch_report_kinds(void);
/** Returns a kind by its name; NULL when there is none. */
const struct orch_report_kind *orch_report_kind_find(const char *name);

#endif
