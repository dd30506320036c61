/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Learns to predict times from measured rows: selects models and hyperparameters, weights them in
 * an ensemble, and calibrates an interval on held-out rows.
 *
 * The best model for a measured GPU and network need not be the best for an unseen one. So up to
 * four questions are learned (rows like those measured, unseen GPUs, unseen networks, more GPUs
 * than measured), each with its own folds, ensemble and interval. A row to predict is answered by
 * the question that applies, depending on whether its GPU and network were measured.
 */
#ifndef ORCH_PREDICTORS_LEARN_H
#define ORCH_PREDICTORS_LEARN_H

#include "lib/base/interval.h"
#include "predictors/features/rows.h"
#include "predictors/models/model.h"

enum orch_learn_target {
    ORCH_LEARN_LOG,  /* log of the time, so that relative errors count */
    ORCH_LEARN_GREY, /* log of the time over the white box's prediction, where there is one */
    ORCH_LEARN_BEST, /* whichever is better in cross-validation */
};

/** Progress of learning: the fit that starts now. */
struct orch_learn_step {
    const char *model;  /* orch_model_candidate_name */
    const char *column; /* whose levels are treated as unseen; NULL: rows like those measured */
    int fold, folds;    /* the held-out fold, from 1, and their number; 0: final fit on all rows */
    size_t rows;        /* that it is fitted to */
    int number, count;  /* position among the fits of this part, from 1, and their number */
};

struct orch_learn_options {
    const char *model; /* a model family such as "boost"; "auto": an ensemble of the best in
                          cross-validation; "grey": the same, but only on top of the white box */
    enum orch_learn_target target;
    uint64_t seed;
    bool by_group;  /* learn one question only: unseen groups */
    bool no_tuning; /* use only the first hyperparameters of each grid */
    /** Called at each step, from any thread but never concurrently; must not start learning itself.
     * NULL: no progress reports. */
    void (*on_step)(void *ctx, const struct orch_learn_step *step);
    void *on_step_ctx;
};

/** The target that a model learns, and the features it uses. */
enum orch_learn_box {
    ORCH_BOX_BLACK, /* log of the time, all features */
    ORCH_BOX_GREY,  /* ratio to the fitted white box (predictors/learn/whitebox.h), all features */
    ORCH_BOX_BARE, /* the same without the facts of an unseen level (a GPU's peak rates, a network's
                      counts). They enter through the white box only, so an unusual GPU or network
                      cannot mislead the model */
    ORCH_BOX_SPECS, /* ratio to the unfitted roofline. With the nearest neighbour this is "its time,
                       scaled by the ratio of specifications"; without a model it is "a constant
                       times the roofline" */
    ORCH_BOX_STRIPPED, /* ratio to the unfitted roofline, without facts and features derived from
                          them: only the effect of the run's settings is learned */
    ORCH_BOX_PLAIN, /* log of the time, without the white box's terms: the model combines the GPU's
                       facts and the work itself */
    ORCH_BOX_KERNELS, /* ratio to the kernel-by-kernel model (lib/steptime/kernel_times.h) times a
                         constant, without facts of the GPU and with each GPU's own median taken
                         out: what is learned is the effect of the geometry */
    ORCH_BOX_RATES, /* ratio to powers of the GPU's rates (predictors/features/row_device.h), which
                       say how a time changes from the one GPU that was measured to another. Without
                       facts of the GPU */
    ORCH_BOX_MATCHED, /* the same ratio, learned from rows of the same network or task alone
                         (predictors/matched/matched_rows.h) */
};
#define ORCH_BOX_COUNT (ORCH_BOX_MATCHED + 1)
/** "black", "grey", "bare grey", "specs", "stripped", "plain", "kernels", "rates", "matched" */
const char *orch_learn_box_name(enum orch_learn_box box);

/** A candidate model with its hyperparameters and its result in cross-validation. */
struct orch_model_candidate {
    const struct orch_model_kind *kind; /* NULL: the white box alone */
    struct orch_hyperparams hyperparams;
    enum orch_learn_box box;
    double mean_relative_error; /* of held-out rows */
    double weight;              /* in the ensemble; 0: not a member */
    bool is_baseline;           /* nearest measured time, or a ratio of specifications */
};

/** The candidate's model: "boost"; without one "rows" in ORCH_BOX_MATCHED, else "analytical model".
 */
const char *orch_model_candidate_name(const struct orch_model_candidate *candidate);

/** Returns true if `name` is "auto", "grey" or a model family, else false with ORCH_ERROR_USAGE,
 * whose hint is the nearest name or the list of all. */
bool orch_learn_model_check(const char *name, GError **error);

struct orch_learned;
/** Cross-validates the candidates (5 folds, shared by all), weights or selects them, fits them on
 * all rows and calibrates the interval on held-out rows. Fails with ORCH_ERROR_USAGE for fewer than
 * 10 rows, an unknown model, or a grey model without a white box. Caller frees. */
struct orch_learned *orch_learn(const struct orch_rows *rows,
                                const struct orch_learn_options *options, GError **error);
void orch_learned_free(struct orch_learned *learned);

/** Number of questions. The first is rows like those measured (with by_group: unseen groups). */
int orch_learned_scenarios(const struct orch_learned *learned);
struct orch_question {
    const char *column; /* whose levels were not measured; NULL: rows like the training rows */
    const GArray *candidates; /* struct orch_model_candidate by weight, then by error */
    double error, median;     /* relative, mean and median, of the mixture in cross-validation */
    bool is_baseline;         /* no mixture was better than a rule of thumb */
    bool has_one_group;       /* measured levels cannot be left out: the error is of other rows */
};
struct orch_question orch_learned_question(const struct orch_learned *learned, int question);
/** Describes the ensemble: "0.60 grey boost + 0.40 grey kernel". Caller frees. */
char *orch_learned_text(const struct orch_learned *learned, int question);

struct orch_answer {
    struct orch_interval value; /* in the unit of the target: the 90 % interval */
    double distance;            /* to the nearest training row, relative to the usual distance; see
                                   predictors/learn/nearness.h */
    bool extrapolates;          /* distance above 1, or an unseen GPU or network */
    int question;
};
/** Predicts all rows, which have the columns of the training rows. `out` has one entry a row. */
void orch_learned_predict(const struct orch_learned *learned, const struct orch_rows *rows,
                          struct orch_answer *out);

/** Converts to and from a JSON object with all that orch_learned_predict needs and the candidates.
 * Loading fails with NULL and ORCH_ERROR_RECIPE for an invalid object. */
json_t *orch_learned_save(const struct orch_learned *learned, enum orch_save_style style);
struct orch_learned *orch_learned_load(const json_t *saved, GError **error);

/** Moves the large parts of all questions but the first out of a saved object, so that the common
 * case loads quickly. Returns them as lines of text, each preceded by a newline (g_free). */
char *orch_learned_save_deferred(json_t *saved);
/** Restores those parts, which are parsed when first needed; invalid ones predict NaN. */
bool orch_learned_load_deferred(struct orch_learned *learned, char *const *lines, GError **error);

/** Parses all such parts now. Returns false with ORCH_ERROR_RECIPE if one is invalid. */
bool orch_learned_ready(struct orch_learned *learned, GError **error);

struct orch_score {
    size_t n;
    double mean_relative_error, median_relative_error; /* of |value - target| / target */
    double rmse;                                       /* in the unit of the target */
    double coverage_90;                                /* share of targets inside the interval */
};
/** Scores the rows `which` (`count` row numbers; NULL: the first `count` rows). */
struct orch_score orch_score_of(const double *target, const struct orch_answer *predictions,
                                const size_t *which, size_t count);

#endif
