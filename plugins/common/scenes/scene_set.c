/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/scenes/scene_set.h"

#include "plugins/common/data/rgb.h"

void orch_scene_set_free(struct orch_scene_set *set)
{
    if (!set)
        return;
    g_free(set->name);
    g_strfreev(set->class_names);
    g_free(set->first);
    g_free(set->boxes);
    g_free(set->labels);
    g_free(set->is_difficult);
    g_strfreev(set->files);
    g_strfreev(set->ids);
    g_free(set->pixels);
    g_free(set->pixels_at);
    g_free(set->widths);
    g_free(set->heights);
    g_free(set->clipped.first);
    g_free(set->left_out.first);
    g_free(set);
}

bool orch_scene_image_get(const struct orch_scene_set *set, int64_t i, struct orch_scene_image *out,
                          GError **error)
{
    *out = (struct orch_scene_image){0};
    if (!set->files) {
        *out = (struct orch_scene_image){set->widths[i], set->heights[i],
                                         set->pixels + set->pixels_at[i], NULL};
        return true;
    }
    out->owned = orch_rgb_read(set->files[i], &out->width, &out->height, error);
    out->pixels = out->owned;
    return out->owned != NULL;
}

void orch_scene_image_release(struct orch_scene_image *image)
{
    g_free(image->owned);
    *image = (struct orch_scene_image){0};
}
