/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of metrics and parameters that a report item is about. */
#ifndef ORCH_CORE_REPORT_ITEM_NAMES_H
#define ORCH_CORE_REPORT_ITEM_NAMES_H

#include "core/recipe/recipe.h"

/** Returns the words of the item's keys that hold names (values, axes, formulas), and the names by
 * which the trials of the recipe differ, which are the axes of an item that names none. A set of
 * char *; the caller unrefs. */
GHashTable *orch_item_names(const struct orch_report_item *item,
                            const struct orch_expansion *expansion);

#endif
