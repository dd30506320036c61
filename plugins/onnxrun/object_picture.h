/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A picture of images, with the boxes that a detector found and those of the samples. */
#ifndef ORCH_PLUGINS_ONNXRUN_OBJECT_PICTURE_H
#define ORCH_PLUGINS_ONNXRUN_OBJECT_PICTURE_H

#include "plugins/onnxrun/onnxrun.h"

/** Writes artifact `picture`, a PNG of t->p->pictures images of the group ORCH_SAMPLE_REAL: first
 * one with an object of each class, then the others in their order. Each is scaled to 320 x 320
 * pixels. The eight best boxes with a score of t->p->score or more have their class and score;
 * those of the samples are dashed. Does nothing for a network that is no detector, without images,
 * and without their normalisation. */
bool orch_onnxrun_picture_write(const struct onnxrun_trial *t, GError **error);

#endif
