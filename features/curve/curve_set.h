/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss curves of networks on devices, and the regression over them (the "law"). Shared by the
 * report items about curves. */
#ifndef ORCH_FEATURES_CURVE_CURVE_SET_H
#define ORCH_FEATURES_CURVE_CURVE_SET_H

#include "features/curve/curves.h"
#include "features/curve/laws/curve_law.h"
#include "features/curve/laws/curve_ols.h"
#include "features/curve/laws/speed.h"
#include "lib/net/net.h"

/* ---- curves of networks on devices (curve_set.c) ----------------------------------------------
 */

struct orch_curve_set_network {
    char *name;                         /* from the plugin's cost, else the parameter `net` */
    double features[ORCH_LAW_FEATURES]; /* NaN: the features cannot be computed for this network */
    double params;                      /* NaN: unknown */
};

/** Computes a network's features and parameter count from its graph. */
void orch_curve_set_network_count(struct orch_curve_set_network *net, const struct orch_net *graph);

/** One network on one device. `curve` is NULL when there is no such run. */
struct orch_curve_set_cell {
    int net, variant, device, repeat;
    struct orch_run_curve *curve;
    struct orch_curve_result fit; /* of the Optimus form, by stage; stages NULL: too few points */
    char *why_not;                /* why there is no curve or fit */
    const struct orch_curve_set_cell *copy_of; /* an earlier cell whose losses are equal to the last
                                                  bit, so that both are one observation, or NULL */
};

struct orch_curve_set {
    GPtrArray *nets;     /* struct orch_curve_set_network * */
    GPtrArray *variants; /* char *: swept values without the network, "batch=64"; mostly one, "" */
    GPtrArray *devices;  /* char *: where runs were made, or the names in the item's `devices` */
    GPtrArray *cells; /* struct orch_curve_set_cell *: each network, variant, device and repeat */
};

/** Returns the index of the network with that name, and adds it when it is new. A new network's
 * features are computed from `cost`, the cost that its trial declares; they are NaN when `cost`
 * does not name a network that orch can build. */
int orch_curve_set_net_of(struct orch_curve_set *set, const char *name, const json_t *cost);

/** Sets `copy_of` of each cell. Call it when all cells are there and in order. */
void orch_curve_set_find_copies(struct orch_curve_set *set);
/** Returns the number of fitted cells that are a copy of another. */
int orch_curve_set_copies(const struct orch_curve_set *set);
/** Returns in words how the seeds explain the copies: "because the runs have the same seed", or
 * that they do not. Static. */
const char *orch_curve_set_copies_why(const struct orch_curve_set *set);
/** Returns the number of fitted cells that are no copy of another. */
int orch_curve_set_independent(const struct orch_curve_set *set);

/** Makes an empty set. With `owns_curves` freeing it frees its cells' curves and fits; otherwise
 * they are borrowed. The caller frees. */
struct orch_curve_set *orch_curve_set_new(bool owns_curves);
void orch_curve_set_free(struct orch_curve_set *set);
const struct orch_curve_set_network *orch_curve_set_net(const struct orch_curve_set *set, int net);
/** Returns a device's name for a table, without the prefix that all devices share. */
const char *orch_curve_set_device(const struct orch_curve_set *set, int device);

/* ---- the law -----------------------------------------------------------------------------------
 */

/** Warm-up, as a share of all steps, for runs that do not record it. */
#define ORCH_SET_WARMUP 0.05

/** The regression over a set's fitted curves. It predicts the curve of another network. */
struct orch_curve_set_law {
    struct orch_curve_law *law; /* b0, b1, b2 of each stage in turn */
    struct orch_curve_ols
        *plain; /* a regression on layers and device alone; NULL: too few curves */
    size_t stages;
    double *starts;   /* first k of each stage */
    int used, passed; /* cells used, and fitted cells not used (other stages, or no features) */
    int copies;       /* fitted cells not used because their losses are those of a used one */
    const char *copies_why; /* orch_curve_set_copies_why */
};
/** Fits the regression. NULL with an error when the set has too few usable curves. The caller
 * frees. */
struct orch_curve_set_law *orch_curve_set_law_fit(const struct orch_curve_set *set, GError **error);
void orch_curve_set_law_free(struct orch_curve_set_law *law);
/** Returns the name of one output of the regression: "b0", "b1 from step 400". The caller frees. */
char *orch_curve_set_law_param(const struct orch_curve_set_law *law, int output);
/** Predicts a curve by the regression on layers and device. NULL when there is no such
 * regression. The caller frees. */
struct orch_stages *orch_curve_ols_curve(const struct orch_curve_set_law *law,
                                         const double *features, int device);
/** Predicts the curve of a network with these features on a device (-1: mean over devices). The
 * caller frees. */
struct orch_stages *orch_curve_set_law_curve(const struct orch_curve_set_law *law,
                                             const double *features, int device);

/** Leave-one-network-out error: |predicted - measured| / measured. */
struct orch_heldout_error {
    int networks;       /* how many networks were left out; 0: the set has fewer than 3 */
    double mean, worst; /* over the runs of those networks; mean NaN: unknown */
};
struct orch_heldout_error orch_curve_set_law_leave_out(const struct orch_curve_set *set,
                                                       const struct orch_curve_set_law *law);

#endif
