/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Learning times from measured rows: which models with which knobs, how much each counts, and an
 * interval that is calibrated on rows that were left out.
 *
 * A model that is best for rows like those seen need not be best for a GPU or a network that was
 * never seen. So up to three questions are learned, each with folds of its own (rows at random;
 * whole GPUs; whole networks), its own mixture and its own interval, and each row to predict is
 * answered by the question that it poses: by whether its GPU and its network were seen.
 */
#ifndef ORCH_PREDICTORS_LEARN_H
#define ORCH_PREDICTORS_LEARN_H

#include "predictors/model.h"
#include "predictors/rows.h"

enum orch_learn_target {
    ORCH_LEARN_LOG,  /* log of the time: relative errors count */
    ORCH_LEARN_GREY, /* log of the time over the white box's, where there is one */
    ORCH_LEARN_BEST, /* what is better in cross-validation */
};

/** Where learning stands: what is begun now. */
struct orch_learn_step {
    const char *model;  /* "boost"; "white box" for the box alone */
    const char *column; /* whose levels are taken as never seen; NULL: rows like those seen */
    int fold, folds;    /* that it does not see, from 1, of so many; 0: it is fitted to be kept */
    size_t rows;        /* that it is fitted to */
    int number, count;  /* of the models and folds of this part, from 1 */
};

struct orch_learn_options {
    const char *model; /* "boost", ...; "auto": a mixture of what is best in cross-validation;
                          "grey": the same over the white box alone */
    enum orch_learn_target target;
    uint64_t seed;
    bool by_group;         /* one question only: the rows' groups, never seen */
    bool no_tuning;        /* the first knobs of each grid */
    bool calibrate_groups; /* the interval has the width that each of the rows' groups needs */
    /** Hears of each step, from any thread but one at a time; must not learn itself. NULL: nobody
     * listens. */
    void (*tell)(void *ctx, const struct orch_learn_step *step);
    void *tell_ctx;
};

/** What a model learns the time over, and what it sees. */
enum orch_learn_box {
    ORCH_BOX_BLACK, /* log of the time, all features */
    ORCH_BOX_GREY,  /* over the fitted white box (predictors/whitebox.h) */
    ORCH_BOX_BARE,  /* the same without the facts of what was never seen (a GPU's peaks, a network's
                       counts): only the white box speaks of them, so that a GPU or network unlike
                       the  others cannot lead the model astray */
    ORCH_BOX_SPECS, /* over the roofline as it is: with the nearest row "its time, times the ratio
                       of specifications", and without a model "a constant times the roofline" */
    ORCH_BOX_STRIPPED, /* over the roofline as it is, without those facts and what comes of them:
                          only how a run was set up is learned */
    ORCH_BOX_PLAIN, /* log of the time, without the white box's parts: the GPU's facts and the work
                       stand beside each other, and a model puts them together itself */
};
#define ORCH_BOX_COUNT (ORCH_BOX_PLAIN + 1)
/** "black", "grey", "bare grey", "specs", "stripped", "plain" */
const char *orch_learn_box_name(enum orch_learn_box box);

/** What was tried: one line of the grid. */
struct orch_learn_trial {
    const struct orch_model_kind *kind; /* NULL: the box alone */
    struct orch_knobs knobs;
    enum orch_learn_box box;
    double mean_relative_error; /* of rows that their fold did not see */
    double weight;              /* in the mixture; 0: left out */
    bool is_baseline;           /* last known time, or a ratio of specifications */
};

/** Is it a model that orch_learn knows: "auto", "grey", or a kind? False with ORCH_ERROR_USAGE,
 * naming the nearest or all. */
bool orch_learn_model_check(const char *name, GError **error);

struct orch_learned;
/** Tries (5 folds; the same for all), mixes or chooses, fits on all rows, calibrates the interval
 * on rows left out. ORCH_ERROR_USAGE for fewer than 10 rows, an unknown model, or no grey target to
 * be had. The caller frees. */
struct orch_learned *orch_learn(const struct orch_rows *rows,
                                const struct orch_learn_options *options, GError **error);
void orch_learned_free(struct orch_learned *learned);

/** Questions that were learned, the first of which is rows like those seen (with by_group: the
 * groups). */
int orch_learned_questions(const struct orch_learned *learned);
/** Column whose levels were never seen, "gpu"; NULL: none, rows like those seen. */
const char *orch_learned_column(const struct orch_learned *learned, int question);
/** Trials of a question, best first (borrowed): struct orch_learn_trial. */
const GArray *orch_learned_trials(const struct orch_learned *learned, int question);
/** Mean relative error of its mixture on rows left out. */
double orch_learned_error(const struct orch_learned *learned, int question);
/** Its median. */
double orch_learned_median(const struct orch_learned *learned, int question);
/** Did models lose to the baselines, so that a baseline answers? */
bool orch_learned_is_baseline(const struct orch_learned *learned, int question);
/** "0.6 boost (grey: ...) + 0.4 kernel (...)". The caller frees. */
char *orch_learned_text(const struct orch_learned *learned, int question);

struct orch_answer {
    double value;     /* in the unit of the target */
    double low, high; /* the middle 90 % */
    double distance; /* to the nearest row learned from, 1: as far as all but 1 % of those were from
                        each other */
    bool extrapolates; /* farther than 1, or of a GPU or network never seen */
    int question;
};
/** Answers for rows of the same columns, one for each. */
void orch_learned_predict(const struct orch_learned *learned, const struct orch_rows *rows,
                          struct orch_answer *out);

/** As a JSON object, and back: all that orch_learned_predict needs, and what was tried. NULL with
 * ORCH_ERROR_RECIPE for what is broken. */
json_t *orch_learned_save(const struct orch_learned *learned, enum orch_save_style style);
struct orch_learned *orch_learned_load(const json_t *saved, GError **error);

/** Takes the heavy parts of a saved object's further questions out of it, as lines of text each
 * with a line end before it (g_free): so that what answers a question like those seen is read
 * quickly. */
char *orch_learned_put_behind(json_t *saved);
/** Gives them back, to be read when such a question is posed; broken ones then answer NaN. */
bool orch_learned_take_behind(struct orch_learned *learned, char *const *lines, GError **error);

/** Reads all of them now: false with ORCH_ERROR_RECIPE where one is broken. */
bool orch_learned_ready(struct orch_learned *learned, GError **error);

struct orch_score {
    size_t n;
    double mean_relative_error, median_relative_error; /* of |value - target| / target */
    double rmse;                                       /* in the unit of the target */
    double coverage_90;                                /* share of targets within the interval */
};
/** Of rows `which` (NULL: all `count`). */
struct orch_score orch_score_of(const double *target, const struct orch_answer *answers,
                                const size_t *which, size_t count);

#endif
