/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers questions about the loss curves of stored runs: their fits, when they reach a target, and
 * the curve of a network that was not run. */
#ifndef ORCH_FEATURES_CURVE_CURVE_ANSWER_H
#define ORCH_FEATURES_CURVE_CURVE_ANSWER_H

#include "features/curve/predicted_curve.h"

struct orch_curve_ask {
    struct orch_curve_request series; /* which series */
    enum orch_curve_choice choice;
    struct orch_curve_options fit;
    double loss, accuracy;                   /* targets; NaN: not asked for */
    int64_t epochs;                          /* the loss after so many epochs; 0: not asked for */
    const struct orch_curve_question *other; /* a network that was not run; NULL: none */
};

struct orch_curve_answer {
    GPtrArray *curves;  /* struct orch_run_curve * */
    GArray *results;    /* struct orch_curve_result, one for each curve */
    GPtrArray *refused; /* struct orch_run_curve *: without a fit, with targets */
    GPtrArray *places;  /* char *: where each run was made, borrowed */
    struct orch_predicted_curve *predicted; /* NULL: not asked for */
    struct orch_isotonic *bridge; /* accuracy as a function of loss; NULL: not asked for */
    double bridge_loss;           /* loss at which accuracy reaches the target; NaN: never */
    bool has_errors;              /* standard errors of the parameters are valid */
    unsigned without;             /* runs left out because they have no such series */
};

/** The runs that `names` (`count` keys, @last or filters) and `filter` (or NULL) select, struct
 * orch_run *. NULL with an error when nothing is selected. The caller unrefs. */
GPtrArray *orch_curve_runs(struct orch_store *store, const char *const *names, int count,
                           const char *filter, GError **error);

/** Reads and fits the curves of `runs` (struct orch_run *) and answers the question. Of several
 * runs, those without a usable curve are left out; it is an error when none has one. `warnings`
 * (char *) gets a line for each run that was left out or has points that are not finite;
 * `net_notes` is as in orch_network_open. The caller frees. */
struct orch_curve_answer *orch_curve_answer_new(struct orch_plugins *plugins,
                                                struct orch_store *store, const GPtrArray *runs,
                                                const struct orch_curve_ask *ask,
                                                GPtrArray *warnings, GPtrArray *net_notes,
                                                GError **error);
void orch_curve_answer_free(struct orch_curve_answer *answer);

/** When one curve reaches one target. Unknown numbers are NaN. */
struct orch_curve_target {
    const char *key; /* of the run, or the name of the network that was not run. Borrowed */
    char *target;    /* "loss 0.3", "accuracy 0.9", "40 epochs" */
    double loss;     /* at the target; NaN: not known, as of an accuracy that no loss stands for */
    double steps, epochs, seconds;
    struct orch_interval step; /* 90 % interval of `steps` where it is a forecast; NaN: unknown.
                                  high is infinite when the interval has no end */
    struct orch_interval at;   /* of "40 epochs": 90 % interval of the loss; else NaN */
    double seen_epoch;         /* the first epoch at which the run itself reached the accuracy */
    const char *why_not;       /* why the target is not reached; NULL: it is */
};
/** All curves with all targets, struct orch_curve_target *. The caller unrefs. */
GPtrArray *orch_curve_answer_targets(const struct orch_curve_answer *answer,
                                     const struct orch_curve_ask *ask);

struct orch_cli;
/** Prints the answer in a format of orch_cli_table_print_as, or NULL; under --json as an object
 * (curve_show.c). */
void orch_cli_curve_print(struct orch_cli *cli, const struct orch_curve_answer *answer,
                          const struct orch_curve_ask *ask, const char *format);

#endif
