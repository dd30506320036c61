/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the outputs of a detector, which are maps of cells, and arrays with a row for each prior.
 * A detector has two outputs for each feature map, from the finest on: the offsets (4 values for
 * each prior of a cell) and the confidences (a value for each class). Channel a * values + v of a
 * map belongs to value v of the a-th prior of the cell. */
#ifndef ORCH_PLUGINS_COMMON_OUTPUT_MAPS_H
#define ORCH_PLUGINS_COMMON_OUTPUT_MAPS_H

#include "plugins/common/boxes/priors.h"

/** Shape of an output without its batch. */
struct orch_output_shape {
    int64_t channels, height, width;
};

/** Finds the priors of a detector from the shapes of its outputs, which are in the order above:
 * those of MobileNetV1-SSD where image size and maps are its own, else the rule of the SSD paper
 * with sizes that suit the number of maps. Fails with ORCH_ERROR_RECIPE where the outputs are not
 * those of such a detector: which one, and what was expected. */
bool orch_prior_spec_of_outputs(int image_size, const struct orch_output_shape *shapes, int count,
                                int classes, struct orch_prior_spec *out, GError **error);

/** out (images x priors x values) = the maps: maps[m] has images x (per cell * values) x cells x
 * cells floats for map m of `spec`. */
void orch_maps_gather(const struct orch_prior_spec *spec, const float *const *maps, int64_t images,
                      int values, float *out);
/** The inverse: fills the maps from `rows`. */
void orch_maps_scatter(const struct orch_prior_spec *spec, const float *rows, int64_t images,
                       int values, float *const *maps);

#endif
