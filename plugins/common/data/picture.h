/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A grid of sample images as a PNG: one row a class, the class's name beside it. */
#ifndef ORCH_PLUGINS_COMMON_PICTURE_H
#define ORCH_PLUGINS_COMMON_PICTURE_H

#include "plugins/common/data/image_set.h"

/** Writes `per_class` images of each of the first `classes` classes of the subset (fewer where it
 * has fewer), enlarged to about `side` pixels each. */
bool orch_picture_samples(const struct orch_subset *subset, int classes, int per_class, int side,
                          const char *path, GError **error);

#endif
