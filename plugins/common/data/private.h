/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the readers of this folder. */
#ifndef ORCH_PLUGINS_COMMON_DATA_PRIVATE_H
#define ORCH_PLUGINS_COMMON_DATA_PRIVATE_H

#include "plugins/common/data/image_set.h"

/** A set with room for its images; labels 0. */
struct orch_image_set *orch_image_set_alloc(const char *name, int64_t count, int channels,
                                            int height, int width, int classes, GError **error);
/** Files: images, labels. */
struct orch_image_set *orch_idx_read(const struct orch_image_set_facts *facts,
                                     const GPtrArray *files, GError **error);
struct orch_image_set *orch_cifar_read(const struct orch_image_set_facts *facts,
                                       const GPtrArray *files, GError **error);
struct orch_image_set *orch_folder_read(const struct orch_image_set_options *options,
                                        GError **error);
GPtrArray *orch_folder_files(const struct orch_image_set_options *options, GError **error);
/** The folder of a split: NAME/train, NAME/val or NAME/test. The caller frees. */
char *orch_data_folder(const struct orch_image_set_options *options, GError **error);

/** Scales the largest centred part of an image of in_h x in_w x RGB to channels (1 or 3) x height x
 * width bytes. */
void orch_image_scale(const uint8_t *in, int in_w, int in_h, int channels, int height, int width,
                      uint8_t *out);
/** Decodes a JPEG or PNG, scales its centre to the size: channels x height
 * x width bytes. */
bool orch_image_decode(const char *path, int channels, int height, int width, uint8_t *out,
                       GError **error);

#endif
