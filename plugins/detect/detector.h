/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session's network as a detector: its outputs as arrays with a row for each prior box. */
#ifndef ORCH_DETECTOR_H
#define ORCH_DETECTOR_H

#include "plugins/common/boxes/output_maps.h"
#include "plugins/common/training/session.h"

struct orch_detector {
    const struct orch_session *session; /* borrowed */
    struct orch_prior_spec spec;
    struct orch_priors *priors;
    int classes; /* with the background */
    /* of the last forward: images x priors x 4, and images x priors x classes */
    float *locations, *confidences;
    int64_t images;
    /* memory */
    int64_t capacity; /* images that the arrays have room for */
    float *rows, *maps;
    struct orch_torch_array *outputs;
};

/** The priors of a network for square images of `image_size` pixels, from the shapes of its
 * outputs. Fails for a network that is no detector. */
bool orch_detector_spec(const struct orch_net *net, int image_size, int classes,
                        struct orch_prior_spec *out, GError **error);

/** Makes a detector of the session's network, whose classes include the background. Free with
 * orch_detector_free. */
struct orch_detector *orch_detector_new(const struct orch_session *session, GError **error);
void orch_detector_free(struct orch_detector *detector);

/** Evaluates the network, and fills locations and confidences. */
bool orch_detector_forward(struct orch_detector *detector, const struct orch_torch_batch *batch,
                           enum orch_torch_mode mode, GError **error);
/** Adds the gradients of the parameters, given those of the loss with respect to the locations and
 * confidences of the last forward. */
bool orch_detector_backward(struct orch_detector *detector, const float *locations,
                            const float *confidences, GError **error);

#endif
