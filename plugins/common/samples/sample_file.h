/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file (safetensors) of inputs of a network, with what is known of them: the objects in the
 * images, the outputs that are expected. A plugin that trains leaves one as an artifact, and plugin
 * onnxrun runs an exported network on it (docs/plugins/onnxrun.md describes the arrays). */
#ifndef ORCH_PLUGINS_COMMON_SAMPLE_FILE_H
#define ORCH_PLUGINS_COMMON_SAMPLE_FILE_H

#include "lib/weights/weights.h"
#include "plugins/common/boxes/box.h"

/** Kinds of inputs. */
#define ORCH_SAMPLE_RANDOM "random"
#define ORCH_SAMPLE_REAL "real"

struct orch_sample_inputs {
    const char *kind; /* ORCH_SAMPLE_REAL */
    int64_t count;
    int channels, height, width;
    const float *inputs; /* count x channels x height x width, as the network reads them */
    /* What follows may be NULL. */
    const struct orch_box_batch *objects; /* of `count` images */
    const bool *is_difficult;             /* of each object */
};

/** Adds inputs of a kind, and their objects. Fails as orch_weights_add, and for objects of another
 * number of images. */
bool orch_sample_file_add(struct orch_weights *file, const struct orch_sample_inputs *samples,
                          GError **error);
/** Adds an expected output, which the ONNX file calls `name`. Its first axis is the inputs' count.
 */
bool orch_sample_file_add_output(struct orch_weights *file, const char *kind, const char *name,
                                 int rank, const int64_t *shape, const float *data, GError **error);
/** Records the names of the classes (NULL-terminated; of a detector with the background first). */
void orch_sample_file_set_classes(struct orch_weights *file, char *const *names);
/** Records how images became inputs, (pixel / 255 - mean) / std for each channel, so that inputs
 * can be shown. */
void orch_sample_file_set_normalisation(struct orch_weights *file, int channels, const float *mean,
                                        const float *std);

/** Reads the normalisation; false if there is none for `channels` <= 3 channels. */
bool orch_sample_file_normalisation(const struct orch_weights *file, int channels, float mean[3],
                                    float std[3]);
/** The names of the classes, or NULL. Free with g_strfreev. */
char **orch_sample_file_classes(const struct orch_weights *file);

/** The objects of the inputs of a kind. */
struct orch_sample_objects {
    struct orch_box_batch batch; /* its arrays are below */
    int64_t *first;
    struct orch_box *boxes;
    int32_t *labels;
    bool *is_difficult;
};
/** Reads the objects of `count` inputs; NULL without an error if there are none. Fails with
 * ORCH_ERROR_RECIPE, which names the object, for an image that is not there and for a box or label
 * that is not proper. Free with orch_sample_objects_free. */
struct orch_sample_objects *orch_sample_file_objects(const struct orch_weights *file,
                                                     const char *kind, int64_t count,
                                                     GError **error);
void orch_sample_objects_free(struct orch_sample_objects *objects);

#endif
