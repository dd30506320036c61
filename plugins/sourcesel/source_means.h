/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mean response of each source, as a distribution. */
#ifndef ORCH_PLUGINS_SOURCESEL_SOURCE_MEANS_H
#define ORCH_PLUGINS_SOURCESEL_SOURCE_MEANS_H

#include "plugins/sourcesel/feature_extractor.h"
#include "plugins/sourcesel/sourcesel.h"

struct orch_source_means {
    int count;             /* sources */
    int64_t width;         /* features */
    double *distributions; /* count x width */
    double *together;      /* width: of all sources' images */
    int64_t *images;       /* count */
};

/** Computes the means over the reference images. Fails with ORCH_ERROR_RECIPE for a source without
 * images. Clear with orch_source_means_clear, also after a failure. */
bool orch_source_means_compute(struct orch_source_means *out, const struct sourcesel *sourcesel,
                               const struct orch_extractor *extractor,
                               const struct orch_subset *reference, GError **error);
/** Sets `out` (width values) to the distribution of the mean of `count` > 0 rows of features. */
void orch_source_means_of(const float *features, int64_t count, int64_t width, double epsilon,
                          double *out);
void orch_source_means_clear(struct orch_source_means *means);

#endif
