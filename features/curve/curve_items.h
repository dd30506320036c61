/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report items about loss curves share: the curves of a recipe's experiments, and how a
 * section shows them. */
#ifndef ORCH_FEATURES_CURVE_CURVE_ITEMS_H
#define ORCH_FEATURES_CURVE_CURVE_ITEMS_H

#include "core/report/items.h"
#include "features/curve/curve_set.h"

/* ---- the runs (curve_gather.c) -----------------------------------------------------------------
 */

/** Collects the loss curves of the experiments that the item lists under `key`. When `key` is
 * "experiments" and the item does not have it, all experiments with the metric are used. Runs
 * of any user and machine count when they match a trial of the plan by fingerprint, or by
 * recipe, experiment, repeat and parameters when the plan has no fingerprint. Experiments that
 * the profile leaves out are not included. The caller frees. */
struct orch_curve_set *orch_curve_set_gather(struct orch_plan *plan,
                                             const struct orch_report_item *item, const char *key);
/** Adds the set's cells and runs to the item's section, and lists missing curves with the
 * command that makes them. Pass the `key` that the set was gathered with. */
void orch_curve_set_note(const struct orch_curve_set *set, struct orch_section_context *a,
                         const char *key);

/* ---- charts (curve_charts.c) -------------------------------------------------------------------
 */

/** Adds a chart of measured points and fitted curves: one panel for each network, one series for
 * each device. */
void orch_curve_set_chart(const struct orch_curve_set *set, struct orch_section *section);

/** A network that was not in the fit, on one device: its measured run and the predicted curve.
 * Borrowed. */
struct orch_heldout_curve {
    const char *net, *device;
    const struct orch_run_curve *measured;
    const struct orch_stages *predicted;
};
/** Adds a chart of predicted and measured curves, one panel for each network. `band` is the half
 * width of the prediction band as a fraction of the prediction; NaN draws no band. */
void orch_heldout_curves_chart(const struct orch_heldout_curve *held, size_t count, double band,
                               struct orch_section *section);

/* ---- the regression ----------------------------------------------------------------------------
 */

/** Describes each parameter's regression, and whether the device matters, in a section. */
void orch_curve_law_describe(struct orch_section *section, const struct orch_curve_set_law *law);
/** Describes the regression on layers and device in a section. */
void orch_curve_ols_describe(struct orch_section *section, const struct orch_curve_set_law *law,
                             const struct orch_curve_set *set);

#endif
