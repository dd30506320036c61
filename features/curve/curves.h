/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss curves of stored runs, with what fitting them needs. Shared by `orch curve` and
 * the report items. */
#ifndef ORCH_FEATURES_CURVE_CURVES_H
#define ORCH_FEATURES_CURVE_CURVES_H

#include "core/plugin/plugins.h"
#include "features/curve/laws/curve_interval.h"
#include "features/curve/laws/isotonic.h"
#include "store/store.h"

/** One run's loss curve. k counts steps or epochs (is_by_epoch). Unknown numbers are NaN. */
struct orch_run_curve {
    char *key, *experiment, *who, *where, *commit;
    char *net; /* the value of the parameter `net`, or NULL */
    char *metric;
    uint64_t seed;
    bool is_disturbed;     /* other programs kept the processors busy: its times may be too long */
    bool is_accuracy;      /* `metric` is an accuracy: the losses are 1 - accuracy */
    bool is_by_epoch;      /* k counts epochs; otherwise steps */
    size_t count, dropped; /* points; points dropped: non-finite loss or negative step */
    double *k, *loss;
    double *drops; /* the k of each learning-rate drop, rising, within the run */
    size_t drop_count;
    double *rate_k, *rate; /* the learning rate, where the run recorded it: `rates` points */
    size_t rates;
    double k_per_epoch; /* 1 for epochs */
    double steps_per_epoch;
    double s_per_k;       /* measured seconds per unit of k */
    const char *s_from;   /* source of s_per_k: "epoch_time", "time stamps", or NULL: unknown */
    double images, batch; /* images per epoch, images per step */
    double images_per_s;  /* mean over the timed epochs */
    size_t timed_first, timed_epochs; /* the epochs that it is the mean of: all but the first when
                                         there are several; 0: not known by epoch */
    double warmup_k;                  /* length of the learning-rate warm-up in k; 0: none */
    /* accuracies, and the loss at the same k; NULL when the run recorded no accuracy */
    char *accuracy_metric;
    size_t accuracy_count;
    double *accuracy, *accuracy_k, *accuracy_loss;
};
void orch_run_curve_free(struct orch_run_curve *curve);

/** Which series to read. NULL selects the first that exists of the usual names of losses
 * (step_loss, train_loss, loss, val_loss, ...) and of accuracies (val_accuracy, val_acc, accuracy,
 * ...). Without a loss, or where `loss` names an accuracy, the curve is that of 1 - accuracy.
 * Accuracies in percent are divided by 100. */
struct orch_curve_request {
    const char *loss, *accuracy;
};

/** Reads a run's curve; `plugins` declare whether a series counts steps or epochs. NULL with
 * ORCH_ERROR_NOT_FOUND when the run has no such series. The caller frees. */
struct orch_run_curve *orch_run_curve_read(struct orch_plugins *plugins, struct orch_store *store,
                                           const struct orch_run *run,
                                           const struct orch_curve_request *request,
                                           GError **error);

/** Returns whether two curves have the same points to the last bit, as two runs of the same network
 * with the same seed have; then they are one observation. */
bool orch_run_curve_is_copy(const struct orch_run_curve *a, const struct orch_run_curve *b);

enum orch_curve_choice { ORCH_CURVE_AUTO, ORCH_CURVE_ALWAYS_OPTIMUS, ORCH_CURVE_ALWAYS_POWER };

/** A curve's fit, by learning-rate stage. */
struct orch_curve_result {
    struct orch_stages *stages;
    struct orch_goodness good;
    struct orch_interval *limits; /* of each stage: the loss that it tends to, with its interval */
    GArray *errors;  /* struct orch_curve_forecast: forecasts from earlier parts of the curve; empty
                        with several stages or few points */
    bool is_refused; /* no curve fits, because the losses do not fall; then nothing else is set */
};
/** The half width of the log of the loss at k, beyond the run's last point; NaN: not known. */
double orch_run_curve_half(const struct orch_run_curve *curve,
                           const struct orch_curve_result *result, double k);
/** Fits. Fails with ORCH_ERROR_USAGE, also where the losses do not fall: then `out` says so. */
bool orch_run_curve_fit(const struct orch_run_curve *curve, enum orch_curve_choice choice,
                        const struct orch_curve_options *options, struct orch_curve_result *out,
                        GError **error);
/** Standard errors of b0, b1 and b2 of one learning-rate stage (three numbers, see
 * orch_curve_errors). They assume equal weights and unsmoothed points. */
void orch_run_curve_errors(const struct orch_run_curve *curve,
                           const struct orch_curve_result *result, size_t stage,
                           double *out_errors);
void orch_curve_result_release(struct orch_curve_result *result);

/** Fits accuracy as an isotonic function of loss over all these runs (struct orch_run_curve *).
 * Equal curves count once. NULL with an error when no run has accuracies. The caller frees. */
struct orch_isotonic *orch_run_curves_bridge(const GPtrArray *curves, GError **error);

/** Shortens a device's name to what follows its last comma when all `others` (char *) agree up to
 * that comma ("2 threads" of "AMD EPYC, 2 threads"). Otherwise returns the whole name, or "-" for
 * NULL. Borrowed. */
const char *orch_place_short(const char *where, const GPtrArray *others);

#endif
