/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells a detector's outputs with boxes from those with scores, by their names. */
#ifndef ORCH_PLUGINS_ONNXRUN_ROLES_H
#define ORCH_PLUGINS_ONNXRUN_ROLES_H

#include "plugins/onnxrun/onnxrun.h"

enum onnxrun_role { ONNXRUN_SCORES, ONNXRUN_LOCATIONS };

/** Returns the role of output `index` by its name: "boxes.0", "loc" and "regression_headers.1" are
 * locations, all others are scores. A network without locations is a classifier. */
enum onnxrun_role orch_onnxrun_role_of(const struct onnxrun_file *file, int index);

/** True if the file has outputs of both roles. */
bool orch_onnxrun_file_detects(const struct onnxrun_file *file);

#endif
