/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: the largest of many numbered values. */
#ifndef ORCH_PLUGINS_COMMON_LARGEST_H
#define ORCH_PLUGINS_COMMON_LARGEST_H

#include <stdint.h>

/** A value that is not NaN, and the number of what it belongs to, which decides at equal values:
 * the lower number comes first. */
struct orch_largest_item {
    float value;
    int32_t number;
};

/** Moves the `count` largest of `total` values to the front, in any order (Hoare's selection). */
void orch_largest_select(struct orch_largest_item *items, int64_t total, int64_t count);
/** Sorts by falling value. */
void orch_largest_sort(struct orch_largest_item *items, int64_t count);

#endif
