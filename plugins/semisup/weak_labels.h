/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weak labels like hashtags (Mahajan et al. 2018, arXiv 1805.00932): classes whose frequencies have
 * a long tail, labels of which a share is wrong, and resampling by the frequency of a label. Pure
 * functions of labels in [0, classes) and a seed; images are positions in the array of labels. */
#ifndef ORCH_PLUGINS_SEMISUP_WEAK_LABELS_H
#define ORCH_PLUGINS_SEMISUP_WEAK_LABELS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Positions of images, in an order of their own; an image may occur several times. */
struct orch_positions {
    int64_t count;
    int64_t *items;
};
void orch_positions_clear(struct orch_positions *positions);

/** Keeps of the class of rank r (0: most frequent) max(1, n / (r + 1)^exponent) images, rounded to
 * the nearest, with n the images of the smallest class; the order of the classes and the images
 * that are kept are drawn with `seed`. Classes without images stay empty. Exponent 0 keeps n images
 * of each class. The result is ascending. */
struct orch_positions orch_semisup_long_tail(const int32_t *labels, int64_t count, int classes,
                                             double exponent, uint64_t seed);

/** Replaces the labels of exactly round(share x count) images by other labels, which are drawn in
 * proportion to the frequency of all labels but the image's own. The images that a smaller share
 * replaces are also replaced by a larger one, by the same label. Returns the number of replaced
 * labels; -1 with ORCH_ERROR_RECIPE if all labels are equal and one must be replaced. */
int64_t orch_semisup_replace_labels(int32_t *labels, int64_t count, int classes, double share,
                                    uint64_t seed, GError **error);

/** Draws as many images as there are, so that label c occurs in proportion to n_c^power, where n_c
 * is its frequency: power 1 is the natural distribution (each image once), 0.5 its square root, 0
 * uniform. Numbers of images are rounded by largest remainder. Where a label needs more images than
 * it has, each occurs either floor(needed / n_c) times or once more. */
struct orch_positions orch_semisup_resample(const int32_t *labels, int64_t count, int classes,
                                            double power, uint64_t seed);

#endif
