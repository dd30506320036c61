/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_scores.h"

#include "features/slurm/slurm_grade.h"
#include "lib/base/json.h"
#include "lib/base/reals.h"

#include <math.h>
#include <string.h>

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

GPtrArray *orch_slurm_scores_read(struct orch_store *store, GError **error)
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
