/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of the classes in a file of weights. */
#ifndef ORCH_PLUGINS_COMMON_SAMPLES_CLASS_NAMES_H
#define ORCH_PLUGINS_COMMON_SAMPLES_CLASS_NAMES_H

#include "lib/weights/weights.h"

/** The names of the classes in the metadata, those of a detector with the background first; NULL if
 * there are none, or the metadata is not a list of texts. Free with g_strfreev. */
char **orch_weights_class_names(const struct orch_weights *weights);
/** Writes the names of the classes (NULL-terminated, UTF-8) into the metadata. */
void orch_weights_set_class_names(struct orch_weights *weights, char *const *names);

#endif
