/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A frozen body gives the same outputs in every epoch if images are not augmented: they are
 * computed once, and the head is trained on them. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_CACHED_FEATURES_H
#define ORCH_PLUGINS_COMMON_TRAINING_CACHED_FEATURES_H

#include "plugins/common/training/session.h"

/** Rows of `width` floats, in the order of the session's subsets of the same names. */
struct orch_features {
    float *train, *val, *val_part;
    int64_t width;
    double seconds; /* computing those of the training images */
};

/** Computes the features of all subsets, and reports the result feature_time with a note. Returns
 * NULL on failure. Free with orch_features_free. */
struct orch_features *orch_features_compute(const struct orch_session *session, GError **error);
/** NULL is allowed. */
void orch_features_free(struct orch_features *features);

#endif
