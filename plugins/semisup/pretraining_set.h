/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The images and labels on which the student is trained first, and how many of them are right. */
#ifndef ORCH_PLUGINS_SEMISUP_PRETRAINING_SET_H
#define ORCH_PLUGINS_SEMISUP_PRETRAINING_SET_H

#include "plugins/semisup/semisup.h"

struct orch_pretraining_set {
    struct orch_subset *images; /* with labels of their own; an image may occur several times */
    int64_t replaced_labels;    /* by noise */
    int64_t distinct;           /* different images */
    int64_t *candidates;        /* by class: images that have it as a candidate or weak label */
    int64_t *count, *correct;   /* by class: images, and those whose true class it is */
    float *lowest_score;        /* by class, of the selected images; NULL without a teacher */
};

/** Makes the set as the parameters say: from `scores` of the teacher on the unlabelled images
 * (supervision semi), from weak labels of these images (weak), or from the labelled images
 * themselves (labels). Fails with NULL, as top_images.h and weak_labels.h. Free with
 * orch_pretraining_set_free. */
struct orch_pretraining_set *orch_pretraining_set_new(const struct orch_semisup *semi,
                                                      const float *scores, GError **error);
void orch_pretraining_set_free(struct orch_pretraining_set *set);

/** The set by class, as CSV with a header. Caller frees. */
GString *orch_pretraining_set_csv(const struct orch_pretraining_set *set,
                                  const struct orch_semisup *semi);

#endif
