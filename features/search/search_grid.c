/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/search_grid.h"

unsigned orch_search_grid_values(const struct orch_space_param *param)
{
    double levels = orch_space_levels(param);
    if (param->kind == ORCH_SPACE_CHOICE)
        return (unsigned)levels;
    return levels > 0 && levels < ORCH_SEARCH_GRID_VALUES ? (unsigned)levels
                                                          : ORCH_SEARCH_GRID_VALUES;
}

/* The points of a parameter and of all that depend on it. These come behind it in the list, so that
 * their own are known. */
static double points_of(const struct orch_space *space, unsigned index, const double *known)
{
    const struct orch_space_param *param = orch_space_param(space, index);
    const unsigned values = orch_search_grid_values(param);
    double sum = 0;
    if (param->kind != ORCH_SPACE_CHOICE)
        return values;
    for (unsigned k = 0; k < values; k++) {
        double product = 1;
        for (unsigned i = index + 1; i < space->params->len; i++) {
            const struct orch_space_param *other = orch_space_param(space, i);
            if (other->parent == (int)index && (other->when >> k & 1))
                product *= known[i];
        }
        sum += product;
    }
    return sum;
}

double orch_search_grid_points(const struct orch_space *space)
{
    double known[ORCH_SPACE_PARAMS_MAX], product = 1;
    for (unsigned i = space->params->len; i-- > 0;) {
        known[i] = points_of(space, i, known);
        product *= orch_space_param(space, i)->parent < 0 ? known[i] : 1;
    }
    return product;
}
