/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the points of a run's searches, by a sampler (features/search/samplers/sampler.h), from
 * the values of the trials that ended, in this run or before. */
#ifndef ORCH_FEATURES_SEARCH_CHOOSER_H
#define ORCH_FEATURES_SEARCH_CHOOSER_H

#include "core/cli/run_part.h"

extern const struct orch_run_part ORCH_SEARCH_RUN_PART;

#endif
