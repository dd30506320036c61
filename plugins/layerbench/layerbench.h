/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this plugin. */
#ifndef ORCH_PLUGINS_LAYERBENCH_H
#define ORCH_PLUGINS_LAYERBENCH_H

#include <orch/plugin.h>

#include "plugins/common/torch/torch.h"

struct params {
    struct orch_list layers; /* const char * */
    int64_t draws;
    const char *timer;
    struct orch_list kinds;                                         /* const char * */
    struct orch_list batch, in_hw, kernel, channels, stride, units; /* int64_t: minimum, maximum */
    struct orch_list passes, activations;                           /* const char * */
    double max_gflop, max_mvalues;
    int64_t warmup, repeats;
    const char *net, *input, *optimizer;
    int64_t net_batch, classes;
    bool by_layer;
    const char *precision, *layout;
    bool peak;
    const char *clock, *device;
    int64_t threads;
};

/** Names of enum orch_torch_pass and of enum orch_torch_activation, NULL-terminated. */
extern const char *const LAYERBENCH_PASSES[], *const LAYERBENCH_ACTIVATIONS[];
/** Names of enum orch_torch_precision, NULL-terminated. */
extern const char *const LAYERBENCH_PRECISIONS[];

/** Index of a name, -1 if there is none. */
int orch_layerbench_index(const char *const *names, const char *name);
/** Median, minimum and maximum of times; sorts them. */
struct layerbench_spread {
    double median, least, most;
};
struct layerbench_spread orch_layerbench_spread_of(double *times, int count);

/** Draws random layers and times each (random_layers.c). */
int orch_layerbench_layers(const struct orch_torch *torch, const struct params *p,
                           const char *device, const struct orch_host *host);
/** Validates the ranges; reports errors through the host. */
bool orch_layerbench_check_ranges(const struct params *p, const struct orch_host *host);
/** Times steps of a whole network (whole.c). */
int orch_layerbench_net(const struct orch_torch *torch, const struct params *p, const char *device,
                        const struct orch_host *host);
struct orch_net_layer_spec;
/** Draws layer `i` from the trial's seed. Fails if the ranges hardly allow any (random_layers.c).
 */
bool orch_layerbench_draw_spec(const struct params *p, const struct orch_host *host, int64_t i,
                               struct orch_net_layer_spec *out, GError **error);
/** Makes the network named in the parameters; NULL with an error reported to the host. Caller
 * frees. */
struct orch_net *orch_layerbench_make_net(const struct params *p, const struct orch_host *host);

#endif
