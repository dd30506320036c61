/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fastest trainings of small networks use beside a good schedule (Page 2019, "How to train
 * your ResNet"; Jordan 2024, "94% on CIFAR-10 in 3.29 seconds", arXiv 2404.00498), as parameters of
 * a plugin that trains from scratch. Their defaults change nothing. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_FAST_PARAMS_H
#define ORCH_PLUGINS_COMMON_TRAINING_FAST_PARAMS_H

#include "plugins/common/training/training.h"

#define ORCH_TRAINING_FILTER_INIT_NAMES ((const char *const[]){"usual", "dirac", NULL})
#define ORCH_TRAINING_AVERAGE_NAMES ((const char *const[]){"none", "ema", "lookahead", NULL})

/** Rows of the parameter table for a struct with a member `t` of type struct orch_training. */
#define ORCH_TRAINING_FAST_PARAMS(owner)                                                           \
    ORCH_TRAINING_ROW(owner, lr_start, ORCH_REAL, .label = "first learning rate", .def = "0",      \
                      .min = "0", .max = "1", .help = "share of lr at which the warm-up begins"),  \
        ORCH_TRAINING_ROW(owner, lr_end, ORCH_REAL, .label = "last learning rate", .def = "0",     \
                          .min = "0", .max = "1",                                                  \
                          .help = "schedules cosine and linear: share of lr at the end"),          \
        ORCH_TRAINING_ROW(                                                                         \
            owner, layer_rates, ORCH_LIST | ORCH_REAL, .label = "layer rates", .def = "[]",        \
            .min = "0",                                                                            \
            .help = "learning rate factors of layer groups from the input on, e.g. [0.1, 1]"),     \
        ORCH_TRAINING_ROW(owner, label_smoothing, ORCH_REAL, .label = "label smoothing",           \
                          .def = "0", .min = "0", .max = "0.99",                                   \
                          .help =                                                                  \
                              "share of each label that is spread over all classes, in training"), \
        ORCH_TRAINING_ROW(owner, norm_bias_rate, ORCH_REAL, .label = "rate of norms and biases",   \
                          .def = "1", .min = "0.001", .max = "1000",                               \
                          .help = "factor of the learning rate of batch norms' biases"),           \
        ORCH_TRAINING_ROW(owner, freeze_norm_scale, ORCH_BOOL, .label = "freeze norm scale",       \
                          .def = "false", .help = "keep the scales of batch norms at 1"),          \
        ORCH_TRAINING_ROW(owner, whiten, ORCH_BOOL, .label = "whiten", .def = "false",             \
                          .help = "start with fixed filters that whiten the training images"),     \
        ORCH_TRAINING_ROW(owner, whiten_epsilon, ORCH_REAL, .label = "epsilon of the whitening",   \
                          .def = "0.0005", .min = "1e-9", .max = "1000",                           \
                          .help =                                                                  \
                              "whiten: constant that is added to the variance of each direction"), \
        ORCH_TRAINING_ROW(owner, filter_init, ORCH_ENUM, .label = "filter init", .def = "usual",   \
                          .choices = ORCH_TRAINING_FILTER_INIT_NAMES,                              \
                          .help = "dirac: the first filters of a convolution pass its inputs on "  \
                                  "unchanged"),                                                    \
        ORCH_TRAINING_ROW(owner, average, ORCH_ENUM, .label = "average", .def = "none",            \
                          .choices = ORCH_TRAINING_AVERAGE_NAMES,                                  \
                          .help = "validate and save an average of the weights over the steps; "   \
                                  "lookahead: training goes on from it"),                          \
        ORCH_TRAINING_ROW(owner, average_every, ORCH_INT, .label = "average every", .def = "5",    \
                          .min = "1", .max = "100000", .unit = "steps",                            \
                          .help = "steps between updates of the average"),                         \
        ORCH_TRAINING_ROW(owner, average_decay, ORCH_REAL, .label = "average decay",               \
                          .def = "0.95", .min = "0", .max = "0.99999",                             \
                          .help = "weight of the average after a step; lookahead: at the end"),    \
        ORCH_TRAINING_ROW(owner, first_size, ORCH_INT, .label = "first size", .def = "0",          \
                          .min = "0", .max = "4096", .unit = "pixels",                             \
                          .help = "side of the images at the start; 0: their own"),                \
        ORCH_TRAINING_ROW(owner, growth, ORCH_REAL, .label = "growth", .def = "0.5", .min = "0",   \
                          .max = "1",                                                              \
                          .help = "first_size: share of the epochs in which images grow to "       \
                                  "their whole size"),                                             \
        ORCH_TRAINING_ROW(                                                                         \
            owner, flip_alternate, ORCH_BOOL, .label = "flip alternate", .def = "false",           \
            .help = "an image that is flipped in one epoch is not flipped in the next"),           \
        ORCH_TRAINING_ROW(owner, pad_ahead, ORCH_BOOL, .label = "pad ahead", .def = "false",       \
                          .flags = ORCH_PARAM_NEUTRAL,                                             \
                          .help =                                                                  \
                              "pad all images once for their crops; the batches stay the same"),   \
        ORCH_TRAINING_ROW(owner, test_flip_below, ORCH_REAL, .label = "test flip below",           \
                          .def = "0", .min = "0", .max = "1",                                      \
                          .help = "validate with the mirror image, too, if the best probability "  \
                                  "is at most this; 0: never")

#endif
