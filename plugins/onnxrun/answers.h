/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files that a trial leaves. */
#ifndef ORCH_PLUGINS_ONNXRUN_ANSWERS_H
#define ORCH_PLUGINS_ONNXRUN_ANSWERS_H

#include "plugins/onnxrun/onnxrun.h"

/** Writes artifact `outputs` (safetensors): inputs and outputs of all groups, in the form in which
 * parameter `samples` reads them. */
bool orch_onnxrun_outputs_write(const struct onnxrun_trial *t, GError **error);

/** Writes artifact `answers` (CSV): the five largest values of each input, with their classes.
 * Reports the accuracy on images with labels. Does nothing for a network that is no classifier. */
bool orch_onnxrun_classes_write(const struct onnxrun_trial *t, GError **error);

/** Writes artifact `answers` (CSV) of a detector: the boxes that were found with a score of 0.1 or
 * more. Does nothing for another network. */
bool orch_onnxrun_boxes_write(const struct onnxrun_trial *t, GError **error);

#endif
