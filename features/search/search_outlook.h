/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What searches will cost, said before they run. */
#ifndef ORCH_FEATURES_SEARCH_SEARCH_OUTLOOK_H
#define ORCH_FEATURES_SEARCH_SEARCH_OUTLOOK_H

#include "core/cli/run_part.h"

/** Prints for each search of a plan how many trials are left at most and what they take by their
 * forecasts, and how many a grid would have: "search of tune: at most 40 trials, 12 min of device
 * time; a grid with 5 values of each number: 150 trials, 45 min". */
void orch_search_outlook_print(struct orch_cli *cli, const struct orch_run_outlook *outlook);

#endif
