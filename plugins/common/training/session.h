/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a training holds while it runs: data, network, model with its optimizer, seeds and device.
 */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_SESSION_H
#define ORCH_PLUGINS_COMMON_TRAINING_SESSION_H

#include "plugins/common/data/image_set.h"
#include "plugins/common/schedule/lr_schedule.h"
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/training.h"

struct orch_net;

/** What a model is made for. */
struct orch_session_data {
    int channels, height, width; /* of an image */
    int64_t classes;             /* of the network, with the background of a detector */
    int64_t images;              /* training images */
};

struct orch_session {
    const struct orch_training *training; /* borrowed */
    const struct orch_host *host;
    const struct orch_torch *torch;
    const char *device; /* "cpu", "cuda", "cuda:1" */
    struct orch_session_data data;
    /* NULL in a session of orch_session_open_on, whose caller has data of its own */
    struct orch_image_set *train_set, *val_set;
    struct orch_subset *train, *val;
    struct orch_subset *val_part; /* the validation images of each epoch: a part of `val` */
    struct orch_net *net;
    struct orch_torch_setup setup; /* of the model */
    struct orch_torch_model *model;
    struct orch_torch_model *average; /* the average of its weights (average.h), or NULL */
    double prepare_s;                 /* computing whitening filters; part of the training's time */
    bool channels_last;               /* the model's memory layout */
    /* the data sets in the memory of the GPU, where their batches are made there; else NULL */
    struct orch_torch_images *train_images, *val_images;
    struct orch_schedule schedule;
    int64_t epochs; /* 1 in a smoke run */
    int64_t batch;  /* at most 16 in a smoke run */
};

/** Reads the data, loads LibTorch, and builds the model with its initial or given weights and its
 * optimizer. `training` must outlive the session. On failure reports it to the host and returns its
 * status: ORCH_SKIPPED where the training asks for a CUDA device and there is none, else
 * ORCH_FAILED; then there is no session. Free with orch_session_close. */
int orch_session_open(const struct orch_training *training, const struct orch_host *host,
                      struct orch_session **out);
/** Called between reading the data and building the network; may replace or relabel the session's
 * subsets, whose class count decides the network's. `session` has data, `torch` and `device`, no
 * model yet. */
typedef bool (*orch_session_prepare)(void *ctx, struct orch_session *session, GError **error);
/** orch_session_open with a call of `prepare` (may be NULL). */
int orch_session_open_with(const struct orch_training *training, const struct orch_host *host,
                           orch_session_prepare prepare, void *ctx, struct orch_session **out);
/** Called in place of reading an image set: reads data of the caller's and fills `out`. `session`
 * has training, host, epochs and batch. */
typedef bool (*orch_session_read)(void *ctx, const struct orch_session *session,
                                  struct orch_session_data *out, GError **error);
/** orch_session_open for data that are no image set with labels. The weights that the parameters
 * name are not loaded: the caller does so where it has judged them. */
int orch_session_open_on(const struct orch_training *training, const struct orch_host *host,
                         orch_session_read read, void *ctx, struct orch_session **out);
void orch_session_close(struct orch_session *session);

/** Fills `out` with a session for another network on the data, device and settings of `session`,
 * which must outlive it: with a model of its own, whose initial weights are drawn from the trial's
 * stream `stream`, and an optimizer as the session's. Its batches are made by the processor. Fails
 * for an unknown network. End with orch_session_release. */
bool orch_session_of_net(const struct orch_session *session, const char *net, const char *stream,
                         struct orch_session *out, GError **error);
/** Frees the model and network of orch_session_of_net; zeroed memory is allowed. */
void orch_session_release(struct orch_session *other);

#endif
