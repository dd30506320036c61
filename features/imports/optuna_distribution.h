/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The distribution of a parameter as Optuna stores it in JSON, with the parameter's value as a
 * double. */
#ifndef ORCH_FEATURES_IMPORTS_OPTUNA_DISTRIBUTION_H
#define ORCH_FEATURES_IMPORTS_OPTUNA_DISTRIBUTION_H

#include <jansson.h>

/** The value of a parameter: a real, an integer, or the choice with that index (a number, boolean
 * or text). `*out_range` gets the distribution as a range of a search ("loguniform(0.0001, 1)"),
 * which the caller frees. NULL when the JSON is no known distribution, or the value is not in it.
 */
json_t *orch_optuna_value(const char *distribution, double stored, char **out_range);

#endif
