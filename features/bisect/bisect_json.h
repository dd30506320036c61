/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_FEATURES_BISECT_BISECT_JSON_H
#define ORCH_FEATURES_BISECT_BISECT_JSON_H

#include "features/bisect/bisect_answer.h"

/** Returns the outcome of a bisection as an object (docs/bisect.md). New reference. */
json_t *orch_bisect_json(const struct orch_bisect *bisect, const struct orch_bisect_answer *answer);

#endif
