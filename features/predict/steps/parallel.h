/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step of a training that several devices share, each with a part of the network.
 *
 *   dp    replicas; gradients are summed during the backward pass (predictors/steps/prior.h)
 *   fsdp  replicas that each hold a part of weights, gradients and states (ZeRO, stage 3;
 * Rajbhandari et al. 2020): weights are gathered for the forward and again for the backward pass,
 *         gradients scattered, (N-1)/N of their bytes each time, while the device computes
 *   tp    layers split among devices (Shoeybi et al. 2019): four sums over them for a layer of a
 *         transformer and step, for which the devices wait
 *   ep    experts divided among replicas (Lepikhin et al. 2021): each layer sends tokens to them
 * and back, for which the devices wait pp    stages of layers (Huang et al. 2019): m micro-batches
 * take m + N - 1 of the longest stage times
 *
 * A pipeline has four micro-batches for each stage, at most one a sample, unless it is said;
 * without a pipeline micro-batches accumulate gradients.
 */
#ifndef ORCH_FEATURES_PREDICT_PARALLEL_H
#define ORCH_FEATURES_PREDICT_PARALLEL_H

#include "predictors/steps/prior.h"

struct orch_parallel {
    int64_t dp, fsdp, tp, pp; /* at least 1 */
    int64_t ep;               /* of the replicas, which it divides; 0 and 1: each has all experts */
    int64_t micro_batches;    /* 0: as above */
    GPtrArray *shares; /* kept among ways on one device (orch_parallel_shares_new); NULL: none */
};

/** Parts of the network that several ways have in common, kept by orch_parallel_predict. The caller
 * unrefs, before the network is freed. */
GPtrArray *orch_parallel_shares_new(void);

/** Parses "dp=4,tp=2", "fsdp=8", "pp=4,micro=16". Fails with ORCH_ERROR_USAGE. */
bool orch_parallel_parse(const char *text, struct orch_parallel *out, GError **error);
int64_t orch_parallel_devices(const struct orch_parallel *parallel);
/** Batches that are trained at the same time. */
int64_t orch_parallel_replicas(const struct orch_parallel *parallel);
/** Micro-batches of a batch. */
int64_t orch_parallel_micro_batches(const struct orch_parallel *parallel, int64_t batch);

/** 90 % of the logarithms of what forecasts of such steps are off by: of replicas as of several
 * workers (predictors/steps/prior.h), of shards by MosaicML's measurements, wider where the network
 * is split, by vTrain's (bench/parallel_rows.py), and as wide where `is_guess` (struct
 * orch_prior_step): shards of other networks, precisions or links. */
double orch_parallel_error_90(const struct orch_parallel *parallel, bool is_guess);
/** Names the measured steps that this error is of: "245 published steps of ...". */
const char *orch_parallel_measured(const struct orch_parallel *parallel);

/** Links: `within` a node, and `replicas` between replicas, with the schemes of an all-reduce. */
struct orch_parallel_links {
    struct orch_exchange replicas;
    double within, between; /* bytes per second of a device: in a node; of stages */
    int64_t node_devices;   /* of which those that share experts lie in one as far as they can */
};

/** Predicts a step of `work.batch` samples a replica. Fails with ORCH_ERROR_USAGE where the network
 * cannot be split so. */
bool orch_parallel_predict(const struct orch_net *net, const struct orch_prior *prior,
                           const struct orch_roofline_work *work,
                           const struct orch_parallel *parallel,
                           const struct orch_parallel_links *links, struct orch_prior_step *out,
                           GError **error);

#endif
