/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order and the sizes are those of qfgaohao/pytorch-ssd (generate_ssd_priors), whose weights
 * are the usual start of a MobileNetV1-SSD: with another order its heads would mean other boxes. */
#include "plugins/common/boxes/priors.h"

#include "lib/base/error.h"

#include <math.h>

struct orch_prior_spec orch_prior_spec_mobilenet_v1_ssd(void)
{
    return (struct orch_prior_spec){.image_size = 300,
                                    .map_count = 6,
                                    .maps = {{19, 16, 60, 105, 2, {2, 3}},
                                             {10, 32, 105, 150, 2, {2, 3}},
                                             {5, 64, 150, 195, 2, {2, 3}},
                                             {3, 100, 195, 240, 2, {2, 3}},
                                             {2, 150, 240, 285, 2, {2, 3}},
                                             {1, 300, 285, 330, 2, {2, 3}}}};
}

struct orch_prior_spec orch_prior_spec_even(int image_size, const int *cells, int map_count,
                                            double smallest, double largest)
{
    struct orch_prior_spec spec = {.image_size = image_size, .map_count = map_count};
    const double growth = map_count > 1 ? (largest - smallest) / (map_count - 1) : 0;
    for (int i = 0; i < MIN(map_count, ORCH_PRIOR_MAPS_MAX); i++)
        spec.maps[i] = (struct orch_prior_map){
            .cells = cells[i],
            .step = (float)image_size / (float)cells[i],
            .size_min = (float)(image_size * (smallest + growth * i)),
            .size_max = (float)(image_size * (smallest + growth * (i + 1))),
            .ratio_count = 2,
            .ratios = {2, 3},
        };
    return spec;
}

int orch_prior_spec_per_cell(const struct orch_prior_spec *spec, int map)
{
    return (spec->maps[map].size_max > 0 ? 2 : 1) + 2 * spec->maps[map].ratio_count;
}

static bool map_is_fine(const struct orch_prior_map *map)
{
    bool is_fine = map->cells > 0 && map->cells <= ORCH_PRIOR_CELLS_MAX && map->step > 0 &&
                   isfinite(map->step) && map->size_min > 0 &&
                   (map->size_max == 0 || map->size_max >= map->size_min) &&
                   isfinite(map->size_max) && map->ratio_count >= 0 &&
                   map->ratio_count <= ORCH_PRIOR_RATIOS_MAX;
    for (int i = 0; is_fine && i < map->ratio_count; i++)
        is_fine = map->ratios[i] > 0 && isfinite(map->ratios[i]);
    return is_fine;
}

/* The number of priors, 0 with the error set for a specification out of range. */
static int64_t count_priors(const struct orch_prior_spec *spec, GError **error)
{
    int64_t count = 0;
    if (spec->image_size < 1 || spec->map_count < 1 || spec->map_count > ORCH_PRIOR_MAPS_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "prior boxes for an input of %d pixels with %d feature maps are not "
                       "possible: expected an input of at least 1 pixel and 1 to %d maps",
                       spec->image_size, spec->map_count, ORCH_PRIOR_MAPS_MAX);
        return 0;
    }
    for (int i = 0; i < spec->map_count; i++) {
        const struct orch_prior_map *map = &spec->maps[i];
        if (!map_is_fine(map)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "prior boxes of feature map %d: %d cells, step %g, sizes %g to %g or %d "
                           "ratios are out of range",
                           i, map->cells, (double)map->step, (double)map->size_min,
                           (double)map->size_max, map->ratio_count);
            return 0;
        }
        count += (int64_t)map->cells * map->cells * orch_prior_spec_per_cell(spec, i);
    }
    if (count <= ORCH_PRIORS_MAX)
        return count;
    orch_error_set(error, ORCH_ERROR_RECIPE, "use fewer or smaller feature maps",
                   "%" G_GINT64_FORMAT " prior boxes are too many: at most %d are possible", count,
                   ORCH_PRIORS_MAX);
    return 0;
}

static void add(struct orch_priors *priors, double cx, double cy, double width, double height)
{
    const struct orch_prior_box p = {CLAMP((float)cx, 0, 1), CLAMP((float)cy, 0, 1),
                                     CLAMP((float)width, 0, 1), CLAMP((float)height, 0, 1)};
    priors->corners[priors->count] = (struct orch_box){p.cx - p.width / 2, p.cy - p.height / 2,
                                                       p.cx + p.width / 2, p.cy + p.height / 2};
    priors->centred[priors->count++] = p;
}

static void add_cell(struct orch_priors *priors, const struct orch_prior_map *map, double image,
                     double cx, double cy)
{
    const double small = (double)map->size_min / image;
    const double large = sqrt((double)map->size_max * (double)map->size_min) / image;
    add(priors, cx, cy, small, small);
    if (map->size_max > 0)
        add(priors, cx, cy, large, large);
    for (int i = 0; i < map->ratio_count; i++) {
        const double root = sqrt((double)map->ratios[i]);
        add(priors, cx, cy, small * root, small / root);
        add(priors, cx, cy, small / root, small * root);
    }
}

struct orch_priors *orch_priors_new(const struct orch_prior_spec *spec, GError **error)
{
    const int64_t count = count_priors(spec, error);
    if (!count)
        return NULL;
    struct orch_priors *priors = g_new0(struct orch_priors, 1);
    priors->centred = g_new(struct orch_prior_box, count);
    priors->corners = g_new(struct orch_box, count);
    for (int m = 0; m < spec->map_count; m++) {
        const struct orch_prior_map *map = &spec->maps[m];
        const double scale = spec->image_size / (double)map->step;
        for (int y = 0; y < map->cells; y++)
            for (int x = 0; x < map->cells; x++)
                add_cell(priors, map, spec->image_size, (x + 0.5) / scale, (y + 0.5) / scale);
    }
    return priors;
}

void orch_priors_free(struct orch_priors *priors)
{
    if (!priors)
        return;
    g_free(priors->centred);
    g_free(priors->corners);
    g_free(priors);
}
