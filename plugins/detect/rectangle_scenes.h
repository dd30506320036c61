/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images that need no file: rectangles of a few colours on grey noise. For tests and smoke runs. */
#ifndef ORCH_RECTANGLE_SCENES_H
#define ORCH_RECTANGLE_SCENES_H

#include "plugins/common/scenes/scene_set.h"

#include <orch/plugin.h>

/** `count` images of side x side pixels with one or two rectangles each. `classes`: names of
 * colours (const char *), whose order gives the labels; empty or NULL: red, green and blue. Fails
 * with ORCH_ERROR_RECIPE for another name. */
struct orch_scene_set *orch_rectangle_scenes_new(const struct orch_list *classes,
                                                 enum orch_split split, int64_t count, int side,
                                                 uint64_t seed, GError **error);

#endif
