/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecast before any local measurement. Tier transferred: analytical model calibrated on public
 * measurements (lib/steptime/transfer.h). Tier prior: the roofline, with the shares of peak and
 * bandwidth that frameworks reached on GPUs of the same architecture, and its error on networks
 * that were not used to fit the shares. */
#ifndef ORCH_PREDICTORS_PRIOR_H
#define ORCH_PREDICTORS_PRIOR_H

#include "lib/base/interval.h"
#include "lib/devices/ceilings.h"
#include "lib/devices/gpus.h"
#include "lib/steptime/kernel_step.h"
#include "lib/steptime/roofline.h"
#include "lib/steptime/transfer.h"
#include "lib/steptime/transfer_error.h"
#include "predictors/steps/gradient_exchange.h"

/** Shares from published measurements of a class of GPUs. */
struct orch_prior_class {
    const char *archs;     /* joined by ','; NULL ends the table */
    const char *precision; /* "fp32", "tf32", "fp16" (bf16 as well) */
    double compute_share, memory_share, launch_s;
    double spread;    /* root mean square of log(predicted / measured) on held-out networks */
    double ppp_paleo; /* platform percent of peak: mean of PALEO's estimate at 1 over the measured
                         step; 0: unknown */
    int rows, nets;
    const char *source;
};

struct orch_prior {
    struct orch_roofline_device device; /* the GPU at this precision, with its shares */
    double error_90; /* 90 % of step times lie within a factor exp(+-this) of the prediction */
    const struct orch_prior_class *from;
    bool is_borrowed;    /* no measurement of this architecture: the nearest one's shares */
    bool is_transferred; /* `transfer` predicts, not the roofline */
    struct orch_transfer transfer;
    struct orch_transfer_error error; /* of `transfer`, whether it predicts or not */
    bool is_by_kernels;               /* `kernels` predicts; is_transferred is set as well */
    struct orch_kernel_model kernels;
    double shift;          /* calibration factor on the device's own time; 1: none */
    bool is_host_measured; /* the measured steps that correct it were launched by like hosts */
};
/** Makes the model that predicts `net` (NULL: any, by the roofline): the transferred one where the
 * GPU is covered, which sums networks with attention kernel by kernel, with `switches`; else, and
 * where these are NULL, the roofline with its shares. Fails with ORCH_ERROR_USAGE if the GPU's peak
 * at this precision is unknown. */
bool orch_prior_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                    const struct orch_net *net, const struct orch_kernel_switches *switches,
                    struct orch_prior *out, GError **error);
/** Sets the rates that a processor reaches with so many threads. */
void orch_prior_set_processor(struct orch_prior *prior, const struct orch_processor_rates *rates);

/** The step of one device alone, with the shift; `layers` gets device times (may be NULL). */
bool orch_prior_own_step(const struct orch_net *net, const struct orch_net_cost *costs,
                         const struct orch_prior *prior, const struct orch_roofline_work *work,
                         struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                         GError **error);
/** error_90 of such a step, wider where the host's launches decide its time. */
double orch_prior_error_90(const struct orch_prior *prior, const struct orch_roofline_step *own);
/** Memory of the framework's context and workspaces. */
double orch_prior_reserved_bytes(void);
/** 90 % of the logarithms of what steps of several workers are off by. */
double orch_prior_several_error(void);

/** A step of data-parallel training with `work.batch` images per worker. fp32 gradients are
 * exchanged (NULL: of one worker) in buckets that overlap with the backward pass, as in PyTorch's
 * DDP. */
struct orch_prior_step {
    struct orch_roofline_step own; /* of one worker */
    double exchange_s;             /* of all gradients, without overlap */
    double exposed_s;              /* part of the exchange that does not overlap */
    struct orch_interval total_s;  /* 90 % interval */
    double images_per_s;           /* over all workers */
    double memory_bytes;           /* needed per worker, including context and workspaces */
    int64_t largest_batch;         /* that fits on a worker; 0: memory unknown, or none fits */
    bool fits;
    bool is_guess; /* no measured step shared weights so */
};
bool orch_prior_predict(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_prior *prior, const struct orch_roofline_work *work,
                        const struct orch_exchange *exchange, const struct orch_interval *own,
                        struct orch_prior_step *out, GError **error);

#endif
