/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters that whiten the patches of images: each response has mean square 1, and responses are
 * uncorrelated (Page 2019; Jordan 2024, arXiv 2404.00498, section 3.2). */
#ifndef ORCH_PLUGINS_COMMON_WHITENING_H
#define ORCH_PLUGINS_COMMON_WHITENING_H

#include "plugins/common/data/image_set.h"
#include "plugins/common/data/transform.h"

struct orch_whitening {
    int kernel_h, kernel_w; /* > 0, at most the image's height and width */
    int filters;            /* > 0, at most 2 * channels * kernel_h * kernel_w */
    double epsilon;         /* > 0: added to each variance before its root is taken */
};

/** Writes `filters` filters, each channels x kernel_h x kernel_w floats, to `out`. Let v be an
 * eigenvector of the second moments (the mean of x x') of the normalised patches x of the subset's
 * first images, at most 5,000 and not augmented, and e its eigenvalue. Then a filter is v / sqrt(e
 * + epsilon). The first half of the filters has the eigenvectors in the order of falling
 * eigenvalues, the second half their negatives; of an odd number the first half is the larger. The
 * sign of v is that with which its largest value is positive. The same on every machine up to
 * rounding. */
void orch_whitening_filters(const struct orch_subset *subset,
                            const struct orch_transform_table *table,
                            const struct orch_whitening *whitening, float *out);

#endif
