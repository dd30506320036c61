/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loss of a single-shot detector and its gradients (Liu et al. 2016, SSD, section 2.2,
 * "training objective"): smooth L1 over the offsets of the priors that stand for an object (the
 * positives), and cross entropy over these and the negatives with the largest loss, `negatives` for
 * each positive of the image. Both sums are divided by the number of positives of the whole batch.
 * An image without an object adds nothing to either. */
#ifndef ORCH_PLUGINS_COMMON_MULTIBOX_LOSS_H
#define ORCH_PLUGINS_COMMON_MULTIBOX_LOSS_H

#include "plugins/common/boxes/matching.h"

struct orch_multibox_options {
    int classes;     /* with the background, >= 2 */
    float iou;       /* of a match, 0 to 1; usually ORCH_MATCH_IOU */
    float negatives; /* for each positive, >= 0; usually 3 */
};

/** The outputs of the network for a batch. */
struct orch_multibox_outputs {
    const float *locations;   /* images x priors x 4: the offsets of struct orch_box_offset */
    const float *confidences; /* images x priors x classes, before the softmax */
};

/** The gradients of the sum of both losses, in the order of the outputs. Every value is written. */
struct orch_multibox_gradients {
    float *locations;
    float *confidences;
};

struct orch_multibox_loss {
    double location, confidence;  /* 0 if no image has an object */
    int64_t positives, negatives; /* priors that count */
};

/** Computes the losses and, unless `gradients` is NULL, their gradients. Where an output that
 * counts is not finite, or a confidence of any prior, the losses are NaN, whatever the hardest
 * negatives are; a trainer then sees that it diverged. Fails with ORCH_ERROR_RECIPE as
 * orch_box_batch_check does. */
bool orch_multibox_loss(const struct orch_priors *priors, const struct orch_box_batch *objects,
                        const struct orch_multibox_options *options,
                        const struct orch_multibox_outputs *outputs,
                        const struct orch_multibox_gradients *gradients,
                        struct orch_multibox_loss *out, GError **error);

#endif
