/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ONNX file of a network of the zoo, where the trial is not given one. */
#ifndef ORCH_PLUGINS_ONNXRUN_EXPORTED_H
#define ORCH_PLUGINS_ONNXRUN_EXPORTED_H

#include "plugins/onnxrun/onnxrun.h"

/** Writes an ONNX file: network t->p->net with the weights of t->p->weights, or with initial
 * values of the trial's seed, which t->weights then has. Its input and classes are those of the
 * parameters, else those that the weights name, else those of the images, else the network's own.
 * Sets t->path. */
bool orch_onnxrun_export(struct onnxrun_trial *t, GError **error);

#endif
