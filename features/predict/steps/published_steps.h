/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps that others measured and published: share/measured/steps.csv, which bench/basis.py makes
 * and which is built in. */
#ifndef ORCH_FEATURES_PREDICT_PUBLISHED_STEPS_H
#define ORCH_FEATURES_PREDICT_PUBLISHED_STEPS_H

#include "lib/devices/gpus.h"

/** Where published steps are from. */
struct orch_published_source {
    const char *name;    /* short: "timm" */
    const char *by;      /* as a sentence names it */
    const char *where;   /* repository, commit and path */
    const char *licence; /* "none; facts only": the publication states none */
    const char *date;    /* of the publication, or "" */
};

struct orch_published_step {
    const struct orch_published_source *source;
    const char *source_name; /* that of `source` */
    const struct orch_gpu_spec *gpu;
    const char *gpu_name;    /* that of `gpu` */
    const char *net, *input; /* of the zoo; "3x224x224" */
    int mode;                /* 0: training, 1: inference */
    int precision;           /* enum orch_precision, as orch_precision_run maps it on the GPU */
    int batch, workers;      /* images per worker */
    double step_ms;
    const char *software;
    const char *date; /* "2021-10": of the software, or of the publication if that is unknown */
};

/** The built-in table: struct orch_published_step *, sorted by source and GPU. Borrowed. */
const GPtrArray *orch_published_steps(void);
/** The built-in sources: struct orch_published_source *. Borrowed. */
const GPtrArray *orch_published_sources(void);

#endif
