/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss curves of stored runs: what was recorded, with what is needed to fit and to read it. Shared
 * by `orch predict --curve` and the report's items. */
#ifndef ORCH_CORE_ANSWER_CURVES_H
#define ORCH_CORE_ANSWER_CURVES_H

#include "core/plugin/plugins.h"
#include "predictors/curve_choose.h"
#include "predictors/isotonic.h"
#include "store/store.h"

/** One run's curve. k counts `unit`. NaN where it is not known. */
struct orch_run_curve {
    char *key, *experiment, *who, *where, *commit;
    char *net; /* the parameter of that name, or NULL */
    char *metric;
    bool is_by_epoch;      /* k counts epochs; else steps */
    size_t count, dropped; /* points; those that were not finite are dropped */
    double *k, *loss;
    double *drops; /* of the learning rate, in k, rising; within the run */
    size_t drop_count;
    double k_per_epoch; /* 1 for epochs */
    double steps_per_epoch;
    double s_per_k;       /* measured */
    const char *s_from;   /* "epoch_time" or "time stamps"; NULL when s_per_k is not known */
    double images, batch; /* of an epoch, of a step */
    double images_per_s;  /* mean over epochs, the first left out where there are more */
    double warmup_k;      /* in which the learning rate rises; 0: none */
    /* accuracy and the loss at that time; NULL when there is no accuracy */
    char *accuracy_metric;
    size_t accuracy_count;
    double *accuracy, *accuracy_k, *accuracy_loss;
};
void orch_run_curve_free(struct orch_run_curve *curve);

/** Which series. NULL: step_loss, train_loss or loss, whichever comes first; val_accuracy,
 * test_accuracy, accuracy or train_accuracy. */
struct orch_curve_wish {
    const char *loss, *accuracy;
};

/** Reads a run's curve; `plugins` say what its series count. NULL with ORCH_ERROR_NOT_FOUND when it
 * has none. The caller frees. */
struct orch_run_curve *orch_run_curve_read(struct orch_plugins *plugins, struct orch_store *store,
                                           const struct orch_run *run,
                                           const struct orch_curve_wish *wish, GError **error);

enum orch_curve_choice { ORCH_CURVE_AUTO, ORCH_CURVE_ALWAYS_OPTIMUS, ORCH_CURVE_ALWAYS_POWER };

/** A curve's fit, by learning-rate stage. */
struct orch_curve_result {
    struct orch_stages *stages;
    struct orch_goodness good;
};
bool orch_run_curve_fit(const struct orch_run_curve *curve, enum orch_curve_choice choice,
                        const struct orch_curve_options *options, struct orch_curve_result *out,
                        GError **error);
void orch_curve_result_release(struct orch_curve_result *result);

/** Accuracy as a function of loss over all these runs (struct orch_run_curve *); NULL with an
 * error when none has accuracies. The caller frees. */
struct orch_isotonic *orch_run_curves_bridge(const GPtrArray *curves, GError **error);

/** The short name of a place beside others: what stands behind their common beginning up to a
 * comma ("2 threads" of "AMD EPYC, 2 threads"), else all of it. `others`: char *. Borrowed. */
const char *orch_place_short(const char *where, const GPtrArray *others);

#endif
