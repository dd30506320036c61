/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict`: the question, as settled from options and assumptions, and the models that
 * answer it. Times are in seconds (PALEO's own output in milliseconds), money in USD. */
#ifndef ORCH_CORE_CLI_PREDICT_H
#define ORCH_CORE_CLI_PREDICT_H

#include "core/cli/cli.h"
#include "core/forecast/time_question.h"

struct predict_options {
    const char *gpu, *net, *net_table, *input, *dataset, *precision, *optimizer, *model;
    const char *batches, *workers, *scaling, *network, *scheme, *cloud, *format;
    const char *epochs, *ppp_comp, *ppp_comm, *algorithm, *parallel;
    const char **split;
    const char *classes, *per_node_text, *price_text;
    const char *threads, *budget, *deadline, *pareto;
    const char **calibrate;
    bool pipeline, spot, forward_only, layers, overlap, all_layers, explain, score;

    /* of --curve */
    const char *where, *metric, *accuracy_metric, *target_loss, *target_accuracy, *form, *weights,
        *outliers;
    bool curve, normalised;
};

/** Fills in the question, except the device, from the options. False with an error that names the
 * option. The caller releases it with orch_time_question_release, also after an error. */
bool predict_question(struct orch_time_question *q, const struct predict_options *o,
                      GError **error);
/** Prints the assumptions as text, one per line. */
void predict_say_assumptions(const struct orch_time_question *q);

/* The models. Each prints its answer and returns an exit status, or -1 with an error. */
/** The step-time model; tiers in order: measured, fitted, transferred, prior. */
int predict_step(struct orch_cli *cli, const struct predict_options *o,
                 struct orch_time_question *q, GError **error);
/** The same for all GPUs, ranked, with the Pareto set of time and cost. */
int predict_rank(struct orch_cli *cli, const struct predict_options *o,
                 struct orch_time_question *q, GError **error);
int predict_paleo(struct orch_cli *cli, const struct predict_options *o,
                  struct orch_time_question *q, GError **error);
/** --curve: uses the runs that the arguments and --where select. It needs no question. */
int predict_curve(struct orch_cli *cli, const struct predict_options *o, GError **error);
int predict_roofline(struct orch_cli *cli, const struct predict_options *o,
                     struct orch_time_question *q, GError **error);

#endif
