/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images from another source than a network was trained on, with the labels of the training's
 * classes. */
#ifndef ORCH_PLUGINS_JUDGE_WILD_IMAGES_H
#define ORCH_PLUGINS_JUDGE_WILD_IMAGES_H

#include "plugins/common/data/image_set.h"

/** Numbers the classes of `wild` as those of `trained`, by name: letter case and everything but
 * letters and digits are ignored ("t-shirt_top" is "T-shirt/top"), and a number is a label. Sets of
 * equal class counts without names of their own keep their labels. Takes over the means and
 * deviations of `trained`, because the network expects images that were normalised with them. Fails
 * with ORCH_ERROR_RECIPE for a class that `trained` does not have; `wild` is then untouched. */
bool orch_wild_adopt_classes(struct orch_image_set *wild, const struct orch_image_set *trained,
                             GError **error);

/** Replaces each value v by 255 - v: dark objects on a light ground become light on a dark one. */
void orch_wild_invert(struct orch_image_set *wild);

#endif
