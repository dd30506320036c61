/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that run ONNX files. Each is a row in a table; code specific to an engine is in its
 * own file, and is loaded when a trial opens it. */
#ifndef ORCH_PLUGINS_ONNXRUN_ENGINE_H
#define ORCH_PLUGINS_ONNXRUN_ENGINE_H

#include "plugins/onnxrun/array.h"
#include "plugins/onnxrun/model_file.h"

#include <glib.h>
#include <stdbool.h>

struct onnxrun_session;

struct onnxrun_engine {
    const char *name;    /* "onnxruntime": as a recipe has it */
    const char *title;   /* "ONNX Runtime": in messages */
    const char *no_half; /* why it does not run files in fp16; NULL: it does */
    /** Loads the engine's library once. `*out_version` is borrowed: "1.32.0". `*out_from` says
     * where it is from; the caller frees. Fails with ORCH_ERROR_PLUGIN and what installs it: the
     * trial is then skipped. */
    bool (*load)(const char **out_version, char **out_from, GError **error);
    /** Opens a file with that many threads. Fails with the engine's own words: an operator that it
     * lacks, an opset that is too new. `file` must outlive the session. */
    struct onnxrun_session *(*open)(const struct onnxrun_file *file, int threads, GError **error);
    /** Runs a batch. Sets `out_outputs` to arrays in the order of the file's outputs, which are
     * valid until the next call. */
    bool (*run)(struct onnxrun_session *session, const struct onnxrun_array *input,
                struct onnxrun_array *out_outputs, GError **error);
    void (*close)(struct onnxrun_session *session);
};

extern const struct onnxrun_engine ONNXRUN_ONNXRUNTIME, ONNXRUN_OPENCV;

/** Returns the engine called `name`, a value of parameter engine. */
const struct onnxrun_engine *orch_onnxrun_engine_find(const char *name);

#endif
