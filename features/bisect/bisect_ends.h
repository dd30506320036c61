/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two ends of the path, without which a search cannot begin. */
#ifndef ORCH_FEATURES_BISECT_BISECT_ENDS_H
#define ORCH_FEATURES_BISECT_BISECT_ENDS_H

#include "features/bisect/bisect.h"

/** Fails when an end cannot be measured: with ORCH_ERROR_TRIAL when the command fails there, with
 * ORCH_ERROR_NOT_FOUND when it ends well and does not print the metric. Before it says the latter
 * it sets `*inout_index` to the other end, until that has a run as well, so that it can say what
 * both print. */
bool orch_bisect_ends_check(const struct orch_bisect *bisect, size_t *inout_index, GError **error);

#endif
