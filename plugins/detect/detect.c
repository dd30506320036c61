/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Object detection with prior boxes (Liu et al. 2016, SSD): trains a detector of lib/net, finetunes
 * one from weights, or tests one. See docs/plugins/detect.md. */
#include "plugins/detect/detect.h"

#include "lib/base/error.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/optimizer.h"
#include "plugins/common/training/precision.h"
#include "plugins/common/training/work.h"

#include <math.h>

static const char *const MODES[] = {"full", "feature", "test", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct detect_params, mode, ORCH_ENUM, .label = "mode", .def = "full",
               .choices = MODES,
               .help = "full: train all layers; feature: train only the predictors; test: measure "
                       "the weights without training"),
    ORCH_TRAINING_ROW(
        struct detect_params, weights, ORCH_ARTIFACT, .label = "weights",
        .flags = ORCH_PARAM_OPTIONAL,
        .help = "weights to begin with: ${experiment.weights}, or a .safetensors or .pth file"),
    ORCH_PARAM(struct detect_params, new_head, ORCH_BOOL, .label = "new head", .def = "false",
               .help = "begin with new layers for boxes, not with those of the weights"),
    ORCH_TRAINING_ROW(struct detect_params, freeze, ORCH_INT, .label = "freeze", .def = "0",
                      .min = "0", .help = "mode full: freeze the layer groups below this number"),
    ORCH_TRAINING_ROW(struct detect_params, layer_rates, ORCH_LIST | ORCH_REAL,
                      .label = "layer rates", .def = "[]", .min = "0",
                      .help =
                          "learning rate factors of layer groups from the input on, e.g. [0.1, 1]"),
    ORCH_TRAINING_ROW(struct detect_params, dataset, ORCH_STRING, .label = "dataset",
                      .def = "fashion-scenes",
                      .help = "fashion-scenes, synthetic, voc2007, open-images, or a folder in the "
                              "format of Pascal VOC or Open Images"),
    ORCH_TRAINING_ROW(
        struct detect_params, data_root, ORCH_PATH, .label = "data folder",
        .flags = ORCH_PARAM_OPTIONAL | ORCH_PARAM_NEUTRAL,
        .help = "folder with the data set (default: $ORCH_DATA, the cache, /usr/share/datasets)"),
    ORCH_PARAM(struct detect_params, classes, ORCH_LIST | ORCH_STRING, .label = "classes",
               .def = "[]", .help = "names of the classes to find; empty: all"),
    ORCH_PARAM(struct detect_params, train_images, ORCH_INT, .label = "training images", .def = "0",
               .min = "0", .unit = "images",
               .help = "training images; 0: all, or 2000 of a generated set"),
    ORCH_PARAM(struct detect_params, test_images, ORCH_INT, .label = "test images", .def = "0",
               .min = "0", .unit = "images",
               .help = "validation images; 0: all, or 500 of a generated set"),
    ORCH_PARAM(struct detect_params, with_empty, ORCH_BOOL, .label = "with empty", .def = "false",
               .help = "photographs: also use those without an object of the classes"),
    ORCH_PARAM(struct detect_params, with_groups, ORCH_BOOL, .label = "with groups", .def = "false",
               .help = "open-images: count boxes of groups as objects"),
    ORCH_PARAM(struct detect_params, without_truncated, ORCH_BOOL, .label = "without truncated",
               .def = "false",
               .help = "photographs: do not count objects that extend beyond their image"),
    ORCH_PARAM(struct detect_params, skip_bad, ORCH_BOOL, .label = "skip bad", .def = "false",
               .help = "photographs: leave out boxes and images that cannot be used; false: fail"),
    ORCH_PARAM(struct detect_params, data_seed, ORCH_INT, .label = "data seed", .def = "1",
               .min = "0", .help = "seed of a generated set"),
    ORCH_TRAINING_ROW(struct detect_params, image_size, ORCH_INT, .label = "image size",
                      .def = "96", .min = "32", .max = "1024", .unit = "pixels",
                      .help = "side of the network's input"),
    ORCH_TRAINING_ROW(struct detect_params, val_images, ORCH_INT, .label = "validation images",
                      .def = "200", .min = "0",
                      .help = "images to validate on in each epoch; 0: all"),
    ORCH_PARAM(
        struct detect_params, transforms, ORCH_LIST | ORCH_STRING, .label = "transforms",
        .def = "[flip]",
        .help = "changes of training images: distort, expand [MOST], crop, flip (Liu et al. 2016)"),
    ORCH_TRAINING_ROW(struct detect_params, net, ORCH_STRING, .label = "network",
                      .def = "ssd-small", .help = "a detector of 'orch net ls'"),
    ORCH_TRAINING_ROW(struct detect_params, epochs, ORCH_INT, .label = "epochs", .def = "10",
                      .min = "1", .max = "100000", .unit = "epochs",
                      .help = "passes over the training images"),
    ORCH_TRAINING_OPTIMIZER_PARAMS(struct detect_params, "32", "0.01", "0.0005"),
    ORCH_PARAM(struct detect_params, match_iou, ORCH_REAL, .label = "overlap of a match",
               .def = "0.5", .min = "0", .max = "1",
               .help = "overlap from which a prior box is matched to an object"),
    ORCH_PARAM(struct detect_params, negatives, ORCH_REAL, .label = "negatives", .def = "3",
               .min = "0", .max = "1000",
               .help = "prior boxes without an object in the loss, for each one with an object"),
    ORCH_PARAM(struct detect_params, score, ORCH_REAL, .label = "score", .def = "0.01", .min = "0",
               .max = "1", .help = "score above which a box is a detection"),
    ORCH_PARAM(struct detect_params, nms_iou, ORCH_REAL, .label = "overlap of duplicates",
               .def = "0.45", .min = "0", .max = "1",
               .help = "overlap above which only the better of two detections of a class is kept"),
    ORCH_PARAM(struct detect_params, candidates, ORCH_INT, .label = "candidates", .def = "200",
               .min = "0", .max = "1000000",
               .help = "best boxes of each class and image to compare; 0: all"),
    ORCH_PARAM(struct detect_params, per_class, ORCH_INT, .label = "images per class", .def = "100",
               .min = "0", .max = "1000000", .help = "detections of each class and image; 0: all"),
    ORCH_TRAINING_DEVICE_PARAMS(struct detect_params),
    ORCH_TRAINING_THREAD_PARAMS(struct detect_params),
    ORCH_TRAINING_CHECKPOINT_PARAM(struct detect_params),
};

#define LOSS(metric, words, text)                                                                  \
    {                                                                                              \
        .name = metric, .label = words, .min = "0", .better = ORCH_BETTER_MIN,                     \
        .step_unit = "epoch", .help = text                                                         \
    }
#define MAP(metric, words, unit_of_step, text)                                                     \
    {                                                                                              \
        .name = metric, .label = words, .min = "0", .max = "1", .better = ORCH_BETTER_MAX,         \
        .step_unit = unit_of_step, .help = text                                                    \
    }

static const struct orch_metric METRICS[] = {
    LOSS("train_loss", "training loss",
         "multibox loss of the epoch's batches: location and class loss"),
    LOSS("train_location_loss", "location part of the training loss",
         "smooth L1 of the offsets, for each prior box with an object"),
    LOSS("train_class_loss", "class part of the training loss",
         "cross-entropy of the classes, for each prior box with an object"),
    {.name = "step_loss",
     .label = "step loss",
     .min = "0",
     .better = ORCH_BETTER_MIN,
     .step_unit = "step",
     .help = "multibox loss of the steps since the previous point"},
    LOSS("val_loss", "validation loss", "multibox loss of the validation images of each epoch"),
    LOSS("val_location_loss", "location part of the validation loss", "location part of val_loss"),
    LOSS("val_class_loss", "class part of the validation loss", "class part of val_loss"),
    MAP("val_map", "validation mAP", "epoch",
        "mean average precision by the 11 points of VOC 2007, IoU 0.5"),
    MAP("val_map_area", "validation mAP by area", "epoch",
        "mean average precision by the area below the curve, IoU 0.5"),
    {.name = "epoch_time",
     .label = "epoch time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .step_unit = "epoch",
     .help = "training part of the epoch, loading included"},
    {.name = "images_per_s",
     .label = "throughput",
     .min = "0",
     .unit = "images/s",
     .better = ORCH_BETTER_MAX,
     .step_unit = "epoch",
     .help = "training throughput of the epoch"},
    {.name = "lr",
     .label = "learning rate",
     .step_unit = "epoch",
     .help = "learning rate at the epoch's start"},
    MAP("class_ap", "average precision of the class", "class",
        "average precision of each class on all validation images (VOC 2007)"),
    MAP("class_ap_area", "average precision of the class by area", "class",
        "average precision of each class, as the area below its curve"),
    MAP("initial_map", "mAP before training", NULL,
        "mAP of the weights before the first step, on all validation images"),
    MAP("final_map", "final mAP", NULL, "val_map after the last epoch"),
    MAP("best_map", "best mAP", NULL, "val_map of the best epoch"),
    {.name = "best_epoch", .label = "best epoch", .help = "the epoch of best_map"},
    MAP("full_map", "mAP after training", NULL,
        "mAP on all validation images after the last epoch (VOC 2007)"),
    MAP("full_map_area", "mAP after training, by area", NULL,
        "mAP of the areas below the curves, after the last epoch"),
    {.name = "final_loss",
     .label = "final loss",
     .min = "0",
     .better = ORCH_BETTER_MIN,
     .help = "val_loss after the last epoch"},
    {.name = "full_loss",
     .label = "full loss",
     .min = "0",
     .better = ORCH_BETTER_MIN,
     .help = "multibox loss of all validation images after the last epoch"},
    {.name = "training_time",
     .label = "training time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .help = "training time of all epochs, without validation"},
    {.name = "validation_time",
     .label = "validation time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .help = "validation time of all epochs"},
    {.name = "params", .label = "parameters", .help = "parameters of the network"},
    {.name = "trained_params", .label = "trained parameters", .help = "parameters that learn"},
    {.name = "channels_last",
     .label = "channels last",
     .help = "memory layout of images: 1: channels-last, 0: plain"},
    {.name = "class_count",
     .label = "number of classes",
     .help = "classes of the network, the background among them"},
    {.name = "prior_count",
     .label = "prior boxes",
     .unit = "boxes",
     .help = "prior boxes of an image"},
    {.name = "train_images",
     .label = "training images",
     .min = "0",
     .unit = "images",
     .help = "training images"},
    {.name = "train_objects",
     .label = "training objects",
     .unit = "objects",
     .help = "objects in the training images"},
    {.name = "epoch_val_images",
     .label = "validation images per epoch",
     .min = "0",
     .unit = "images",
     .help = "validation images of each epoch"},
    {.name = "val_images_total",
     .label = "validation images",
     .min = "0",
     .unit = "images",
     .help = "all validation images"},
    {.name = "val_objects",
     .label = "validation objects",
     .unit = "objects",
     .help = "objects in all validation images"},
    {.name = "image_channels",
     .label = "image channels",
     .unit = "channels",
     .help = "image channels"},
    {.name = "image_height",
     .label = "image height",
     .unit = "pixels",
     .help = "height of the network's input"},
    {.name = "image_width",
     .label = "image width",
     .unit = "pixels",
     .help = "width of the network's input"},
};
static const struct orch_artifact ARTIFACTS[] = {
    {.name = "weights", .help = "the network after the last epoch, safetensors"},
    {.name = "classes", .help = "objects and average precision of each class, CSV"},
    {.name = "samples",
     .help = "test images with their objects and the network's outputs, for plugin onnxrun"},
};

/* ---- check and cost -----------------------------------------------------------------------------
 */

/* The training parameters, with those set that the mode decides or that this plugin does not
 * offer. */
static struct orch_training settle(const struct detect_params *p)
{
    struct orch_training t = p->t;
    t.feature_extractor = orch_detect_is_mode(p, "feature");
    t.data_path = "cpu";
    t.graphs = "off";
    return t;
}

static bool check_weights(const struct detect_params *p, GError **error)
{
    if (!orch_detect_is_mode(p, "full") && !p->t.weights)
        orch_error_set(error, ORCH_ERROR_RECIPE, "set weights, e.g. \"${pretrain.weights}\"",
                       "mode '%s' needs the weights of a detector", p->mode);
    else if (orch_detect_is_mode(p, "feature") && (p->t.freeze || p->t.layer_rates.count))
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "'freeze' and 'layer_rates' need mode 'full'");
    else if (orch_detect_is_mode(p, "test") && p->new_head)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "'new_head' excludes mode 'test'");
    else
        return true;
    return false;
}

static bool check_net(const struct detect_params *p, GError **error)
{
    const int side = (int)p->t.image_size, classes = 2;
    struct orch_prior_spec spec;
    struct orch_net *net = orch_net_make(
        &(struct orch_net_options){
            .name = p->t.net, .channels = 3, .height = side, .width = side, .classes = classes},
        error);
    bool ok = net && orch_detector_spec(net, side, classes, &spec, error) &&
              orch_work_groups_check(&p->t, net, error);
    orch_net_free(net);
    return ok;
}

static int check(const void *params, const struct orch_host *host)
{
    const struct detect_params *p = params;
    const struct orch_training t = settle(p);
    struct orch_schedule schedule;
    GError *error = NULL;
    if (!check_weights(p, &error) || !check_net(p, &error) ||
        !orch_work_schedule(&t, t.epochs, &schedule, &error) ||
        !orch_training_file_input(host, "weights", t.weights, &error))
        return orch_training_fail(host, error);
    orch_precision_warn(&p->t, host);
    return orch_object_data_check(p, host);
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct detect_params *p = params;
    const bool is_test = orch_detect_is_mode(p, "test");
    g_autofree char *net = orch_net_canonical_name(p->t.net);
    g_autofree char *input = g_strdup_printf("3x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                                             p->t.image_size, p->t.image_size);
    out->workers = 1;
    out->network = g_intern_string(net ? net : p->t.net);
    out->precision = orch_precision_known(&p->t);
    out->framework = "libtorch";
    out->input = g_intern_string(input);
    out->classes = p->classes.count ? (int64_t)p->classes.count + 1 : 0;
    out->batch = is_test ? ORCH_DETECT_MEASURED_BATCH : p->t.batch;
    out->epochs = is_test ? 1 : (double)p->t.epochs;
    out->training = orch_detect_is_mode(p, "full");
    out->images = orch_object_data_planned(p, is_test ? ORCH_SPLIT_TEST : ORCH_SPLIT_TRAIN);
    return ORCH_OK;
}

/* ---- opening ------------------------------------------------------------------------------------
 */

static bool read_data(void *ctx, const struct orch_session *s, struct orch_session_data *out,
                      GError **error)
{
    struct orch_detect *detect = ctx;
    const int side = (int)detect->params->t.image_size;
    GError *problem = NULL;
    detect->data = orch_object_data_open(detect->params, s->host, &problem);
    if (!detect->data) {
        detect->is_data_absent = orch_object_data_is_absent(detect->params, problem);
        g_propagate_error(error, problem);
        return false;
    }
    *out = (struct orch_session_data){3, side, side, orch_object_data_classes(detect->data),
                                      orch_object_data_images(detect->data, ORCH_OBJECTS_TRAIN)};
    return true;
}

static void detect_close(void *state)
{
    struct orch_detect *detect = state;
    orch_detector_free(detect->detector);
    orch_session_close(detect->session);
    orch_object_data_free(detect->data);
    g_free(detect->class_before);
    g_free(detect);
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    struct orch_detect *detect = g_new0(struct orch_detect, 1);
    GError *error = NULL;
    detect->params = params;
    detect->training = settle(params);
    int status = orch_session_open_on(&detect->training, host, read_data, detect, &detect->session);
    if (status == ORCH_OK) {
        detect->detector = orch_detector_new(detect->session, &error);
        const bool has_weights = detect->training.weights && !host->smoke(host);
        if (!detect->detector || (has_weights && !orch_detect_load(detect, &error)))
            status = orch_training_fail(host, error);
    }
    if (status == ORCH_OK) {
        *out_state = detect;
        return ORCH_OK;
    }
    status = detect->is_data_absent ? ORCH_SKIPPED : status;
    detect_close(detect);
    return status;
}

/* ---- running ------------------------------------------------------------------------------------
 */

static void describe(const struct orch_detect *detect)
{
    const struct orch_session *s = detect->session;
    const struct orch_object_data *data = detect->data;
    const struct {
        const char *name;
        int64_t value;
    } results[] = {
        {"params", orch_net_params(s->net)},
        {"trained_params",
         orch_detect_is_mode(detect->params, "test") ? 0 : orch_training_learned_params(s)},
        {"class_count", s->data.classes},
        {"prior_count", detect->detector->priors->count},
        {"train_images", orch_object_data_images(data, ORCH_OBJECTS_TRAIN)},
        {"train_objects", orch_object_data_objects(data, ORCH_OBJECTS_TRAIN, 0)},
        {"epoch_val_images", orch_object_data_images(data, ORCH_OBJECTS_VAL_PART)},
        {"val_images_total", orch_object_data_images(data, ORCH_OBJECTS_VAL)},
        {"val_objects", orch_object_data_objects(data, ORCH_OBJECTS_VAL, 0)},
        {"image_channels", s->data.channels},
        {"image_height", s->data.height},
        {"image_width", s->data.width},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(results); i++)
        s->host->result(s->host, results[i].name, (double)results[i].value);
}

static struct orch_feed *make_feed(void *ctx, const struct orch_session *s, GError **error)
{
    (void)s;
    return orch_detect_feed(ctx, error);
}

static struct orch_step *make_step(void *ctx, const struct orch_session *s, GError **error)
{
    (void)s;
    (void)error;
    return orch_detect_step(ctx);
}

static bool validate(void *ctx, const struct orch_session *s, struct orch_torch_totals *out,
                     double *out_score, GError **error)
{
    struct orch_detect *detect = ctx;
    struct orch_detect_measured measured;
    (void)s;
    if (!orch_detect_measure(detect, false, &measured, error))
        return false;
    detect->val = measured.loss;
    detect->val_map_area = measured.map_area;
    *out_score = measured.map_2007;
    *out = (struct orch_torch_totals){.images = measured.loss.images,
                                      .loss = measured.loss.location + measured.loss.confidence};
    orch_box_score_free(measured.score);
    return true;
}

static void report_parts(const struct orch_host *host, const char *location, const char *confidence,
                         int64_t epoch, const struct orch_loss_sums *sums)
{
    if (!sums->images)
        return;
    host->metric(host, location, epoch, sums->location / (double)sums->images);
    host->metric(host, confidence, epoch, sums->confidence / (double)sums->images);
}

static bool after_epoch(void *ctx, const struct orch_moment *moment, GError **error)
{
    struct orch_detect *detect = ctx;
    const struct orch_host *host = moment->session->host;
    const int64_t epoch = moment->epoch + 1;
    (void)error;
    report_parts(host, "train_location_loss", "train_class_loss", epoch, &detect->train);
    report_parts(host, "val_location_loss", "val_class_loss", epoch, &detect->val);
    if (!isnan(detect->val_map_area))
        host->metric(host, "val_map_area", epoch, detect->val_map_area);
    detect->train = (struct orch_loss_sums){0};
    return true;
}

/* Measures on all validation images. Returns ORCH_OK, ORCH_CANCELLED, or -1 with the error set. */
static int measure_all(struct orch_detect *detect, GError **error)
{
    struct orch_detect_measured measured;
    if (!orch_detect_measure(detect, true, &measured, error))
        return -1;
    int status = ORCH_CANCELLED;
    if (!measured.is_cancelled)
        status = orch_detect_report(detect, &measured, error) && orch_detect_samples(detect, error)
                     ? ORCH_OK
                     : -1;
    orch_box_score_free(measured.score);
    return status;
}

static int after_training(void *ctx, const struct orch_session *s,
                          const struct orch_torch_totals *val, GError **error)
{
    (void)s;
    (void)val;
    return measure_all(ctx, error);
}

static bool label(void *ctx, struct orch_weights *weights, GError **error)
{
    return orch_detect_label(ctx, weights, error);
}

/* Measures the loaded weights before the first step, for comparison. Returns the same as
 * measure_all. */
static int measure_start(struct orch_detect *detect, GError **error)
{
    const struct orch_host *host = detect->session->host;
    struct orch_detect_measured measured;
    if (!detect->training.weights || host->smoke(host))
        return ORCH_OK;
    host->phase(host, "measuring the weights");
    if (!orch_detect_measure(detect, true, &measured, error))
        return -1;
    if (!measured.is_cancelled && !isnan(measured.map_2007))
        host->result(host, "initial_map", measured.map_2007);
    detect->class_before = g_new(double, detect->detector->classes);
    for (int label = 0; label < detect->detector->classes; label++)
        detect->class_before[label] =
            label ? orch_box_score_class(measured.score, label).ap_2007 : (double)NAN;
    orch_box_score_free(measured.score);
    return measured.is_cancelled ? ORCH_CANCELLED : ORCH_OK;
}

static int train(struct orch_detect *detect, GError **error)
{
    static const struct orch_judge judge = {
        .val = "val_map", .final = "final_map", .best = "best_map", .validate = validate};
    const struct orch_training_parts parts = {.ctx = detect,
                                              .feed = make_feed,
                                              .step = make_step,
                                              .judge = &judge,
                                              .after_epoch = after_epoch,
                                              .after_training = after_training,
                                              .label = label};
    const int status = measure_start(detect, error);
    return status == ORCH_OK ? orch_epochs_run(detect->session, NULL, &parts, error) : status;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    struct orch_detect *detect = state;
    const struct detect_params *p = params;
    GError *error = NULL;
    detect->session->host = host;
    describe(detect);
    if (orch_detect_is_mode(p, "test"))
        host->phase(host, "measuring the weights");
    const int status =
        orch_detect_is_mode(p, "test") ? measure_all(detect, &error) : train(detect, &error);
    return status < 0 ? orch_training_fail(host, error) : status;
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct detect_params),
    .name = "detect",
    .version = "1.0.0",
    .summary = "object detection: trains, finetunes and tests a single-shot detector",
    .close = detect_close,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
