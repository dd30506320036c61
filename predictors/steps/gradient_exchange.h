/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time to exchange gradients between workers. Extends PALEO's four schemes by latency, rings,
 * two-level topologies and overlap with the backward pass. Seconds and bytes throughout.
 *
 * With S bytes, n workers, bandwidth B and latency a of a link: ring 2 (n-1) (a + S/(n B)); tree
 * (reduce, then broadcast) 2 ceil(log2 n) (a + S/B); butterfly (recursive doubling) ceil(log2 n)
 * (a + S/B); one to all 2 (n-1) (a + S/B). Thakur, Rabenseifner, Gropp 2005. */
#ifndef ORCH_PREDICTORS_GRADIENT_EXCHANGE_H
#define ORCH_PREDICTORS_GRADIENT_EXCHANGE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_exchange_scheme {
    ORCH_EXCHANGE_RING,
    ORCH_EXCHANGE_TREE,
    ORCH_EXCHANGE_BUTTERFLY,
    ORCH_EXCHANGE_ONE_TO_ALL,
    /* ring reduce-scatter within each node, ring between nodes over the links of a node, ring
       all-gather within each node */
    ORCH_EXCHANGE_HIERARCHICAL,
};
#define ORCH_EXCHANGE_SCHEME_COUNT (ORCH_EXCHANGE_HIERARCHICAL + 1)
/** "ring", "tree", "butterfly", "one-to-all", "hierarchical" */
const char *orch_exchange_scheme_name(enum orch_exchange_scheme scheme);
bool orch_exchange_scheme_find(const char *name, enum orch_exchange_scheme *out);

struct orch_exchange {
    enum orch_exchange_scheme scheme;
    int64_t workers;
    double bandwidth; /* bytes per second that a worker (hierarchical: a node) can send */
    double latency_s;
    /* for hierarchical only: workers per node and the link within a node */
    int64_t node_workers;
    double node_bandwidth, node_latency_s;
};

/** Fails with ORCH_ERROR_USAGE without workers or bandwidth, or if workers do not fill the
 * nodes. */
bool orch_exchange_check(const struct orch_exchange *exchange, GError **error);
/** Time to sum `bytes` over all workers; 0 for one worker. */
double orch_exchange_s(const struct orch_exchange *exchange, double bytes);

/** Time by which the exchange outlasts the backward pass if each layer's gradients are sent as soon
 * as they are available, one after another. `backward_s` and `bytes` of the `count` layers are in
 * forward order (the backward pass begins at the last). Gradients are gathered in buckets of
 * `bucket_bytes` (PyTorch's DDP: 25 MiB; 0: one per layer). At least the time of the last
 * bucket. */
double orch_exchange_exposed_s(const struct orch_exchange *exchange, const double *backward_s,
                               const double *bytes, int count, double bucket_bytes);

#endif
