/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prior boxes of a single-shot detector (Liu et al. 2016, SSD, section 2.2): each cell of each
 * feature map has boxes of a few sizes and shapes, and the network predicts, for each of them, its
 * class and how the object's box differs from it. */
#ifndef ORCH_PLUGINS_COMMON_PRIORS_H
#define ORCH_PLUGINS_COMMON_PRIORS_H

#include "plugins/common/boxes/box.h"

#define ORCH_PRIOR_MAPS_MAX 12
#define ORCH_PRIOR_RATIOS_MAX 8
#define ORCH_PRIOR_CELLS_MAX 1024
#define ORCH_PRIORS_MAX 1000000

/** One square feature map. */
struct orch_prior_map {
    int cells;                /* on a side, > 0 */
    float step;               /* distance of the centres of two cells, in pixels of the input */
    float size_min, size_max; /* sides in pixels: of the small square; the large one has the side
                               * sqrt(size_min * size_max). size_max 0: there is no large one */
    int ratio_count;          /* each ratio gives a wide and a tall box of the small area */
    float ratios[ORCH_PRIOR_RATIOS_MAX]; /* width / height of the wide one, > 0 */
};

struct orch_prior_spec {
    int image_size; /* side of the square input in pixels */
    int map_count;
    struct orch_prior_map maps[ORCH_PRIOR_MAPS_MAX];
};

struct orch_prior_box {
    float cx, cy, width, height; /* relative to the input, clamped to 0 to 1 */
};

/** In the order of the network's outputs: by map, then by row, by column, and within a cell the
 * small square, the large square, and for each ratio the wide and the tall box. */
struct orch_priors {
    int64_t count;
    struct orch_prior_box *centred; /* count */
    struct orch_box *corners;       /* count; the same boxes by their corners, not clamped */
};

/** MobileNetV1-SSD at 300 x 300: maps of 19, 10, 5, 3, 2 and 1 cells on a side, 3,000 priors. */
struct orch_prior_spec orch_prior_spec_mobilenet_v1_ssd(void);

/** The rule of the SSD paper for an input of another size: `cells` has the sides of the `map_count`
 * maps, the sizes grow evenly from `smallest` to `largest` (shares of the input's side, as 0.2 and
 * 0.95), a cell's step is the input's side divided by the cells, and the ratios are 2 and 3. */
struct orch_prior_spec orch_prior_spec_even(int image_size, const int *cells, int map_count,
                                            double smallest, double largest);

/** Number of priors of a cell of map `map`: 2 + 2 ratio_count, or 1 less without a large square. */
int orch_prior_spec_per_cell(const struct orch_prior_spec *spec, int map);

/** Makes the priors. Fails with NULL and ORCH_ERROR_RECIPE for a specification out of range. */
struct orch_priors *orch_priors_new(const struct orch_prior_spec *spec, GError **error);
void orch_priors_free(struct orch_priors *priors);

#endif
