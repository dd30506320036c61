/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training of an image classifier from data set to weights, shared by the plugins `train` and
 * `finetune`. A plugin fills struct orch_training from its own parameters; results are reported
 * through its host under the metric names of ORCH_TRAINING_METRICS. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_H
#define ORCH_PLUGINS_COMMON_TRAINING_H

#include <orch/plugin.h>

struct orch_training_parts;

/** Parameters, embedded in the plugin's parameter struct (ORCH_TRAINING_PARAMS names its
 * members). */
struct orch_training {
    /* data */
    const char *dataset, *data_root;
    struct orch_list classes; /* int64_t; empty: all */
    int64_t per_class;        /* training images per class; 0: all */
    int64_t image_size;       /* folders: side of the images */
    int64_t val_images;       /* maximum validation images per epoch; 0: all */
    bool full_validation;     /* after the last epoch on all validation images */
    int64_t crop_pad;
    bool flip;
    struct orch_list transforms; /* const char *: "cutout 8"; instead of crop_pad and flip */
    /* network and optimization */
    const char *net;
    int64_t epochs, batch;
    double target_accuracy; /* the first epoch that reaches it is timed; 0: none */
    bool stop_at_target;    /* training stops after that epoch */
    double lr, momentum, weight_decay;
    bool nesterov;
    const char *optimizer;       /* of ORCH_TRAINING_OPTIMIZER_NAMES */
    const char *schedule;        /* of ORCH_TRAINING_SCHEDULE_NAMES */
    struct orch_list milestones; /* const char *: "30%" or "60" */
    double gamma, warmup_epochs;
    /* fast training (fast_params.h); zero is what a training without these parameters does */
    double lr_start, lr_end; /* shares of lr, in [0, 1]: where the warm-up begins, at the end */
    double label_smoothing;  /* in [0, 1) */
    double norm_bias_rate;   /* factor of the rate of batch norms' biases; 0 counts as 1 */
    bool freeze_norm_scale;  /* batch norms' scales keep their values */
    bool whiten;             /* the first convolution's filters whiten patches, and are frozen */
    double whiten_epsilon;   /* added to the variances, > 0 with whiten */
    const char *filter_init; /* of ORCH_TRAINING_FILTER_INIT_NAMES; NULL: usual */
    const char *average;     /* of ORCH_TRAINING_AVERAGE_NAMES; NULL: none */
    int64_t average_every;   /* steps between updates of the average, > 0 where there is one */
    double average_decay;    /* of a step, in [0, 1) */
    int64_t first_size;      /* side of the first images, which grow; 0: whole images */
    double growth;           /* share of the epochs in which they grow, in [0, 1] */
    bool flip_alternate;     /* flips alternate by epoch */
    bool pad_ahead;          /* images are padded once, not in each batch */
    double test_flip_below;  /* flip_below of validation, in [0, 1] */
    /* execution */
    const char *device, *precision;
    bool deterministic;
    const char *layout;              /* of ORCH_TRAINING_LAYOUT_NAMES */
    const char *data_path;           /* of ORCH_TRAINING_DATA_PATH_NAMES */
    const char *graphs;              /* of ORCH_TRAINING_GRAPHS_NAMES; NULL: auto */
    int64_t threads, loader_threads; /* 0: those of the slot */
    double checkpoint_every;         /* seconds; 0: after each epoch */
    /* transfer learning; not set by plugin train */
    const char *weights;          /* file with initial weights; NULL: from scratch */
    bool feature_extractor;       /* train only the head */
    bool cache_features;          /* compute the frozen body's outputs once, without augmentation */
    int64_t freeze;               /* layer groups below this keep their weights */
    struct orch_list layer_rates; /* double: learning-rate factor by layer group */
};

/** Rows of the parameter table for a struct with a member `t` of type struct orch_training. */
#define ORCH_TRAINING_ROW(owner, member, kind, ...)                                                \
    {                                                                                              \
        .name = #member, .type = (kind), .offset = offsetof(owner, t.member), __VA_ARGS__          \
    }

/** The rows of data, with the default of `transforms`. */
#define ORCH_TRAINING_DATA_PARAMS_OF(owner, transforms_default)                                    \
    ORCH_TRAINING_ROW(owner, dataset, ORCH_STRING, .label = "dataset", .def = "fashion-mnist",     \
                      .help =                                                                      \
                          "fashion-mnist, mnist, cifar10, cifar100, synthetic, or a folder of "    \
                          "images"),                                                               \
        ORCH_TRAINING_ROW(                                                                         \
            owner, data_root, ORCH_PATH, .label = "data folder",                                   \
            .flags = ORCH_PARAM_OPTIONAL | ORCH_PARAM_NEUTRAL,                                     \
            .help =                                                                                \
                "folder with the data set (default: $ORCH_DATA, the cache, /usr/share/datasets)"), \
        ORCH_TRAINING_ROW(owner, classes, ORCH_LIST | ORCH_INT, .label = "classes", .def = "[]",   \
                          .min = "0", .help = "use only these classes, renumbered; empty: all"),   \
        ORCH_TRAINING_ROW(owner, per_class, ORCH_INT, .label = "images per class", .def = "0",     \
                          .min = "0",                                                              \
                          .help = "training images of each class, drawn by the seed; 0: all"),     \
        ORCH_TRAINING_ROW(owner, image_size, ORCH_INT, .label = "image size", .def = "224",        \
                          .min = "8", .max = "1024", .unit = "pixels",                             \
                          .help = "side of the images of a folder"),                               \
        ORCH_TRAINING_ROW(owner, val_images, ORCH_INT, .label = "validation images",               \
                          .def = "1000", .min = "0",                                               \
                          .help = "images to validate on in each epoch; 0: all"),                  \
        ORCH_TRAINING_ROW(owner, full_validation, ORCH_BOOL, .label = "full validation",           \
                          .def = "true", .help = "validate on all images after the last epoch"),   \
        ORCH_TRAINING_ROW(                                                                         \
            owner, crop_pad, ORCH_INT, .label = "crop padding", .def = "0", .min = "0",            \
            .max = "64", .unit = "pixels",                                                         \
            .help = "pad the image and crop it at a random place, by up to this many pixels"),     \
        ORCH_TRAINING_ROW(owner, flip, ORCH_BOOL, .label = "flip", .def = "false",                 \
                          .help = "mirror every other image"),                                     \
        ORCH_TRAINING_ROW(                                                                         \
            owner, transforms, ORCH_LIST | ORCH_STRING, .label = "transforms",                     \
            .def = transforms_default,                                                             \
            .help =                                                                                \
                "instead of crop_pad and flip, e.g. [crop 4, flip, cutout 16] ('orch help data')")

#define ORCH_TRAINING_DATA_PARAMS(owner) ORCH_TRAINING_DATA_PARAMS_OF(owner, "[]")

/** The rows of optimization, with the defaults of `batch`, `lr` and `weight_decay`. */
#define ORCH_TRAINING_OPTIMIZER_PARAMS(owner, batch_default, lr_default, decay_default)            \
    ORCH_TRAINING_ROW(owner, batch, ORCH_INT, .label = "batch", .def = (batch_default),            \
                      .min = "1", .max = "65536", .unit = "images", .help = "batch size"),         \
        ORCH_TRAINING_ROW(owner, lr, ORCH_REAL, .label = "learning rate", .def = (lr_default),     \
                          .min = "0", .max = "100", .help = "learning rate at the start"),         \
        ORCH_TRAINING_ROW(owner, momentum, ORCH_REAL, .label = "momentum", .def = "0.9",           \
                          .min = "0", .max = "1", .help = "momentum of SGD and Muon"),             \
        ORCH_TRAINING_ROW(owner, weight_decay, ORCH_REAL, .label = "weight decay",                 \
                          .def = (decay_default), .min = "0", .max = "1",                          \
                          .help = "L2 penalty; decoupled in AdamW and Muon"),                      \
        ORCH_TRAINING_ROW(owner, nesterov, ORCH_BOOL, .label = "Nesterov momentum",                \
                          .def = "false", .help = "Nesterov's momentum"),                          \
        ORCH_TRAINING_ROW(                                                                         \
            owner, optimizer, ORCH_ENUM, .label = "optimizer", .def = "sgd",                       \
            .choices = ORCH_TRAINING_OPTIMIZER_NAMES,                                              \
            .help = "update rule; muon uses AdamW for biases, norms, first and last layer"),       \
        ORCH_TRAINING_ROW(owner, schedule, ORCH_ENUM, .label = "schedule", .def = "steps",         \
                          .choices = ORCH_TRAINING_SCHEDULE_NAMES,                                 \
                          .help = "learning rate schedule"),                                       \
        ORCH_TRAINING_ROW(owner, milestones, ORCH_LIST | ORCH_STRING, .label = "milestones",       \
                          .def = "[30%, 60%, 90%]",                                                \
                          .help = "schedule steps: when the rate drops, in epochs or per cent"),   \
        ORCH_TRAINING_ROW(owner, gamma, ORCH_REAL, .label = "gamma", .def = "0.1", .min = "0",     \
                          .max = "1", .help = "schedule steps: factor of each drop"),              \
        ORCH_TRAINING_ROW(owner, warmup_epochs, ORCH_REAL, .label = "warmup epochs", .def = "0",   \
                          .min = "0", .unit = "epochs",                                            \
                          .help = "epochs in which the learning rate rises from 0")

/** The rows of network and optimization, with the default of `net`. */
#define ORCH_TRAINING_NET_PARAMS_OF(owner, net_default)                                            \
    ORCH_TRAINING_ROW(owner, net, ORCH_STRING, .label = "network", .def = net_default,             \
                      .help = "a network of 'orch net ls'"),                                       \
        ORCH_TRAINING_ROW(owner, epochs, ORCH_INT, .label = "epochs", .def = "10", .min = "1",     \
                          .max = "100000", .unit = "epochs",                                       \
                          .help = "passes over the training images"),                              \
        ORCH_TRAINING_ROW(owner, target_accuracy, ORCH_REAL, .label = "target accuracy",           \
                          .def = "0", .min = "0", .max = "1",                                      \
                          .help = "val_accuracy to reach; 0: no target"),                          \
        ORCH_TRAINING_ROW(owner, stop_at_target, ORCH_BOOL, .label = "stop at target",             \
                          .def = "true",                                                           \
                          .help = "stop at target_accuracy; false: train all epochs"),             \
        ORCH_TRAINING_OPTIMIZER_PARAMS(owner, "64", "0.1", "0.0001")

#define ORCH_TRAINING_NET_PARAMS(owner) ORCH_TRAINING_NET_PARAMS_OF(owner, "resnet20")

/** The rows of the device. */
#define ORCH_TRAINING_DEVICE_PARAMS(owner)                                                         \
    ORCH_TRAINING_ROW(owner, device, ORCH_STRING, .label = "device", .def = "auto",                \
                      .help = "auto (a GPU when the trial has one), cpu, cuda, cuda:N"),           \
        ORCH_TRAINING_ROW(                                                                         \
            owner, precision, ORCH_ENUM, .label = "precision", .def = "fp32",                      \
            .choices = ORCH_TRAINING_PRECISION_NAMES,                                              \
            .help = "precision of convolutions and matrix products; fp32 means tf32 on GPUs that " \
                    "have it, fp32-ieee does not; auto: bf16 if the device has it, else fp32"),    \
        ORCH_TRAINING_ROW(owner, deterministic, ORCH_BOOL, .label = "deterministic",               \
                          .def = "false",                                                          \
                          .help = "on a GPU use only deterministic algorithms, which are slower"), \
        ORCH_TRAINING_ROW(owner, layout, ORCH_ENUM, .label = "layout", .def = "auto",              \
                          .choices = ORCH_TRAINING_LAYOUT_NAMES,                                   \
                          .help = "memory layout of images; auto: the faster one, measured once")

/** The rows of threads. */
#define ORCH_TRAINING_THREAD_PARAMS(owner)                                                         \
    ORCH_TRAINING_ROW(owner, threads, ORCH_INT, .label = "threads", .def = "0", .min = "0",        \
                      .max = "1024", .flags = ORCH_PARAM_NEUTRAL,                                  \
                      .help = "processor threads; 0: as many as the trial's slot has"),            \
        ORCH_TRAINING_ROW(owner, loader_threads, ORCH_INT, .label = "loader threads", .def = "1",  \
                          .min = "0", .max = "64", .flags = ORCH_PARAM_NEUTRAL,                    \
                          .help = "threads that make batches")

/** The rows of where and how it runs, of a training that is never resumed and not replayed. */
#define ORCH_TRAINING_PLACE_PARAMS(owner)                                                          \
    ORCH_TRAINING_DEVICE_PARAMS(owner),                                                            \
        ORCH_TRAINING_ROW(                                                                         \
            owner, data_path, ORCH_ENUM, .label = "data path", .def = "auto",                      \
            .choices = ORCH_TRAINING_DATA_PATH_NAMES, .flags = ORCH_PARAM_NEUTRAL,                 \
            .help = "where batches are made; auto: on the GPU if the data set fits there"),        \
        ORCH_TRAINING_THREAD_PARAMS(owner)

/** The row of checkpoints. */
#define ORCH_TRAINING_CHECKPOINT_PARAM(owner)                                                      \
    ORCH_TRAINING_ROW(owner, checkpoint_every, ORCH_DURATION, .label = "time between checkpoints", \
                      .def = "30s", .min = "0", .flags = ORCH_PARAM_NEUTRAL,                       \
                      .help = "shortest time between checkpoints; 0: one after each epoch")

#define ORCH_TRAINING_RUN_PARAMS(owner)                                                            \
    ORCH_TRAINING_PLACE_PARAMS(owner),                                                             \
        ORCH_TRAINING_ROW(owner, graphs, ORCH_ENUM, .label = "graphs", .def = "auto",              \
                          .choices = ORCH_TRAINING_GRAPHS_NAMES,                                   \
                          .help = "run steps as CUDA graphs; auto: on a GPU whose LibTorch can"),  \
        ORCH_TRAINING_CHECKPOINT_PARAM(owner)

#define ORCH_TRAINING_OPTIMIZER_NAMES ((const char *const[]){"sgd", "adam", "adamw", "muon", NULL})
#define ORCH_TRAINING_SCHEDULE_NAMES                                                               \
    ((const char *const[]){"steps", "cosine", "linear", "constant", NULL})
#define ORCH_TRAINING_LAYOUT_NAMES ((const char *const[]){"auto", "plain", "channels_last", NULL})
#define ORCH_TRAINING_DATA_PATH_NAMES ((const char *const[]){"auto", "cpu", "gpu", NULL})
#define ORCH_TRAINING_GRAPHS_NAMES ((const char *const[]){"auto", "on", "off", NULL})
#define ORCH_TRAINING_PRECISION_NAMES                                                              \
    ((const char *const[]){"fp32", "fp32-ieee", "tf32", "bf16", "fp16", "auto", NULL})

/** Rows of the metric table: series by epoch, and results. */
#define ORCH_TRAINING_METRICS                                                                      \
    {.name = "train_loss",                                                                         \
     .label = "training loss",                                                                     \
     .min = "0",                                                                                   \
     .better = ORCH_BETTER_MIN,                                                                    \
     .step_unit = "epoch",                                                                         \
     .help = "mean cross-entropy of the epoch's batches"},                                         \
        {.name = "step_loss",                                                                      \
         .label = "step loss",                                                                     \
         .min = "0",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .step_unit = "step",                                                                      \
         .help = "mean cross-entropy of the steps since the previous point"},                      \
        {.name = "train_accuracy",                                                                 \
         .label = "training accuracy",                                                             \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MAX,                                                                \
         .step_unit = "epoch",                                                                     \
         .help = "share of the epoch's training images that were right"},                          \
        {.name = "val_loss",                                                                       \
         .label = "validation loss",                                                               \
         .min = "0",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .step_unit = "epoch",                                                                     \
         .help = "mean cross-entropy of the validation images"},                                   \
        {.name = "val_accuracy",                                                                   \
         .label = "validation accuracy",                                                           \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MAX,                                                                \
         .step_unit = "epoch",                                                                     \
         .help = "share of the validation images that are right"},                                 \
        {.name = "val_error",                                                                      \
         .label = "validation error",                                                              \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .step_unit = "epoch",                                                                     \
         .help = "1 - val_accuracy"},                                                              \
        {.name = "epoch_time",                                                                     \
         .label = "epoch time",                                                                    \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .step_unit = "epoch",                                                                     \
         .help = "training part of the epoch, loading included"},                                  \
        {.name = "images_per_s",                                                                   \
         .label = "throughput",                                                                    \
         .min = "0",                                                                               \
         .unit = "images/s",                                                                       \
         .better = ORCH_BETTER_MAX,                                                                \
         .step_unit = "epoch",                                                                     \
         .help = "training throughput of the epoch"},                                              \
        {.name = "lr",                                                                             \
         .label = "learning rate",                                                                 \
         .step_unit = "epoch",                                                                     \
         .help = "learning rate at the epoch's start"},                                            \
        {.name = "final_accuracy",                                                                 \
         .label = "final accuracy",                                                                \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MAX,                                                                \
         .help = "val_accuracy after the last epoch"},                                             \
        {.name = "final_loss",                                                                     \
         .label = "final loss",                                                                    \
         .min = "0",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "val_loss after the last epoch"},                                                 \
        {.name = "full_accuracy",                                                                  \
         .label = "full accuracy",                                                                 \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MAX,                                                                \
         .help = "share of all validation images that are right after the last epoch"},            \
        {.name = "full_loss",                                                                      \
         .label = "full loss",                                                                     \
         .min = "0",                                                                               \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "mean cross-entropy of all validation images after the last epoch"},              \
        {.name = "best_accuracy",                                                                  \
         .label = "best accuracy",                                                                 \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MAX,                                                                \
         .help = "val_accuracy of the best epoch"},                                                \
        {.name = "best_epoch", .label = "best epoch", .help = "the epoch of best_accuracy"},       \
        {.name = "training_time",                                                                  \
         .label = "training time",                                                                 \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "training time of all epochs, without validation"},                               \
        {.name = "validation_time",                                                                \
         .label = "validation time",                                                               \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "validation time of all epochs"},                                                 \
        {.name = "reached_target",                                                                 \
         .label = "reached target",                                                                \
         .min = "0",                                                                               \
         .max = "1",                                                                               \
         .better = ORCH_BETTER_MAX,                                                                \
         .help = "1: val_accuracy reached target_accuracy, 0: it did not"},                        \
        {.name = "time_to_accuracy",                                                               \
         .label = "time to accuracy",                                                              \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "training time until val_accuracy reached target_accuracy, without validation"},  \
        {.name = "time_to_accuracy_with_validation",                                               \
         .label = "time to accuracy with validation",                                              \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "time_to_accuracy, with the validation of these epochs"},                         \
        {.name = "epochs_to_accuracy",                                                             \
         .label = "epochs to accuracy",                                                            \
         .min = "0",                                                                               \
         .unit = "epochs",                                                                         \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "epochs until val_accuracy reached target_accuracy"},                             \
        {.name = "feature_time",                                                                   \
         .label = "feature time",                                                                  \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "time to compute the frozen layers' outputs once"},                               \
        {.name = "whitening_time",                                                                 \
         .label = "whitening time",                                                                \
         .min = "0",                                                                               \
         .unit = "s",                                                                              \
         .better = ORCH_BETTER_MIN,                                                                \
         .help = "time to compute the whitening filters, part of training_time"},                  \
        {.name = "params", .label = "parameters", .help = "parameters of the network"},            \
        {.name = "trained_params",                                                                 \
         .label = "trained parameters",                                                            \
         .help = "parameters that learn"},                                                         \
        {.name = "channels_last",                                                                  \
         .label = "channels last",                                                                 \
         .help = "memory layout of images: 1: channels-last, 0: plain"},                           \
        {.name = "gpu_data_path",                                                                  \
         .label = "GPU data path",                                                                 \
         .help = "where batches of images are made: 1 on the GPU, 0 on the processor"},            \
        {.name = "cuda_graphs",                                                                    \
         .label = "CUDA graphs",                                                                   \
         .help = "1: steps were replayed as CUDA graphs, 0: they were not"},                       \
        {.name = "class_count", .label = "number of classes", .help = "classes"},                  \
        {.name = "train_images",                                                                   \
         .label = "training images",                                                               \
         .min = "0",                                                                               \
         .unit = "images",                                                                         \
         .help = "training images"},                                                               \
        {.name = "epoch_val_images",                                                               \
         .label = "validation images per epoch",                                                   \
         .min = "0",                                                                               \
         .unit = "images",                                                                         \
         .help = "validation images of each epoch"},                                               \
        {.name = "val_images_total",                                                               \
         .label = "validation images",                                                             \
         .min = "0",                                                                               \
         .unit = "images",                                                                         \
         .help = "all validation images"},                                                         \
        {.name = "image_channels",                                                                 \
         .label = "image channels",                                                                \
         .unit = "channels",                                                                       \
         .help = "channels of an image: 1 grey, 3 colour"},                                        \
        {.name = "image_height",                                                                   \
         .label = "image height",                                                                  \
         .unit = "pixels",                                                                         \
         .help = "height of the images that the network is trained on"},                           \
        {.name = "image_width", .label = "image width", .unit = "pixels"},                         \
        {.name = "class_images_min",                                                               \
         .label = "images of the rarest class",                                                    \
         .min = "0",                                                                               \
         .unit = "images",                                                                         \
         .help = "training images of the rarest class"},                                           \
    {                                                                                              \
        .name = "class_images_max", .label = "images of the most frequent class", .min = "0",      \
        .unit = "images", .help = "training images of the most frequent class"                     \
    }

/** Rows of the artifact table. */
#define ORCH_TRAINING_ARTIFACTS                                                                    \
    {.name = "weights", .help = "the network after the last epoch, safetensors"},                  \
        {.name = "classes", .help = "images of each class, CSV"},                                  \
    {                                                                                              \
        .name = "samples", .help = "4 training images of each of 2 classes, PNG"                   \
    }

/** The entries of a training plugin's descriptor that are the same in all of them: its parameter
 * struct `owner`, and the tables PARAMS, METRICS and ARTIFACTS and the functions check, cost, start
 * and run of its file. Name, version, summary and `close` are the plugin's own. */
#define ORCH_TRAINING_PLUGIN(owner)                                                                \
    ORCH_PLUGIN_HEAD, .licence = "GPL-3.0-or-later", .params_bytes = sizeof(owner),                \
                      ORCH_TABLE(params, PARAMS), ORCH_TABLE(metrics, METRICS),                    \
                      ORCH_TABLE(artifacts, ARTIFACTS), .check = check, .cost = cost,              \
                      .open = start, .run = run

/** The plugin's hooks. `check` names the data set's files with their digests. All report errors
 * through the host. */
int orch_training_check(const struct orch_training *training, const struct orch_host *host);
int orch_training_cost(const struct orch_training *training, struct orch_cost *out);
int orch_training_open(const struct orch_training *training, const struct orch_host *host,
                       void **out_state);
int orch_training_run(void *state, const struct orch_host *host);
/** orch_training_run with a feed, a step or observers of the plugin's own (epochs.h). */
int orch_training_run_with(void *state, const struct orch_host *host,
                           const struct orch_training_parts *parts);
void orch_training_close(void *state);

#endif
