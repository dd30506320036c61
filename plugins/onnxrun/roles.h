/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which outputs of a detector have boxes and which have confidences, and both as arrays over its
 * priors. */
#ifndef ORCH_PLUGINS_ONNXRUN_ROLES_H
#define ORCH_PLUGINS_ONNXRUN_ROLES_H

#include "plugins/onnxrun/onnxrun.h"

enum onnxrun_role { ONNXRUN_SCORES, ONNXRUN_LOCATIONS };

/** By the output's name: "boxes.0", "loc", "regression_headers.1" are locations, everything else
 * scores. A network without locations is a classifier. */
enum onnxrun_role orch_onnxrun_role_of(const struct onnxrun_file *file, int index);

/** True if the file has outputs of both roles. */
bool orch_onnxrun_file_detects(const struct onnxrun_file *file);

#endif
