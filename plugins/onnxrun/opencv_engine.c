/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenCV's DNN module, through the adapter that is built where its headers are. */
#include "lib/base/error.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "lib/onnx/onnxruntime.h"
#include "plugins/common/torch/library.h"
#include "plugins/onnxrun/engine.h"
#include "plugins/onnxrun/opencv/opencv_adapter.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static const struct onnxrun_opencv *opencv;

static bool load(const char **out_version, char **out_from, GError **error)
{
    g_autofree char *path = orch_program_module("orch-opencv.so");
    if (!path || access(path, F_OK) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, orch_program_way(ORCH_PART_OPENCV),
                       "orch was built without OpenCV's DNN module: there is no '%s'",
                       path ? path : "orch-opencv.so");
        return false;
    }
    void *handle = opencv ? NULL : orch_library_open(path);
    const struct onnxrun_opencv *(*get)(void) = NULL;
    if (handle)
        *(void **)&get = dlsym(handle, ONNXRUN_OPENCV_SYMBOL);
    if (get && get()->abi == ONNXRUN_OPENCV_ABI)
        opencv = get();
    if (!opencv) {
        const char *why = get ? "it is of another build" : dlerror();
        orch_error_set(error, ORCH_ERROR_PLUGIN, orch_program_way(ORCH_PART_OPENCV),
                       "cannot load '%s': %s", path, why);
        return false;
    }
    *out_version = opencv->version;
    *out_from = g_steal_pointer(&path);
    return true;
}

struct onnxrun_session {
    const struct onnxrun_file *file;
    void *net;
};

static bool refuse(const struct onnxrun_file *file, const char *what, char *problem, GError **error)
{
    g_autofree char *text = g_utf8_make_valid(problem ? problem : "no reason given", -1);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "OpenCV %s cannot %s '%s' (opset %" G_GINT64_FORMAT "): %s", opencv->version,
                   what, file->path, file->opset, text);
    free(problem);
    return false;
}

static struct onnxrun_session *open_session(const struct onnxrun_file *file, int threads,
                                            GError **error)
{
    char *problem = NULL;
    void *net = opencv->open(file->path, threads, &problem);
    if (!net) {
        refuse(file, "open", problem, error);
        return NULL;
    }
    struct onnxrun_session *s = g_new0(struct onnxrun_session, 1);
    s->file = file;
    s->net = net;
    return s;
}

static bool run_session(struct onnxrun_session *s, const struct onnxrun_array *input,
                        struct onnxrun_array *out_outputs, GError **error)
{
    const struct onnxrun_file *file = s->file;
    char *problem = NULL;
    if (!opencv->run(s->net, input, (const char *const *)file->outputs, file->output_count,
                     out_outputs, &problem))
        return refuse(file, "run", problem, error);
    for (int i = 0; i < file->output_count; i++)
        if (out_outputs[i].rank < 0) {
            orch_error_set(error, ORCH_ERROR_TRIAL, "onnxrun reads outputs of 32-bit floats",
                           "'%s': output '%s' is not an array of floats of at most %d axes",
                           file->path, file->outputs[i], ONNXRUN_RANK_MAX);
            return false;
        }
    return true;
}

static void close_session(struct onnxrun_session *s)
{
    if (s)
        opencv->close(s->net);
    g_free(s);
}

const struct onnxrun_engine ONNXRUN_OPENCV = {
    .name = "opencv",
    .title = "OpenCV",
    .no_half = "OpenCV's DNN module computes in half precision only on ARM and on GPUs",
    .load = load,
    .open = open_session,
    .run = run_session,
    .close = close_session,
};
