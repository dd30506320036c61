/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: functions shared by the readers. */
#ifndef ORCH_PLUGINS_COMMON_DATA_PRIVATE_H
#define ORCH_PLUGINS_COMMON_DATA_PRIVATE_H

#include "plugins/common/data/image_set.h"

/** Allocates a set; labels are 0. */
struct orch_image_set *orch_image_set_alloc(const char *name, int64_t count, int channels,
                                            int height, int width, int classes, GError **error);
/** `files`: images, then labels. */
struct orch_image_set *orch_idx_read(const struct orch_image_set_facts *facts,
                                     const GPtrArray *files, GError **error);
struct orch_image_set *orch_cifar_read(const struct orch_image_set_facts *facts,
                                       const GPtrArray *files, GError **error);
struct orch_image_set *orch_folder_read(const struct orch_image_set_options *options,
                                        GError **error);
GPtrArray *orch_folder_files(const struct orch_image_set_options *options, GError **error);
/** Files of a split of a known set (orch_image_set_find) but synthetic. Fails with NULL and
 * ORCH_ERROR_NOT_FOUND, which names the searched folders. Caller unrefs. */
GPtrArray *orch_known_files(const struct orch_image_set_options *options, GError **error);
/** Folder of a split: NAME/train, NAME/val or NAME/test. Caller frees. */
char *orch_data_folder(const struct orch_image_set_options *options, GError **error);

/** Crops the largest centred part of an image of in_h x in_w x RGB and scales it to channels (1 or
 * 3) x height x width bytes. */
void orch_image_scale(const uint8_t *in, int in_w, int in_h, int channels, int height, int width,
                      uint8_t *out);
/** Decodes a JPEG or PNG and scales its centre to channels x height x width bytes. */
bool orch_image_decode(const char *path, int channels, int height, int width, uint8_t *out,
                       GError **error);

#endif
