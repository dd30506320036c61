/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stages before the last one: training of a model over a number of steps, and its scores. */
#ifndef ORCH_PLUGINS_SEMISUP_STAGES_H
#define ORCH_PLUGINS_SEMISUP_STAGES_H

#include "plugins/common/training/session.h"

struct orch_semisup_stage {
    const char *phase;  /* shown while it runs */
    const char *metric; /* mean loss of the steps since the point before; at most 50 points */
    const char *stream; /* of the trial's seed: order and transforms of the images */
    const struct orch_subset *subset;
    int64_t steps;
    double lr; /* at the first step; it falls to 0 as half a cosine */
};

/** Whether the loss of a stage was finite, else the first and the last step of the point that was
 * not. */
struct orch_semisup_end {
    bool is_finite;
    int64_t first_bad, last_bad;
};

/** Trains the session's model on the stage's images, in batches and with the transforms, momentum
 * and optimizer of the session; a smoke run has two steps. Returns early if the trial is cancelled
 * or the loss is not finite. */
bool orch_semisup_train(const struct orch_session *session, const struct orch_semisup_stage *stage,
                        struct orch_semisup_end *out, GError **error);

/** Softmax scores of the model, subset->count x subset->classes, for images without random
 * transforms. Caller frees. */
float *orch_semisup_scores(const struct orch_session *session, const struct orch_subset *subset,
                           GError **error);

/** Share of the validation images of each epoch that the model has right. */
bool orch_semisup_accuracy(const struct orch_session *session, double *out, GError **error);

#endif
