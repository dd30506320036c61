/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types of values of a report item's keys, and checks for them. Names are checked against the
 * plugins of the experiments that the item covers. */
#ifndef ORCH_CORE_RECIPE_REPORT_SHAPES_H
#define ORCH_CORE_RECIPE_REPORT_SHAPES_H

#include "core/recipe/internal.h"

/** The type of a key's value. */
enum report_shape {
    REPORT_SHAPE_AXES,   /* names to group by: one, or a list */
    REPORT_SHAPE_AXIS,   /* one of them */
    REPORT_SHAPE_X,      /* an axis, or a value (to plot a metric against a metric) */
    REPORT_SHAPE_VALUES, /* "last val_accuracy": one, or a list */
    REPORT_SHAPE_VALUE,  /* one of them */
    REPORT_SHAPE_BETTER, /* one value whose metric declares whether higher or lower is better */
    REPORT_SHAPE_SERIES, /* a metric with a value by step or epoch */
    REPORT_SHAPE_EXPERIMENTS, /* one, or a list */
    REPORT_SHAPE_ARTIFACT,
    REPORT_SHAPE_KIND,       /* of a plot */
    REPORT_SHAPE_SPEEDUP,    /* columns of a speedup */
    REPORT_SHAPE_SPEED_MODE, /* synchronous or asynchronous */
    REPORT_SHAPE_FLAG,
    REPORT_SHAPE_NUMBERS,
    REPORT_SHAPE_SHARE,      /* one number above 0 and up to 0.5 */
    REPORT_SHAPE_REFERENCE,  /* numbers, or {name, x, y, source}, or a list of them */
    REPORT_SHAPE_COUNTS,     /* integers from 1 */
    REPORT_SHAPE_BY_PROFILE, /* a number, or a map from profile to number */
    REPORT_SHAPE_COUNT,      /* one of them */
    REPORT_SHAPE_COLUMNS,  /* axes; or columns of a data set or an artifact, which are not known yet
                            */
    REPORT_SHAPE_COLUMN,   /* one of them */
    REPORT_SHAPE_MODELS,   /* predictors: one, or a list */
    REPORT_SHAPE_MODEL,    /* one predictor that gives intervals */
    REPORT_SHAPE_SIDE,     /* a value, or an experiment */
    REPORT_SHAPE_FORMULAS, /* "speedup = a / b": one, or a list */
    REPORT_SHAPE_WHERE,    /* a filter */
    REPORT_SHAPE_TEXTS,
    REPORT_SHAPE_TEXT,
};

/** An item while it is checked. */
struct report_item {
    struct recipe_draft *draft;
    const struct orch_yaml *spec;
    GPtrArray *experiments; /* struct recipe_experiment *: covered by the item */
    bool is_listed;         /* given by its own `experiments:`, else all */
    bool has_unknown;       /* it names an experiment whose plugin cannot be asked */
    GPtrArray *metrics;     /* const struct orch_metric_spec *: read by the item */
    const char *place;      /* for example "gpu" when it groups by a device property; else NULL */
};

/** The kinds of declared names that a report can refer to. */
enum report_name {
    REPORT_NAME_PARAM,
    REPORT_NAME_METRIC,
    REPORT_NAME_ARTIFACT,
    REPORT_NAME_STEP_UNIT
};

/** The first of the item's experiments that has the name, or NULL. */
const struct recipe_experiment *orch_report_holder(const struct report_item *item,
                                                   enum report_name kind, const char *name);
/** Adds an error at `node` when the metric does not declare whether higher or lower is better. */
void orch_report_check_better(struct report_item *item, const struct orch_yaml *node,
                              const struct orch_metric_spec *metric);
/** Adds an error when a text does not fit its key's shape; records the metrics and the device
 * property that the item reads. */
void orch_report_check(struct report_item *item, enum report_shape shape,
                       const struct orch_yaml *node);
/** The same for REPORT_SHAPE_BY_PROFILE, a number or a map. */
void orch_report_check_by_profile(struct report_item *item, const struct orch_yaml *node);
/** The same for REPORT_SHAPE_REFERENCE. */
void orch_report_check_reference(struct report_item *item, const struct orch_yaml *node);
/** True when the node is the name of one of the recipe's experiments. */
bool orch_report_names_experiment(const struct report_item *item, const struct orch_yaml *node);
/** True when the key accepts a list. */
bool orch_report_takes_list(enum report_shape shape);

#endif
