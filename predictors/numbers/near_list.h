/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows nearest to a point, while they are searched. */
#ifndef ORCH_PREDICTORS_NEAR_LIST_H
#define ORCH_PREDICTORS_NEAR_LIST_H

#include <stdint.h>

struct orch_neighbour {
    double square; /* squared distance, summed column by column */
    uint32_t row;
};

/** The nearest rows so far, nearest first; of equally near rows, the earlier one is first. Begin
 * with {room for `wanted` rows, 0, wanted}. */
struct orch_near_list {
    struct orch_neighbour *near;
    int count, wanted;
};

static inline int orch_neighbour_before(struct orch_neighbour a, struct orch_neighbour b)
{
    return a.square < b.square || (!(a.square > b.square) && a.row < b.row);
}

/** Adds a row if it is among the `wanted` nearest. */
static inline void orch_near_list_add(struct orch_near_list *list, struct orch_neighbour next)
{
    int at = list->count;
    if (at == list->wanted && !orch_neighbour_before(next, list->near[--at]))
        return;
    for (; at > 0 && orch_neighbour_before(next, list->near[at - 1]); at--)
        list->near[at] = list->near[at - 1];
    list->near[at] = next;
    list->count += list->count < list->wanted;
}

#endif
