/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss curves of networks on devices, and the law over them: what the items about curves are made
 * of. */
#ifndef ORCH_CORE_ANSWER_CURVE_SET_H
#define ORCH_CORE_ANSWER_CURVE_SET_H

#include "core/answer/curves.h"
#include "core/answer/items.h"
#include "lib/net/net.h"
#include "predictors/curve_law.h"
#include "predictors/curve_plain.h"
#include "predictors/speed.h"

/* ---- curves of networks on devices (curve_set.c) ----------------------------------------------
 */

struct orch_set_net {
    char *name;                         /* as the plugin's cost says, else the parameter `net` */
    double features[ORCH_LAW_FEATURES]; /* NaN: not a network that can be counted */
    double params;                      /* NaN likewise */
};

/** Fills features and parameters from a graph. */
void orch_set_net_count(struct orch_set_net *net, const struct orch_net *graph);

/** A network on a device; `curve` is NULL while nobody has run it. */
struct orch_set_cell {
    int net, variant, device, repeat;
    struct orch_run_curve *curve;
    struct orch_curve_result fit; /* the optimus form, by stage; stages NULL: too few points */
    char *why_not;                /* why there is no curve or fit */
};

struct orch_curve_set {
    GPtrArray *nets;     /* struct orch_set_net * */
    GPtrArray *variants; /* char *: swept values but the network's, "batch=64"; mostly one, "" */
    GPtrArray *devices;  /* char *: where it ran, or as the item's `devices` says */
    GPtrArray *cells;    /* struct orch_set_cell *: every network on every device and repeat */
};

/** The index of the network of that name; a new one is counted from what a trial declares as its
 * cost (NaN where that names no network that can be counted). */
int orch_curve_set_net_of(struct orch_curve_set *set, const char *name, const json_t *cost);

/** Gathers the runs of the experiments that `key` of the item names (all with a curve, when it is
 * absent and `key` is "experiments"), whoever made them and wherever: those of the plan's
 * fingerprints. Cells of experiments that the profile leaves out are not in it. The caller frees.
 */
struct orch_curve_set *orch_curve_set_gather(struct orch_plan *plan,
                                             const struct orch_report_item *item, const char *key);
/** Notes its cells and runs in the item's section, and what is missing with the command that makes
 * it. `key` as it was gathered with. */
void orch_curve_set_note(const struct orch_curve_set *set, struct orch_asked *a, const char *key);
void orch_curve_set_free(struct orch_curve_set *set);
const struct orch_set_net *orch_curve_set_net(const struct orch_curve_set *set, int net);
/** Its name in a table: short where devices differ in their ends only. */
const char *orch_curve_set_device(const struct orch_curve_set *set, int device);

/** Measured points and fitted curves as a chart: a panel a network, a series a device. */
void orch_curve_set_chart(const struct orch_curve_set *set, struct orch_section *section);

/* ---- the law -----------------------------------------------------------------------------------
 */

/** Steps that count as warm-up where the run does not say: a share of all. */
#define ORCH_SET_WARMUP 0.05

/** The regression over a set's fitted curves, and the curve that it predicts. */
struct orch_set_law {
    struct orch_law *law;     /* b0, b1, b2 of each stage in turn */
    struct orch_plain *plain; /* the same on layers and device alone; NULL: too few curves */
    size_t stages;
    double *starts;   /* of the stages, in k */
    int used, passed; /* cells in it, and passed over (other stages, no network) */
};
/** NULL with an error when the set does not allow it. The caller frees. */
struct orch_set_law *orch_set_law_fit(const struct orch_curve_set *set, GError **error);
void orch_set_law_free(struct orch_set_law *law);
/** "b0", "b1 from step 400": an output of the regression. The caller frees. */
char *orch_set_law_param(const struct orch_set_law *law, int output);
/** The regression on layers and device, into a section. */
void orch_set_plain_say(struct orch_section *section, const struct orch_set_law *law,
                        const struct orch_curve_set *set);
/** The curve that it predicts; NULL without it. The caller frees. */
struct orch_stages *orch_set_plain_curve(const struct orch_set_law *law, const double *features,
                                         int device);
/** Each parameter's regression, and whether the device matters, into a section. */
void orch_set_law_say(struct orch_section *section, const struct orch_set_law *law);
/** The curve of a network with these features, on a device (-1: on average). The caller frees. */
struct orch_stages *orch_set_law_curve(const struct orch_set_law *law, const double *features,
                                       int device);

/** |predicted - measured| / measured of networks that were left out in turn. */
struct orch_left_out_error {
    int networks;       /* so many; 0: the set has fewer than 3 */
    double mean, worst; /* over their runs; mean NaN: unknown */
};
struct orch_left_out_error orch_set_law_leave_out(const struct orch_curve_set *set,
                                                  const struct orch_set_law *law);

/** A network that was left out, on a device: its own run and what was predicted. Borrowed. */
struct orch_held_curve {
    const char *net, *device;
    const struct orch_run_curve *measured;
    const struct orch_stages *predicted;
};
/** Predicted curves beside the measured ones as a chart, a panel each; `band` is the relative half
 * width of the prediction's band, NaN: none. */
void orch_held_curves_chart(const struct orch_held_curve *held, size_t count, double band,
                            struct orch_section *section);

#endif
