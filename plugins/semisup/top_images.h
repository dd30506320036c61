/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The set that a teacher selects from unlabelled images (Yalniz et al. 2019, arXiv 1905.00546):
 * an image is a candidate for its P classes of highest score; of each class the K candidates of
 * highest score are selected. An image may be selected for several classes. */
#ifndef ORCH_PLUGINS_SEMISUP_TOP_IMAGES_H
#define ORCH_PLUGINS_SEMISUP_TOP_IMAGES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Selected images, class by class, in each class from the highest score down. */
struct orch_top_images {
    int64_t count;
    int classes;
    int64_t *positions;  /* count: rows of the scores */
    int32_t *labels;     /* count: the class for which the image was selected */
    float *scores;       /* count */
    int64_t *candidates; /* by class: images that have the class among their P */
    int64_t *selected;   /* by class: min(K, candidates) */
};

/** Selects from `scores`, `count` x `classes`. Of equal scores the lower class is ranked first in
 * an image, and the image of lower id in a class. `ids` has `count` different numbers that belong
 * to the images, not to their order, so a permutation of the images selects the same images.
 * Fails with NULL and ORCH_ERROR_RECIPE for top_classes (P) outside 1 to `classes` and
 * images_per_class (K) outside 1 to `count`, and with ORCH_ERROR_TRIAL for a score that is not a
 * number. Free with orch_top_images_free. */
struct orch_top_images *orch_semisup_select(const float *scores, const int64_t *ids, int64_t count,
                                            int classes, int64_t top_classes,
                                            int64_t images_per_class, GError **error);
void orch_top_images_free(struct orch_top_images *selection);

/** True if `top_classes` (P) and `images_per_class` (K) fit; else fails as orch_semisup_select. */
bool orch_semisup_select_fits(int64_t count, int classes, int64_t top_classes,
                              int64_t images_per_class, GError **error);

#endif
