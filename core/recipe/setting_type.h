/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The types of a program's own parameters, which their values decide. They reach the program as
 * they are written, whatever the type: it decides how runs are sorted, filtered and forecast. */
#ifndef ORCH_CORE_RECIPE_SETTING_TYPE_H
#define ORCH_CORE_RECIPE_SETTING_TYPE_H

#include <stdbool.h>

/** The most specific of "int", "real" and "string" that fits a value, or with `is_swept` the values
 * of a list A,B,..., of range(A,B) and of a range to search. */
const char *orch_setting_type(const char *values, bool is_swept);

#endif
