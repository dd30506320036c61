/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/boxes/largest.h"

#include <stdbool.h>
#include <stdlib.h>

static inline bool is_before(struct orch_largest_item a, struct orch_largest_item b)
{
    return a.value > b.value || (a.value == b.value && a.number < b.number);
}

void orch_largest_select(struct orch_largest_item *items, int64_t total, int64_t count)
{
    int64_t low = 0, high = total - 1;
    while (low < high && count > low && count <= high) {
        const struct orch_largest_item pivot = items[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (is_before(items[i], pivot))
                i++;
            while (is_before(pivot, items[j]))
                j--;
            if (i <= j) {
                const struct orch_largest_item swap = items[i];
                items[i++] = items[j];
                items[j--] = swap;
            }
        }
        if (count - 1 <= j)
            high = j;
        else if (count - 1 >= i)
            low = i;
        else
            return;
    }
}

static int compare(const void *a, const void *b)
{
    const struct orch_largest_item x = *(const struct orch_largest_item *)a,
                                   y = *(const struct orch_largest_item *)b;
    return is_before(x, y) ? -1 : is_before(y, x);
}

void orch_largest_sort(struct orch_largest_item *items, int64_t count)
{
    qsort(items, (size_t)count, sizeof *items, compare);
}
