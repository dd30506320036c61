/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels of metrics and parameters for commands that read runs without a recipe. */
#ifndef ORCH_FEATURES_CHARTS_DECLARED_LABELS_H
#define ORCH_FEATURES_CHARTS_DECLARED_LABELS_H

#include "core/report/trials.h"

/** Adds the labels and bounds that the plugins of the runs declare. A plugin is looked for by its
 * name from the current folder, then where the run's recipe names it below `root`, the work tree.
 * Plugins that are not found, or that the user does not trust, add none; nobody is asked. */
void orch_label_runs(struct orch_trials *trials, const char *root);

#endif
