/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A step's time from measured steps that are like it. A measured step says by which factor the
 * analytical model is off; the factors of chips, networks, sources and their pairs are a Gaussian
 * process over the logarithm of the ratio (best linear prediction, Henderson 1975; the analytical
 * model is its mean). So a measurement of the same step decides nearly alone, first one of the
 * store; one of the chip or of the network says what these have in common with the question, and
 * the interval follows from how near the rows are. The deviations were fitted to published rows,
 * then chosen by hand by what bench/basis_left_out.py prints of them; a new chip's is a guess.
 */
#ifndef ORCH_FEATURES_PREDICT_NEAR_STEPS_H
#define ORCH_FEATURES_PREDICT_NEAR_STEPS_H

#include "lib/devices/gpus.h"

/** Whose measurement a step is, in the order of how much it says about the user's machine. */
enum orch_near_origin { ORCH_NEAR_PUBLISHED, ORCH_NEAR_IMPORTED, ORCH_NEAR_OWN };

/** A measured step, or one that is asked for. Texts are compared as pointers: g_intern_string(). */
struct orch_near_step {
    const struct orch_gpu_spec *gpu;
    const char *chip;              /* orch_near_step_of sets it, and `family` */
    const char *net;               /* without "-v1": the variants of a ResNet are one network */
    const char *family;            /* "resnet" */
    const char *source;            /* who measured it; of a question: who will run it, or NULL */
    enum orch_precision precision; /* as it runs on the GPU */
    enum orch_near_origin origin;
    bool is_training;
    bool is_old;       /* software from before 2018 */
    double images;     /* a batch's, counted as images of 224 x 224 */
    double host_share; /* how much the host's launches decide it (struct orch_roofline_step) */
    int64_t batch, workers;
};
/** A step of one worker; precision, mode, age and host are left for the caller to set. `input`:
 * "3x224x224", else images are taken as of this size. */
struct orch_near_step orch_near_step_of(const struct orch_gpu_spec *gpu, const char *net,
                                        const char *input, int64_t batch, const char *source);

/** How near the nearest measured step is. */
enum orch_near_level {
    ORCH_NEAR_NONE,
    ORCH_NEAR_NETWORK, /* the network, on other chips */
    ORCH_NEAR_CHIP,    /* other networks, precisions or batches on the chip */
    ORCH_NEAR_STEP,    /* the network on the chip, in this precision and mode, at a like batch */
};

#define ORCH_NEAR_STEPS_MAX 32

struct orch_near_answer {
    enum orch_near_level nearness;
    double log_ratio;   /* of measured over analytical time, expected for the question */
    double half;        /* 90 % of logarithms lie within +- this of it */
    bool has_precision; /* some of the chip, or else of the network, ran in the question's */
    int count;          /* of the measured steps that were used, most important first */
    struct {
        guint at; /* index in the list */
        enum orch_near_level nearness;
        double weight, log_ratio; /* its share in the answer; its own ratio */
    } used[ORCH_NEAR_STEPS_MAX];
};

/** Predicts from the measured steps (struct orch_near_step) of the question's number of workers.
 * `log_ratio(at, data)` is called for the at-th of them that is chosen or the store's; NaN leaves
 * it out. It may set the step's `host_share`. Without any of the chip or the network,
 * `out->nearness` is ORCH_NEAR_NONE. */
void orch_near_steps_predict(const struct orch_near_step *question, const GArray *measured,
                             double (*log_ratio)(guint at, void *data), void *data,
                             struct orch_near_answer *out);

#endif
