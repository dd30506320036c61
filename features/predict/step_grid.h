/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CO2 of electricity by country: the mean of a year, not the hour of a training. */
#ifndef ORCH_FEATURES_PREDICT_STEP_GRID_H
#define ORCH_FEATURES_PREDICT_STEP_GRID_H

#include <stdbool.h>

#define ORCH_GRID_YEAR "2023"

/** Finds a country by its two letters, in any case. `*out_name` is static. */
bool orch_grid_find(const char *text, const char **out_name, double *out_g_per_kwh);
/** "AT, AU, ...". Caller frees. */
char *orch_grid_names(void);

#endif
