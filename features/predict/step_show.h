/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the estimates of `orch predict`. */
#ifndef ORCH_FEATURES_PREDICT_STEP_SHOW_H
#define ORCH_FEATURES_PREDICT_STEP_SHOW_H

#include "features/predict/step_answer.h"
#include "features/predict/time_options.h"
#include "lib/base/interval.h"

struct predict_options {
    struct time_options time;
    const char *budget, *deadline, *pareto, *format;
    const char *experiment, **sweeps;
    bool explain;
};

/* Each prints its answer and returns an exit status, or -1 with an error. */
/** The forecast for one device (predict_step.c). */
int orch_cli_predict_step(struct orch_cli *cli, const struct predict_options *o,
                          struct orch_time_question *q, GError **error);
/** The forecasts for all GPUs, ranked, with the Pareto set of time and cost
 * (predict_rank.c). */
int orch_cli_predict_rank(struct orch_cli *cli, const struct predict_options *o,
                          struct orch_time_question *q, GError **error);
/** The wall time of an experiment's settings (predict_setting.c). */
int orch_cli_predict_setting(struct orch_cli *cli, const struct predict_options *o, GError **error);

/** A table whose column ">images/s" is named after the samples of the question: sequences of a
 * transformer. `headers` is NULL-terminated. Free with orch_table_free. */
struct orch_table *orch_cli_rate_table_new(const struct orch_time_question *q,
                                           const char *const *headers);
/** Formats a range of times: "1 h to 2 h"; "-" for NaN. The caller frees. */
char *orch_cli_span_format(struct orch_interval interval);
void orch_cli_add_duration(struct orch_table *table, double seconds);
void orch_cli_add_money(struct orch_table *table, double usd);

/** Prints the explanation from orch_step_answer_explain as text (explain_show.c). */
void orch_cli_explain_show(const json_t *explanation);
/** Calls orch_step_tiers_open for the store of the current folder. A missing store is an error only
 * when the question or --db requires it. Prints warnings. */
bool orch_cli_predict_open_tiers(struct orch_cli *cli, const struct orch_time_question *q,
                                 struct orch_step_tiers *out, GError **error);

#endif
