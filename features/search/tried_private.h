/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by tried_points.c and tried_failures.c. */
#ifndef ORCH_FEATURES_SEARCH_TRIED_PRIVATE_H
#define ORCH_FEATURES_SEARCH_TRIED_PRIVATE_H

#include "features/search/tried_points.h"

struct orch_tried {
    GHashTable *values; /* key of a run -> struct value * */
    GHashTable *ended;  /* index of an item whose trial has ended in this run -> its seconds,
                           double *; NAN: it did not run */
    GHashTable *failed; /* set of struct orch_search_point *: a trial of it failed by itself */
    GPtrArray *avoided; /* struct orch_tried_avoided * */
    GHashTable *read;   /* set of "SEARCH GROUP" whose earlier failures were read */
    GHashTable *ours; /* set of fingerprints of earlier runs that would be the same trials again */
    GHashTable *counted; /* set of keys of the runs in `spent` */
    GHashTable *spent; /* "SEARCH GROUP" -> struct orch_tried_spent *: by runs that are no item's */
    int64_t began_ns;
};

/* Runs whose result is not used: failures of earlier commands, and attempts before the last one. */
struct orch_tried_spent {
    double seconds; /* of devices */
    unsigned trials;
};

/* A point whose trial failed in an earlier run, or that the plugin rejects. */
struct orch_tried_avoided {
    const struct orch_search *search;
    unsigned group;
    double at[ORCH_SPACE_PARAMS_MAX];
};

/** Whether a point is of the search of `of`. */
bool orch_tried_is_of(const struct orch_search_point *point, const struct orch_search_point *of);
/** Returns the key of the search of `of` in the tables. Caller frees. */
char *orch_tried_name(const struct orch_search_point *of);

#endif
