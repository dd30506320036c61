/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A grid of sample images as a PNG: one row per class, with its name. */
#ifndef ORCH_PLUGINS_COMMON_PICTURE_H
#define ORCH_PLUGINS_COMMON_PICTURE_H

#include "plugins/common/data/image_set.h"

/** Writes `per_class` images (or fewer, if there are not as many) of each of the first `classes`
 * classes, enlarged to about `side` pixels each. Appends to `description` (may be NULL) how many of
 * which classes these are. */
bool orch_picture_samples(const struct orch_subset *subset, int classes, int per_class, int side,
                          const char *path, GString *description, GError **error);

#endif
