/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes decoded from a detector's outputs. */
#ifndef ORCH_PLUGINS_ONNXRUN_FOUND_BOXES_H
#define ORCH_PLUGINS_ONNXRUN_FOUND_BOXES_H

#include "plugins/onnxrun/onnxrun.h"

/** Fills `detections` of each group of a detector; does nothing for another network. Fails for
 * outputs that are not those of a detector (roles.h). */
bool orch_onnxrun_detections_find(struct onnxrun_trial *t, GError **error);

/** Reports mean average precision over the images with objects. */
void orch_onnxrun_detections_report(const struct onnxrun_trial *t);

#endif
