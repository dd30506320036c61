/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/boxes/output_maps.h"

#include "lib/base/error.h"

#include <string.h>

/* ---- priors -------------------------------------------------------------------------------------
 */

/* Sizes of the priors as shares of the image's side. Three maps whose cells double cover objects
 * from about an eighth of the side on; six have the values of the paper. */
static const struct {
    int maps; /* at most */
    double smallest, largest;
} SIZES[] = {{3, 0.15, 0.65}, {ORCH_PRIOR_MAPS_MAX, 0.2, 0.95}};

static bool is_mobilenet_v1_ssd(const struct orch_prior_spec *spec)
{
    const struct orch_prior_spec known = orch_prior_spec_mobilenet_v1_ssd();
    bool is_same = spec->image_size == known.image_size && spec->map_count == known.map_count;
    for (int i = 0; is_same && i < known.map_count; i++)
        is_same = spec->maps[i].cells == known.maps[i].cells &&
                  orch_prior_spec_per_cell(spec, i) == orch_prior_spec_per_cell(&known, i);
    return is_same;
}

/* Priors of a cell by the number of channels of the offsets; 0 where the pair does not fit. */
static int64_t priors_of(const struct orch_output_shape *pair, int classes)
{
    const int64_t priors = pair[0].channels / 4;
    const bool is_fine = pair[0].channels == 4 * priors && pair[1].channels == classes * priors &&
                         pair[0].height == pair[1].height && pair[0].width == pair[1].width &&
                         pair[0].height == pair[0].width && pair[0].height >= 1 &&
                         pair[0].height <= ORCH_PRIOR_CELLS_MAX && priors >= 1 &&
                         priors <= 2 + 2 * ORCH_PRIOR_RATIOS_MAX;
    return is_fine ? priors : 0;
}

/* An odd number of priors has no large square. */
static void set_priors(struct orch_prior_map *map, int priors)
{
    map->ratio_count = (priors - 1) / 2;
    if (priors % 2)
        map->size_max = 0;
    for (int i = 0; i < map->ratio_count; i++)
        map->ratios[i] = (float)(2 + i);
}

bool orch_prior_spec_of_outputs(int image_size, const struct orch_output_shape *shapes, int count,
                                int classes, struct orch_prior_spec *out, GError **error)
{
    int cells[ORCH_PRIOR_MAPS_MAX], priors[ORCH_PRIOR_MAPS_MAX], maps = count / 2, rule = 0;
    bool is_fine = count >= 2 && count % 2 == 0 && maps <= ORCH_PRIOR_MAPS_MAX;
    for (int i = 0; is_fine && i < maps; i++) {
        priors[i] = (int)priors_of(&shapes[2 * i], classes);
        cells[i] = (int)shapes[2 * i].height;
        is_fine = priors[i] > 0;
    }
    if (!is_fine) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "'orch net ls' has detectors, such as ssd-small",
                       "the %d outputs are not those of a detector of %d classes", count, classes);
        return false;
    }
    while (maps > SIZES[rule].maps)
        rule++;
    *out = orch_prior_spec_even(image_size, cells, maps, SIZES[rule].smallest, SIZES[rule].largest);
    for (int i = 0; i < maps; i++)
        set_priors(&out->maps[i], priors[i]);
    if (is_mobilenet_v1_ssd(out))
        *out = orch_prior_spec_mobilenet_v1_ssd();
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------------
 */

/* A map of one image: `channels` x `cells` to and from `cells` x `channels`. */
static void transpose(const float *in, int64_t rows, int64_t columns, float *out)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            out[c * rows + r] = in[r * columns + c];
}

/* Calls for each map of each image: where its values are in the rows, and where in the map. */
static void move(const struct orch_prior_spec *spec, int64_t images, int values, const float *rows,
                 float *out_rows, const float *const *maps, float *const *out_maps)
{
    int64_t at = 0;
    for (int64_t i = 0; i < images; i++)
        for (int m = 0; m < spec->map_count; m++) {
            const int64_t cells = (int64_t)spec->maps[m].cells * spec->maps[m].cells;
            const int64_t channels = (int64_t)orch_prior_spec_per_cell(spec, m) * values;
            if (out_rows)
                transpose(maps[m] + i * cells * channels, channels, cells, out_rows + at);
            else
                transpose(rows + at, cells, channels, out_maps[m] + i * cells * channels);
            at += cells * channels;
        }
}

void orch_maps_gather(const struct orch_prior_spec *spec, const float *const *maps, int64_t images,
                      int values, float *out)
{
    move(spec, images, values, NULL, out, maps, NULL);
}

void orch_maps_scatter(const struct orch_prior_spec *spec, const float *rows, int64_t images,
                       int values, float *const *maps)
{
    move(spec, images, values, rows, NULL, NULL, maps);
}
