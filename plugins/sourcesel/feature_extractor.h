/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Features of images: the inputs of a network's last layer. */
#ifndef ORCH_PLUGINS_SOURCESEL_FEATURE_EXTRACTOR_H
#define ORCH_PLUGINS_SOURCESEL_FEATURE_EXTRACTOR_H

#include "plugins/common/training/session.h"

struct orch_extractor {
    const struct orch_session *session; /* borrowed: its data's shape and device */
    struct orch_net *net;
    struct orch_torch_model *model;
    int64_t width; /* features of an image */
};

/** Builds network `net` for the session's images and loads the weights at `path` (not in a smoke
 * run) into all of its layers but the last. The session needs no model yet. Fails with
 * ORCH_ERROR_CHECK for weights of another network. Clear with orch_extractor_clear, also after a
 * failure. */
bool orch_extractor_open(struct orch_extractor *extractor, const struct orch_session *session,
                         const char *net, const char *path, GError **error);
/** Computes subset->count rows of `width` features, in evaluation mode and without augmentation.
 * NULL with an error. The caller frees. */
float *orch_extractor_features(const struct orch_extractor *extractor,
                               const struct orch_subset *subset, GError **error);
void orch_extractor_clear(struct orch_extractor *extractor);

#endif
