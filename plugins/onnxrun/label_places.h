/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the labels of a picture stand, so that none covers another. */
#ifndef ORCH_PLUGINS_ONNXRUN_LABEL_PLACES_H
#define ORCH_PLUGINS_ONNXRUN_LABEL_PLACES_H

#include <glib.h>
#include <stdbool.h>

/** A label's upper left corner and width, in pixels. All labels have one height. */
struct onnxrun_place {
    double x, y, width;
};

/** Moves a label to the nearest place on an image of `side` x `side` pixels at which it covers none
 * of `places` (struct onnxrun_place, labels of `height`). False, without moving it, when there is
 * none. */
bool orch_onnxrun_place_find(const GArray *places, int side, int height,
                             struct onnxrun_place *place);

#endif
