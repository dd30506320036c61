/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 'orch predictor score --slurm': the forecasts behind --time and --mem beside Slurm's accounts. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "features/slurm/slurm_grade.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/reals.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

/* ---- scores -------------------------------------------------------------------------------------
 */

/** Forecasts of one quantity at one place of a cluster. */
struct orch_slurm_score {
    char *place;          /* owned */
    const char *quantity; /* "time" or "memory" */
    unsigned count;
    double median_relative_error; /* |forecast - account| / account; memory: of the 95 % quantile */
    double within;         /* share of accounts inside the forecast's 90 % interval (time), or at
                              most its 95 % quantile (memory) */
    double within_request; /* share at most --time or --mem; NaN where neither was given */
};

/* What is known of one quantity at one place. */
struct tally {
    char *place;
    const char *quantity;
    GArray *errors; /* double */
    unsigned within, asked, within_request;
};

static void free_tally(void *pointer)
{
    struct tally *tally = pointer;
    g_free(tally->place);
    g_array_unref(tally->errors);
    g_free(tally);
}

static void free_score(void *pointer)
{
    struct orch_slurm_score *score = pointer;
    g_free(score->place);
    g_free(score);
}

static struct tally *tally_of(GPtrArray *tallies, const char *place, const char *quantity)
{
    for (guint i = 0; i < tallies->len; i++) {
        struct tally *tally = tallies->pdata[i];
        if (strcmp(tally->place, place) == 0 && strcmp(tally->quantity, quantity) == 0)
            return tally;
    }
    struct tally *made = g_new0(struct tally, 1);
    *made = (struct tally){
        g_strdup(place), quantity, g_array_new(FALSE, FALSE, sizeof(double)), 0, 0, 0};
    g_ptr_array_add(tallies, made);
    return made;
}

/* `request` 0: the partition's default, which is unknown. A job shorter than a second has an
 * account of 0 s, and so no relative error. */
static void add(struct tally *tally, double forecast, double account, bool is_within,
                double request)
{
    double error = account > 0 ? fabs(forecast - account) / account : (double)NAN;
    g_array_append_val(tally->errors, error);
    tally->within += is_within;
    tally->asked += request > 0;
    tally->within_request += request > 0 && account <= request;
}

static void add_run(GPtrArray *tallies, const struct orch_run *run)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    const json_t *slurm = json_object_get(facts, "slurm");
    const char *place = orch_json_text(slurm, "place", "slurm");
    struct orch_slurm_grade grade;
    orch_slurm_grade_read(slurm, &grade);
    if (grade.has_time)
        add(tally_of(tallies, place, "time"), grade.forecast_s.mid, grade.elapsed_s,
            grade.is_time_within, grade.time_s);
    if (grade.has_memory)
        add(tally_of(tallies, place, "memory"), (double)grade.p95_bytes,
            (double)grade.max_rss_bytes, grade.is_memory_within, (double)grade.memory_bytes);
}

static int compare_tallies(const void *a, const void *b)
{
    const struct tally *x = *(const struct tally *const *)a, *y = *(const struct tally *const *)b;
    int by_place = strcmp(x->place, y->place);
    return by_place ? by_place : strcmp(y->quantity, x->quantity);
}

/* Scores the trials that ended well and have both a forecast and an account, by place. Returns
 * struct orch_slurm_score *, time before memory; the caller unrefs. NULL with an error. */
static GPtrArray *slurm_scores_read(struct orch_store *store, GError **error)
{
    const struct orch_run_query query = {.ended_well = true};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, error);
    if (!runs)
        return NULL;
    g_autoptr(GPtrArray) tallies = g_ptr_array_new_with_free_func(free_tally);
    for (guint i = 0; i < runs->len; i++)
        add_run(tallies, runs->pdata[i]);
    g_ptr_array_sort(tallies, compare_tallies);
    GPtrArray *scores = g_ptr_array_new_with_free_func(free_score);
    for (guint i = 0; i < tallies->len; i++) {
        const struct tally *tally = tallies->pdata[i];
        struct orch_slurm_score *score = g_new0(struct orch_slurm_score, 1);
        score->place = g_strdup(tally->place);
        score->quantity = tally->quantity;
        score->count = tally->errors->len;
        score->median_relative_error =
            orch_reals_median_of((const double *)(void *)tally->errors->data, tally->errors->len);
        score->within = (double)tally->within / tally->errors->len;
        score->within_request =
            tally->asked ? (double)tally->within_request / tally->asked : (double)NAN;
        g_ptr_array_add(scores, score);
    }
    return scores;
}

/* ---- as a table ---------------------------------------------------------------------------------
 */

struct scores_options {
    bool slurm;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct scores_options, slurm, FLAG, "slurm",
                .help = "compare forecasts for Slurm jobs (time, memory) with what jobs used"),
    {0}};

static bool is_asked(const void *options)
{
    return ((const struct scores_options *)options)->slurm;
}

static bool look(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 GError **error)
{
    (void)cli, (void)options;
    if (subject->not_alone)
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%s excludes '--slurm'", subject->not_alone);
    return !subject->not_alone;
}

static bool show(struct orch_cli *cli, void *options, const struct orch_subject *subject,
                 json_t *json, GError **error)
{
    (void)options, (void)subject, (void)json;
    static const char *const headers[] = {"place",   "quantity",        ">jobs", ">median_error",
                                          ">within", ">within_request", NULL};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) scores = store ? slurm_scores_read(store, error) : NULL;
    if (!scores)
        return false;
    if (!scores->len && !cli->json)
        orch_cli_info(cli,
                      "no Slurm job that ended well has both a forecast and accounting data yet");
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < scores->len; i++) {
        const struct orch_slurm_score *score = scores->pdata[i];
        orch_table_add(table, score->place, NULL);
        orch_table_add(table, score->quantity, NULL);
        orch_table_add_int(table, score->count);
        orch_cli_add_percent(table, score->median_relative_error);
        orch_cli_add_percent(table, score->within);
        orch_cli_add_percent(table, score->within_request);
    }
    orch_cli_table_print(cli, table, "scores");
    return true;
}

const struct orch_command_part ORCH_PART_SCORE_SLURM = {
    .command = "predictor score",
    .options = OPTIONS,
    .option_bytes = sizeof(struct scores_options),
    .about = "\n"
             "\n"
             "--slurm compares the forecast time and memory of Slurm jobs with what sacct reports. "
             "Column 'within' is the share of jobs inside the forecast: time in its 90 % interval, "
             "memory up to its 95 % quantile. Column 'within_request' is the share of jobs that "
             "used at most --time or --mem.",
    .examples = "  orch predictor score --slurm",
    .is_alone = true,
    .is_asked = is_asked,
    .look = look,
    .show = show,
};
