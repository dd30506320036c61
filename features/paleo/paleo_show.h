/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two answers of `orch paleo`: PALEO's own numbers, and the roofline bound. */
#ifndef ORCH_FEATURES_PALEO_PALEO_SHOW_H
#define ORCH_FEATURES_PALEO_PALEO_SHOW_H

#include "features/predict/time_options.h"

struct paleo_options {
    struct time_options time;
    const char *algorithm, *parallel, *format, *chart;
    const char **split;
    bool pipeline, overlap, all_layers;
    bool roofline, layers;
};

/* Both print their answer and return an exit status, or -1 with an error. */
int orch_cli_paleo_show(struct orch_cli *cli, const struct paleo_options *o,
                        struct orch_time_question *q, GError **error);
/** The lower bound by batch, or with --layers by layer (roofline_show.c). */
int orch_cli_roofline_show(struct orch_cli *cli, const struct paleo_options *o,
                           struct orch_time_question *q, GError **error);

#endif
