/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of plugin detect, and what they share. */
#ifndef ORCH_DETECT_H
#define ORCH_DETECT_H

#include "plugins/common/boxes/box_score.h"
#include "plugins/common/boxes/multibox_loss.h"
#include "plugins/common/training/epochs.h"
#include "plugins/detect/detector.h"
#include "plugins/detect/object_data.h"

#include <string.h>

struct detect_params {
    struct orch_training t;
    const char *mode;                  /* full, feature, test */
    struct orch_list classes;          /* const char *; empty: all */
    struct orch_list transforms;       /* const char * */
    int64_t train_images, test_images; /* 0: all */
    int64_t data_seed;
    bool with_empty, with_groups, without_truncated, skip_bad; /* as in struct orch_scene_options */
    bool new_head;
    double match_iou, negatives; /* of the loss */
    double score, nms_iou;       /* of detections */
    int64_t candidates, per_class;
};

/** Sums of the two parts of the loss over images. */
struct orch_loss_sums {
    double location, confidence;
    int64_t images;
};

/** True in this mode: full, feature or test. */
static inline bool orch_detect_is_mode(const struct detect_params *params, const char *mode)
{
    return strcmp(params->mode, mode) == 0;
}

/** A trial. */
struct orch_detect {
    const struct detect_params *params;
    struct orch_training training; /* with what the mode decides */
    struct orch_object_data *data;
    bool is_data_absent; /* a published set that is not on this machine */
    struct orch_session *session;
    struct orch_detector *detector;
    /* the objects of the batch that the feed gave last; they belong to it */
    struct orch_box_batch objects;
    struct orch_loss_sums train, val; /* of the epoch so far, and of the last validation */
    double val_map_area;              /* of the last validation; NaN: none */
    double *class_before; /* average precision of each class before training; NULL: not measured */
};

/** Loads the trial's weights, by the names of tensors and of classes. */
bool orch_detect_load(struct orch_detect *detect, GError **error);
/** Adds to weights what another run or program needs to use them: names of the classes, the size
 * and the normalisation of images. */
bool orch_detect_label(const struct orch_detect *detect, struct orch_weights *weights,
                       GError **error);

/** The feed of training batches, and the step that learns from one of them. */
struct orch_feed *orch_detect_feed(struct orch_detect *detect, GError **error);
struct orch_step *orch_detect_step(struct orch_detect *detect);

/** Batch size of measurements on validation images. */
enum { ORCH_DETECT_MEASURED_BATCH = 32 };
/** The result of a measurement on validation images. */
struct orch_detect_measured {
    struct orch_loss_sums loss;
    struct orch_box_score *score; /* freed with orch_box_score_free */
    double map_2007, map_area;    /* NaN: there was no object */
    bool is_cancelled;            /* the other members are of a part of the images */
};
/** Measures on the validation images: on all, which ends early when the trial is cancelled, or on
 * those of each epoch. In mode test it reports the trial's progress. */
bool orch_detect_measure(struct orch_detect *detect, bool on_all, struct orch_detect_measured *out,
                         GError **error);
/** Reports what was measured on all validation images, and writes the artifact `classes`. */
bool orch_detect_report(struct orch_detect *detect, const struct orch_detect_measured *measured,
                        GError **error);

/** Writes the artifact `samples`. */
bool orch_detect_samples(struct orch_detect *detect, GError **error);

#endif
