/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenCV's DNN module is C++. It stays inside the module orch-opencv.so, behind this table. */
#ifndef ORCH_PLUGINS_ONNXRUN_OPENCV_ADAPTER_H
#define ORCH_PLUGINS_ONNXRUN_OPENCV_ADAPTER_H

#include "plugins/onnxrun/array.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXRUN_OPENCV_ABI 1
#define ONNXRUN_OPENCV_SYMBOL "onnxrun_opencv_v1"

/** A function that fails returns false or NULL and sets `*out_problem` to OpenCV's words, which the
 * caller frees with free(). */
struct onnxrun_opencv {
    uint32_t abi;
    const char *version; /* of the library: "4.6.0" */
    void *(*open)(const char *path, int threads, char **out_problem);
    /** Sets `out` to `count` arrays, named in `names`, valid until the next run. An output that is
     * no array of floats has rank -1. */
    bool (*run)(void *net, const struct onnxrun_array *input, const char *const *names, int count,
                struct onnxrun_array *out, char **out_problem);
    void (*close)(void *net);
};

/** The one symbol of orch-opencv.so. */
const struct onnxrun_opencv *onnxrun_opencv_v1(void);

#ifdef __cplusplus
}
#endif

#endif
