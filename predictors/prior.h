/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to expect before anything was measured here. Tier transferred: the white box distilled from
 * measurements elsewhere (predictors/transfer.h). Tier prior: the roofline, with the shares of peak
 * and bandwidth that frameworks were seen to reach on GPUs of the same architecture, and how far
 * that was off on networks that the shares were not fitted to. */
#ifndef ORCH_PREDICTORS_PRIOR_H
#define ORCH_PREDICTORS_PRIOR_H

#include "lib/hw/gpus.h"
#include "predictors/exchange.h"
#include "predictors/roofline.h"
#include "predictors/transfer.h"

/** What published measurements say of a class of GPUs. */
struct orch_prior_class {
    const char *archs;     /* joined by ','; NULL ends the table */
    const char *precision; /* "fp32", "tf32", "fp16" (bf16 as well) */
    double compute_share, memory_share, launch_s;
    double spread;    /* root mean square of log(predicted / measured) on networks left out */
    double ppp_paleo; /* platform percent of peak: mean of PALEO's estimate at 1 over the measured
                         step; 0: none */
    int rows, nets;
    const char *source;
};

struct orch_prior {
    struct orch_roofline_device device; /* the GPU at this precision, with its shares */
    double error_90; /* 90 % of step times lie within exp(+-this) times the answer */
    const struct orch_prior_class *from;
    bool is_borrowed;    /* nothing was measured on this architecture: the nearest one's shares */
    bool is_transferred; /* `transfer` answers, not the roofline */
    struct orch_transfer transfer;
    double shift; /* factor on the device's own time, of a calibration; 1: none */
};
/** Shares for a GPU. ORCH_ERROR_USAGE when it cannot compute at this precision. */
bool orch_prior_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                    struct orch_prior *out, GError **error);
/** Lets the transferred model answer where it speaks of the GPU; false, and nothing changed, where
 * it does not. */
bool orch_prior_transfer(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                         struct orch_prior *inout);

/** Step of data-parallel training: `work.batch` images a worker; the exchange of fp32 gradients,
 * hidden behind the backward pass in buckets as PyTorch's DDP does. */
struct orch_prior_step {
    struct orch_roofline_step own; /* of one worker */
    double exchange_s;             /* of all gradients, one after another */
    double exposed_s;              /* what of it sticks out */
    double total_s;
    double low_s, high_s;  /* the middle 90 % */
    double images_per_s;   /* of all workers */
    double memory_bytes;   /* a worker needs, with 0.75 GB for context and workspaces */
    int64_t largest_batch; /* that fits a worker; 0: unknown memory, or none */
    bool fits;
};
/** With `own` not NULL: the device's own time is not estimated but given, with its interval. */
struct orch_prior_own {
    double seconds, low, high;
};
bool orch_prior_predict(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_prior *prior, const struct orch_roofline_work *work,
                        const struct orch_exchange *exchange, const struct orch_prior_own *own,
                        struct orch_prior_step *out, GError **error);

#endif
