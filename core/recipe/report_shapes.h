/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of the values of a report item's keys, by their types (report_kinds.h). Names are checked
 * against the plugins of the experiments that the item covers. */
#ifndef ORCH_CORE_RECIPE_REPORT_SHAPES_H
#define ORCH_CORE_RECIPE_REPORT_SHAPES_H

#include "core/recipe/recipe_key.h"
#include "core/recipe/report_kinds.h"

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

/** Whether a word names a number of a metric's curve: last, best, mean, min, max or first. */
bool orch_report_is_curve_summary(const char *word);
/** The first of the item's experiments that has the name, or NULL. */
const struct recipe_experiment *orch_report_holder(const struct report_item *item,
                                                   enum report_name kind, const char *name);
/** Adds an error at `node` when it is not known which values of the metric are better. */
void orch_report_check_better(struct report_item *item, const struct orch_yaml *node,
                              const struct orch_metric_spec *metric);
/** Adds an error when a text does not fit its key's shape; records the metrics and the device
 * property that the item reads. */
void orch_report_check(struct report_item *item, const struct orch_report_key *key,
                       const struct orch_yaml *node);
/** The same for ORCH_SHAPE_BY_PROFILE, a number or a map. */
void orch_report_check_by_profile(struct report_item *item, const struct orch_yaml *node);
/** The same for ORCH_SHAPE_REFERENCE. */
void orch_report_check_reference(struct report_item *item, const struct orch_yaml *node);
/** True when the node is the name of one of the recipe's experiments. */
bool orch_report_names_experiment(const struct report_item *item, const struct orch_yaml *node);
/** True when a key of the item is true, yes or on. */
bool orch_report_flag(const struct report_item *item, const char *key);
/** True when the item is a plot with `kind: heat`, whose y is a parameter. */
bool orch_report_is_heat_map(const struct report_item *item);
/** True when the key accepts a list. */
bool orch_report_takes_list(enum orch_report_shape shape);

#endif
