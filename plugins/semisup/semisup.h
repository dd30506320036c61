/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of plugin semisup share: its parameters and the state of a trial. */
#ifndef ORCH_PLUGINS_SEMISUP_SEMISUP_H
#define ORCH_PLUGINS_SEMISUP_SEMISUP_H

#include "plugins/common/training/session.h"
#include "plugins/common/training/training.h"

struct orch_semisup_params {
    struct orch_training t; /* of the last stage: the student on the labelled images */
    const char *supervision;
    int64_t labelled, unlabelled;
    int64_t k, p;
    const char *teacher, *teacher_net; /* NULL: trained here; NULL: the student's */
    int64_t teacher_steps;
    double teacher_lr;
    double noise, tail;
    const char *resampling;
    int64_t pretrain_steps;
    double pretrain_lr;
    bool new_head;
};

enum orch_supervision { ORCH_SUPERVISION_SEMI, ORCH_SUPERVISION_WEAK, ORCH_SUPERVISION_LABELS };

struct orch_semisup {
    const struct orch_semisup_params *params; /* borrowed */
    enum orch_supervision supervision;
    struct orch_session *session;   /* the student's; its training images are the labelled ones */
    struct orch_subset *unlabelled; /* the other training images, with their true labels */
    int64_t k;                      /* params->k; in a smoke run at most the number of images */
    struct orch_session teacher;    /* supervision semi; else zero */
    bool has_diverged;              /* the loss of a stage was not finite */
};

#endif
