/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs an ONNX file by an inference engine: outputs, latency, and how far both are from the
 * trainer's. docs/plugins/onnxrun.md. */
#include "plugins/onnxrun/onnxrun.h"

#include "lib/base/error.h"
#include "lib/net/net.h"
#include "plugins/common/training/notes.h"
#include "plugins/onnxrun/answers.h"
#include "plugins/onnxrun/compare.h"
#include "plugins/onnxrun/exported.h"
#include "plugins/onnxrun/found_boxes.h"
#include "plugins/onnxrun/half_file.h"
#include "plugins/onnxrun/model_inputs.h"
#include "plugins/onnxrun/object_picture.h"
#include "plugins/onnxrun/run_groups.h"
#include "plugins/onnxrun/trainer.h"

#include <string.h>

/* ---- tables ------------------------------------------------------------------------------- */

static const char *const ENGINES[] = {"onnxruntime", "opencv", NULL};
static const char *const PRECISIONS[] = {"fp32", "fp16", NULL};
static const char *const CLOCKS[] = {"wall", "processor", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct onnxrun_params, onnx, ORCH_ARTIFACT, .label = "ONNX file",
               .flags = ORCH_PARAM_OPTIONAL,
               .help = "the network: an ONNX file, or ${experiment.onnx}; without it, network net "
                       "is exported first"),
    ORCH_PARAM(struct onnxrun_params, engine, ORCH_ENUM, .label = "engine", .def = "onnxruntime",
               .choices = ENGINES,
               .help = "the program that runs it: ONNX Runtime, or OpenCV's DNN module"),
    ORCH_PARAM(struct onnxrun_params, precision, ORCH_ENUM, .label = "precision", .def = "fp32",
               .choices = PRECISIONS,
               .help = "fp16: weights and values are converted to half precision first"),
    ORCH_PARAM(struct onnxrun_params, batch, ORCH_INT, .label = "batch", .def = "1", .min = "1",
               .max = "4096", .unit = "images", .help = "inputs that are run together"),
    ORCH_PARAM(struct onnxrun_params, count, ORCH_INT, .label = "count", .def = "32", .min = "1",
               .max = "1000000", .unit = "images",
               .help = "number of random inputs, and of images"),
    ORCH_PARAM(struct onnxrun_params, input, ORCH_STRING, .label = "input",
               .flags = ORCH_PARAM_OPTIONAL,
               .help = "shape of one input, where the file leaves it open: 3x224x224"),
    ORCH_PARAM(struct onnxrun_params, images, ORCH_STRING, .label = "images",
               .flags = ORCH_PARAM_OPTIONAL,
               .help = "images to run, too: a data set, or a folder with test/CLASS/*.png or .jpg"),
    ORCH_PARAM(struct onnxrun_params, data_root, ORCH_PATH, .label = "data folder",
               .flags = ORCH_PARAM_OPTIONAL | ORCH_PARAM_NEUTRAL,
               .help =
                   "folder with the images (default: $ORCH_DATA, the cache, /usr/share/datasets)"),
    ORCH_PARAM(
        struct onnxrun_params, samples, ORCH_ARTIFACT, .label = "samples",
        .flags = ORCH_PARAM_OPTIONAL,
        .help =
            "file of inputs and expected outputs: ${experiment.samples} or ${experiment.outputs}"),
    ORCH_PARAM(
        struct onnxrun_params, net, ORCH_STRING, .label = "network", .flags = ORCH_PARAM_OPTIONAL,
        .help = "a network of 'orch net ls', whose outputs LibTorch computes for comparison"),
    ORCH_PARAM(struct onnxrun_params, weights, ORCH_ARTIFACT, .label = "weights",
               .flags = ORCH_PARAM_OPTIONAL,
               .help =
                   "weights of network net: ${experiment.weights}, or a .safetensors or .pth file"),
    ORCH_PARAM(struct onnxrun_params, classes, ORCH_INT, .label = "classes", .def = "0", .min = "0",
               .max = "1000000",
               .help = "outputs of network net; 0: as the weights or the images say"),
    ORCH_PARAM(struct onnxrun_params, opset, ORCH_INT, .label = "ONNX opset", .def = "17",
               .min = "13", .max = "21",
               .help = "version of ONNX's operators in which network net is exported"),
    ORCH_PARAM(struct onnxrun_params, fold_norms, ORCH_BOOL, .label = "fold norms", .def = "false",
               .help = "export batch norms as part of the convolutions before them"),
    ORCH_PARAM(struct onnxrun_params, repeats, ORCH_INT, .label = "repeats", .def = "30",
               .min = "1", .max = "100000", .help = "runs of one batch that are timed"),
    ORCH_PARAM(struct onnxrun_params, warmup, ORCH_INT, .label = "warmup", .def = "5", .min = "0",
               .max = "100000", .help = "runs before them that are not"),
    ORCH_PARAM(struct onnxrun_params, clock, ORCH_ENUM, .label = "clock", .def = "wall",
               .choices = CLOCKS, .help = "wall: elapsed time; processor: CPU time of all threads"),
    ORCH_PARAM(struct onnxrun_params, pictures, ORCH_INT, .label = "pictures", .def = "4",
               .min = "0", .max = "100", .unit = "images",
               .help = "samples that are drawn with their boxes; 0: none"),
    ORCH_PARAM(struct onnxrun_params, score, ORCH_REAL, .label = "score", .def = "0.4", .min = "0",
               .max = "1", .help = "lowest score of a box that is drawn"),
    ORCH_PARAM(struct onnxrun_params, threads, ORCH_INT, .label = "threads", .def = "0", .min = "0",
               .max = "1024", .help = "processor threads; 0: as many as the trial's slot has"),
};

#define DIFFERENCES(group, of)                                                                     \
    {.name = group "_absolute",                                                                    \
     .label = "largest difference, " group " inputs",                                              \
     .min = "0",                                                                                   \
     .better = ORCH_BETTER_MIN,                                                                    \
     .help = "largest difference from the reference, " of},                                        \
        {.name = group "_relative",                                                                \
         .label = "largest relative difference, " group " inputs",                                 \
         .min = "0",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "largest difference, divided by the reference's value, " of},                     \
        {.name = group "_tolerance",                                                               \
         .label = "tolerance, " group " inputs",                                                   \
         .min = "0",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "smallest r for which all values agree within r |value| + 0.01 r, " of},          \
    {                                                                                              \
        .name = group "_same_top", .label = "same class, " group " inputs", .min = "0",            \
        .max = "1", .better = ORCH_BETTER_MAX,                                                     \
        .help = "share of rows whose largest value is of the same class, " of                      \
    }

static const struct orch_metric METRICS[] = {
    {.name = "latency",
     .label = "latency",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "time of a batch: the median of the timed runs"},
    {.name = "latency_low",
     .label = "10 % quantile of the latency",
     .min = "0",
     .unit = "ms",
     .help = "10 % quantile of the timed runs"},
    {.name = "latency_high",
     .label = "90 % quantile of the latency",
     .min = "0",
     .unit = "ms",
     .help = "90 % quantile of the timed runs"},
    {.name = "throughput",
     .label = "throughput",
     .min = "0",
     .unit = "images/s",
     .better = ORCH_BETTER_MAX,
     .help = "batch / latency"},
    {.name = "trainer_latency",
     .label = "trainer latency",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "median time of the same batch by LibTorch"},
    {.name = "run_latency",
     .label = "run latency",
     .min = "0",
     .unit = "ms",
     .step_unit = "run",
     .help = "time of each timed run"},
    {.name = "open_time",
     .label = "time to open the file",
     .min = "0",
     .unit = "s",
     .help = "time in which the engine opened the file"},
    {.name = "used_threads", .label = "used threads", .help = "processor threads of the engine"},
    {.name = "opset", .label = "ONNX opset", .help = "opset of the file"},
    {.name = "nodes", .label = "nodes", .min = "0", .help = "nodes of the file"},
    {.name = "file_bytes",
     .label = "size of the file",
     .min = "0",
     .unit = "bytes",
     .help = "bytes of the file, without external data"},
    {.name = "not_finite",
     .label = "values that are not finite",
     .help = "values of the outputs that are NaN or infinite"},
    {.name = "accuracy",
     .label = "accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "share of the images whose label has the largest value"},
    {.name = "map",
     .label = "mAP",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "mean average precision of a detector (VOC 2007, IoU 0.5)"},
    DIFFERENCES(ORCH_SAMPLE_RANDOM, "random inputs"),
    DIFFERENCES(ORCH_SAMPLE_REAL, "images"),
};
static const struct orch_artifact ARTIFACTS[] = {
    {.name = "outputs", .help = "safetensors: inputs and outputs, as parameter samples reads"},
    {.name = "answers",
     .help = "CSV: a classifier's five largest values of each input, or a detector's boxes"},
    {.name = "onnx", .help = "the ONNX file that was run, where it was exported or converted"},
    {.name = "picture", .help = "PNG: samples with the boxes that a detector found"},
};

/* ---- check -------------------------------------------------------------------------------- */

static const struct {
    const char *problem, *hint;
} CONFLICTS[] = {
    {"parameter 'samples' excludes 'images'", "leave images out"},
    {"there is no network to run", "give onnx: FILE, or net: NAME"},
    {"parameter 'weights' needs 'net'", "give net as well"},
    {"parameters 'onnx' and 'net' need 'weights'", "leave net out, or give weights"},
};

static bool params_agree(const struct onnxrun_params *p, GError **error)
{
    const bool conflicts[] = {p->samples && p->images, !p->onnx && !p->net, p->weights && !p->net,
                              p->onnx && p->net && !p->weights};
    for (unsigned i = 0; i < G_N_ELEMENTS(CONFLICTS); i++)
        if (conflicts[i]) {
            orch_error_set(error, ORCH_ERROR_RECIPE, CONFLICTS[i].hint, "%s", CONFLICTS[i].problem);
            return false;
        }
    return true;
}

/* The ONNX file, and the files with its weights beside it. */
static bool name_files(const struct onnxrun_params *p, const struct orch_host *host, GError **error)
{
    bool ok = !p->onnx || (orch_onnxrun_file_size_check(p->onnx, error) &&
                           orch_training_file_input(host, "onnx", p->onnx, error));
    g_autoptr(GPtrArray) files =
        p->onnx && ok && !host->smoke(host) ? orch_onnxrun_data_files(p->onnx) : g_ptr_array_new();
    for (guint i = 0; ok && i < files->len; i++) {
        g_autofree char *name = g_path_get_basename(files->pdata[i]);
        ok = orch_training_file_input(host, name, files->pdata[i], error);
    }
    return ok;
}

static int check(const void *params, const struct orch_host *host)
{
    const struct onnxrun_params *p = params;
    GError *error = NULL;
    if (!params_agree(p, &error) || !name_files(p, host, &error) ||
        !orch_training_file_input(host, "samples", p->samples, &error) ||
        !orch_training_file_input(host, "weights", p->weights, &error) ||
        !orch_onnxrun_inputs_digest(p, host, &error))
        return orch_training_fail(host, error);
    return ORCH_OK;
}

/* ---- run ---------------------------------------------------------------------------------- */

static int threads_of(const struct onnxrun_trial *t)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot, .threads = 1};
    if (orch_host_has(t->host, slot))
        t->host->slot(t->host, &slot);
    return t->p->threads > 0 ? (int)t->p->threads : (int)MAX(1, slot.threads);
}

/* Loads the engine, and records which. Fails with ORCH_ERROR_PLUGIN where there is none. */
static bool load_engine(struct onnxrun_trial *t, GError **error)
{
    g_autofree char *from = NULL;
    t->host->phase(t->host, "loading the engine");
    t->engine = orch_onnxrun_engine_find(t->p->engine);
    t->threads = threads_of(t);
    if (!t->engine->load(&t->engine_version, &from, error))
        return false;
    orch_training_note(t->host, "%s %s (%s), %d thread%s", t->engine->title, t->engine_version,
                       from, t->threads, t->threads == 1 ? "" : "s");
    t->host->result(t->host, "used_threads", t->threads);
    return true;
}

/* Replaces the file by one in half precision. */
static bool make_half(struct onnxrun_trial *t, GError **error)
{
    static const char half[] = "half.onnx";
    if (strcmp(t->p->precision, "fp16") != 0)
        return true;
    if (t->engine->no_half) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, "engine: onnxruntime", "%s", t->engine->no_half);
        return false;
    }
    if (!orch_onnxrun_half_file_write(t->path, half, error))
        return false;
    orch_onnxrun_file_free(t->file);
    t->file = orch_onnxrun_file_read(half, error);
    return t->file != NULL;
}

static bool open_file(struct onnxrun_trial *t, GError **error)
{
    t->host->phase(t->host, "opening the file");
    const int64_t begin_us = g_get_monotonic_time();
    t->session = t->engine->open(t->file, t->threads, error);
    if (!t->session)
        return false;
    if (g_strcmp0(t->file->path, t->p->onnx) != 0)
        t->host->artifact(t->host, "onnx", t->file->path);
    t->host->result(t->host, "open_time", (double)(g_get_monotonic_time() - begin_us) * 1e-6);
    t->host->result(t->host, "opset", (double)t->file->opset);
    t->host->result(t->host, "nodes", (double)t->file->node_count);
    t->host->result(t->host, "file_bytes", (double)t->file->bytes);
    t->batch.data = g_try_new0(float, t->batch.count);
    if (!t->batch.data)
        orch_error_set(error, ORCH_ERROR_TRIAL, "lower batch",
                       "a batch of '%s' does not fit in memory", t->file->path);
    return t->batch.data != NULL;
}

/* Outputs are written before they are checked for NaN, so that a failed trial keeps them. */
static bool report_outputs(struct onnxrun_trial *t, GError **error)
{
    g_autofree char *where = NULL;
    const int64_t not_finite = orch_onnxrun_groups_not_finite(t, &where);
    t->host->result(t->host, "not_finite", (double)not_finite);
    if (!orch_onnxrun_outputs_write(t, error) || !orch_onnxrun_classes_write(t, error))
        return false;
    if (!not_finite)
        return orch_onnxrun_detections_find(t, error) && orch_onnxrun_boxes_write(t, error) &&
               orch_onnxrun_picture_write(t, error);
    orch_error_set(error, ORCH_ERROR_TRIAL, "check the weights that were exported",
                   "%s %s computed %" G_GINT64_FORMAT
                   " values that are NaN or infinite; the first value is in %s",
                   t->engine->title, t->engine_version, not_finite, where);
    return false;
}

static bool compare(struct onnxrun_trial *t, GError **error)
{
    if (t->p->net) {
        t->engine->close(t->session); /* its threads would compete with LibTorch's */
        t->session = NULL;
        t->host->phase(t->host, "running LibTorch");
        if (!orch_onnxrun_trainer_run(t, error))
            return false;
    }
    return orch_onnxrun_groups_compare(t, error);
}

/* The weights and the file: given, or exported from them. */
static bool find_network(struct onnxrun_trial *t, GError **error)
{
    t->path = t->p->onnx;
    if (t->p->weights && !(t->weights = orch_weights_load(t->p->weights, error)))
        return false;
    return t->path || orch_onnxrun_export(t, error);
}

static bool work(struct onnxrun_trial *t, GError **error)
{
    if (!load_engine(t, error) || !find_network(t, error) ||
        !(t->file = orch_onnxrun_file_read(t->path, error)) ||
        !orch_onnxrun_file_input(t->file, t->p->input, t->p->batch, &t->batch, error) ||
        !make_half(t, error) || !open_file(t, error) || !orch_onnxrun_inputs_make(t, error))
        return false;
    t->host->phase(t->host, "running");
    if (!orch_onnxrun_groups_run(t, error) || t->host->cancelled(t->host) ||
        !report_outputs(t, error))
        return false;
    t->host->phase(t->host, "timing");
    orch_onnxrun_detections_report(t);
    return orch_onnxrun_latency_measure(t, error) && !t->host->cancelled(t->host) &&
           compare(t, error) && !t->host->cancelled(t->host);
}

static void clear(struct onnxrun_trial *t)
{
    if (t->session)
        t->engine->close(t->session);
    g_array_unref(t->groups);
    g_strfreev(t->classes);
    orch_weights_free(t->weights);
    g_free(t->batch.data);
    orch_onnxrun_file_free(t->file);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    struct onnxrun_trial t = {.p = params, .host = host};
    GError *error = NULL;
    t.groups = g_array_new(FALSE, TRUE, sizeof(struct onnxrun_group));
    g_array_set_clear_func(t.groups, orch_onnxrun_group_clear);
    bool ok = work(&t, &error);
    clear(&t);
    if (ok)
        return ORCH_OK;
    if (!error)
        return ORCH_CANCELLED;
    bool is_skipped = g_error_matches(error, ORCH_ERROR, ORCH_ERROR_PLUGIN);
    int status = orch_training_fail(host, error);
    return is_skipped ? ORCH_SKIPPED : status;
}

const struct onnxrun_engine *orch_onnxrun_engine_find(const char *name)
{
    return strcmp(name, ONNXRUN_OPENCV.name) == 0 ? &ONNXRUN_OPENCV : &ONNXRUN_ONNXRUNTIME;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "onnxrun",
    .version = "1.0.0",
    .summary = "runs an ONNX file by an inference engine, and compares it with the trainer",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .params_bytes = sizeof(struct onnxrun_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
