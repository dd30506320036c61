/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which object each prior box stands for, and what the network should predict there. */
#ifndef ORCH_PLUGINS_COMMON_MATCHING_H
#define ORCH_PLUGINS_COMMON_MATCHING_H

#include "plugins/common/boxes/priors.h"

/** The usual threshold of the intersection over union. */
#define ORCH_MATCH_IOU 0.5F

/** Scales of the offsets: SSD calls them variances. */
#define ORCH_CENTRE_VARIANCE 0.1F
#define ORCH_SIZE_VARIANCE 0.2F

/** How a box differs from a prior: (cx - prior.cx) / prior.width / 0.1, the same for y, and
 * log(width / prior.width) / 0.2, the same for height. The network predicts these four. */
struct orch_box_offset {
    float cx, cy, width, height;
};

/** Matches the objects of one image. `out_object` receives, for each prior, the object with which
 * it overlaps most (the first of several) if their intersection over union is at least `iou`, else
 * -1. Each object keeps at least the prior that overlaps it most, whatever their overlap; where two
 * objects want the same prior, the later one has it. `count` <= ORCH_BOXES_OF_IMAGE_MAX proper
 * boxes; 0 is possible. */
void orch_priors_match(const struct orch_priors *priors, const struct orch_box *boxes,
                       int64_t count, float iou, int32_t *out_object);

/** The offset of a proper box from a prior. */
struct orch_box_offset orch_box_encode(struct orch_box box, struct orch_prior_box prior);

/** The box at an offset from a prior: the inverse of orch_box_encode up to rounding. The box may
 * leave the image; an offset that is not finite gives a box that is not proper. */
struct orch_box orch_box_decode(struct orch_box_offset offset, struct orch_prior_box prior);

#endif
