/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/training_rows.h"

#include "core/rows/joined_rows.h"
#include "core/rows/param_rows.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/devices/gpus.h"

#include <math.h>
#include <string.h>

#define ROWS_MIN 10
#define NAME_MAX_CHARS 63
#define BASELINE_ROWS 3000 /* the baselines are evaluated on at most this many rows */

/* ---- learning ----------------------------------------------------------------------------------
 */

/* Columns that are not part of a step's configuration. */
static const char *const NO_CONFIGURATION[] = {"images", "epochs",  "framework",
                                               "img",    "classes", NULL};

static struct orch_trained *measured(struct orch_store *store,
                                     const struct orch_training_request *r,
                                     const struct orch_csv *csv, const GPtrArray *keys,
                                     const GPtrArray *readings, GError **error)
{
    struct orch_trained *t = g_new0(struct orch_trained, 1);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autoptr(GPtrArray) sources = g_ptr_array_new();
    int64_t count;
    t->name = g_strdup(r->name ? r->name : r->target);
    t->target = g_strdup(r->target);
    t->made = g_date_time_format_iso8601(now);
    t->rows = orch_csv_rows(csv);
    t->known = orch_trained_cells_of_table(csv, r->target, NO_CONFIGURATION, keys, &t->columns,
                                           &t->repeat_spread);
    for (guint i = 0; i < t->known->len; i++)
        t->run_rows += (size_t)((const struct orch_trained_cell *)t->known->pdata[i])->runs;
    if (r->runs)
        g_ptr_array_add(sources, g_strdup("runs"));
    for (int i = 0; r->datasets && r->datasets[i]; i++)
        g_ptr_array_add(sources, g_strdup(r->datasets[i]));
    g_ptr_array_add(sources, NULL);
    t->sources = g_strdupv((char **)sources->pdata);
    for (guint i = 0; sources->pdata[i]; i++)
        g_free(sources->pdata[i]);
    t->readings = g_new0(char *, readings->len + 1);
    for (guint i = 0; i < readings->len; i++)
        t->readings[i] = g_strdup(readings->pdata[i]);
    if (orch_store_newer_runs(store, 0, &count, &t->last_run, error))
        return t;
    orch_trained_free(t);
    return NULL;
}

static struct orch_rows *rows_of(const struct orch_training_request *r, const struct orch_csv *csv,
                                 bool keep_all, GError **error)
{
    struct orch_rows_options options = {.target = r->target,
                                        .drop = r->drop,
                                        .group = orch_csv_find(csv, "gpu") >= 0 ? "gpu" : NULL,
                                        .keep_all = keep_all};
    return orch_rows_of_table(csv, &options, error);
}

static struct orch_rows *some(const struct orch_rows *rows, size_t most)
{
    size_t step = rows->rows / most + 1, count = 0;
    g_autofree size_t *which = g_new(size_t, MAX(rows->rows, 1));
    for (size_t i = 0; i < rows->rows; i += step)
        which[count++] = i;
    return orch_rows_pick(rows, which, count);
}

/* Compares the model with baselines that need no training: the nearest record's time, and that time
 * multiplied by the ratio of the analytical estimates. */
static void hold_against_baselines(struct orch_trained *t, const struct orch_rows *rows)
{
    struct orch_learn_options nearest = {
        .model = "knn", .target = ORCH_LEARN_BEST, .no_tuning = true};
    g_autoptr(GError) unable = NULL;
    struct orch_rows *few = some(rows, BASELINE_ROWS);
    struct orch_learned *l = orch_learn(few, &nearest, &unable);
    double mine = orch_learned_question(t->learned, 0).error;
    t->last_known = t->ratio = (double)NAN;
    for (guint i = 0; l && i < orch_learned_question(l, 0).candidates->len; i++) {
        const struct orch_model_candidate *trial =
            &g_array_index(orch_learned_question(l, 0).candidates, struct orch_model_candidate, i);
        if (trial->box == ORCH_BOX_BLACK)
            t->last_known = trial->mean_relative_error;
        if (trial->box == ORCH_BOX_GREY)
            t->ratio = trial->mean_relative_error;
    }
    t->is_used = !orch_learned_question(t->learned, 0).is_baseline && !(t->last_known < mine) &&
                 !(t->ratio < mine);
    orch_learned_free(l);
    orch_rows_free(few);
}

struct orch_trained *orch_training_measure(struct orch_store *store,
                                           const struct orch_training_request *r,
                                           size_t learn_below, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) readings = g_ptr_array_new_with_free_func(g_free);
    struct orch_csv *csv = orch_joined_rows(store, r, keys, readings, error);
    struct orch_trained *t = csv ? measured(store, r, csv, keys, readings, error) : NULL;
    if (t && t->rows >= ROWS_MIN && t->rows < learn_below) {
        struct orch_learn_options quick = {
            .model = "auto", .target = ORCH_LEARN_BEST, .no_tuning = true};
        g_autoptr(GError) unable = NULL;
        struct orch_rows *rows = rows_of(r, csv, false, &unable);
        t->learned = rows ? orch_learn(rows, &quick, &unable) : NULL;
        if (t->learned)
            hold_against_baselines(t, rows);
        orch_rows_free(rows);
    }
    orch_csv_free(csv);
    return t;
}

void orch_training_take_known(struct orch_trained *trained, struct orch_trained *fresh)
{
    GPtrArray *known = trained->known;
    char **columns = trained->columns;
    trained->known = fresh->known;
    trained->columns = fresh->columns;
    trained->repeat_spread = fresh->repeat_spread;
    fresh->known = known;
    fresh->columns = columns;
    orch_trained_free(fresh);
}

/* ---- which rows --------------------------------------------------------------------------------
 */

/* Checks a predictor's name: it must be printable, and 'step_ms' is reserved for a predictor of
 * step times, because 'orch predict' uses the predictor of that name. */
static bool check_request(const struct orch_training_request *r, GError **error)
{
    const char *name = r->name ? r->name : r->target;
    bool plain =
        *name && g_utf8_validate(name, -1, NULL) && g_utf8_strlen(name, -1) <= NAME_MAX_CHARS;
    for (const char *c = name; plain && *c; c = g_utf8_next_char(c))
        plain = g_unichar_isprint(g_utf8_get_char(c));
    if (!plain) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --name mine",
                       "option '--name': a name has 1 to %d printable characters", NAME_MAX_CHARS);
        return false;
    }
    if (strcmp(name, "step_ms") == 0 && strcmp(r->target, "step_ms") != 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "give the predictor another --name",
                       "the name 'step_ms' is reserved for predictors of step times, and this "
                       "predictor is for '%s'",
                       r->target);
        return false;
    }
    for (int i = 0; r->datasets[i]; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(r->datasets[i], r->datasets[k]) != 0)
                continue;
            orch_error_set(error, ORCH_ERROR_USAGE, "name it once",
                           "option '--data': '%s' is named twice", r->datasets[i]);
            return false;
        }
    }
    return true;
}

/* What is trained on: the request with its defaults, and the rows of parameters, if it is those. */
struct training {
    struct orch_training_request r;
    struct orch_param_rows *params; /* NULL: rows of declared costs and data sets */
    struct orch_rows_tally tally;   /* of the parameters' rows */
    GPtrArray *readings;            /* char *: how data sets are understood */
};

/* True when none of the runs declares a cost, or none matches the filter. */
static bool declare_no_cost(struct orch_store *store, const struct orch_training_request *r,
                            bool *out, GError **error)
{
    struct orch_rows_tally t = {0};
    struct orch_csv *csv = orch_rows_of_runs(store, r->where, r->target, NULL, &t, error);
    int64_t read = orch_rows_tally_with_cost(&t) + t.no_cost;
    *out = orch_rows_tally_has_no_cost(&t) || (!read && r->where);
    orch_csv_free(csv);
    return csv;
}

static bool settle(struct orch_store *store, struct training *t, GPtrArray *keys, GError **error)
{
    struct orch_training_request *r = &t->r;
    bool may = r->runs && !r->only && !(r->datasets && *r->datasets) &&
               (!r->target || strcmp(r->target, "wall_s") == 0);
    bool no_cost = false;
    r->target = r->target ? r->target : "step_ms";
    if (!check_request(r, error) || (may && !declare_no_cost(store, r, &no_cost, error)))
        return false;
    if (!no_cost)
        return true;
    t->params = orch_param_rows_of_runs(store, r->where, keys, &t->tally, error);
    if (!t->params)
        return false;
    r->target = "wall_s";
    r->name = r->name ? r->name : t->params->experiment;
    return check_request(r, error);
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static bool enough(const struct training *t, size_t rows, GError **error)
{
    const struct orch_training_request *r = &t->r;
    if (rows >= ROWS_MIN)
        return true;
    g_autofree char *left_out =
        t->tally.shared ? g_strdup_printf(" (%d more shared the machine with other trials)",
                                          (int)t->tally.shared)
                        : g_strdup("");
    orch_error_set(error, ORCH_ERROR_USAGE,
                   t->params ? "run more settings: orch run RECIPE -x PARAM=A,B,..."
                             : "run a recipe whose plugin declares a 'cost', for example orch run "
                               "recipes/hw4.recipe",
                   "there %s only %zu row%s with '%s' to train on%s, and at least %d are needed",
                   rows == 1 ? "is" : "are", rows, orch_plural(rows), r->target, left_out,
                   ROWS_MIN);
    return false;
}

static void add_notes(const struct training *t, const struct orch_rows *rows, GPtrArray *notes)
{
    for (guint i = 0; i < rows->notes->len; i++)
        g_ptr_array_add(notes, g_strdup(rows->notes->pdata[i]));
    if (t->tally.shared_rows)
        g_ptr_array_add(notes, g_strdup_printf("%d of the runs shared the machine with other "
                                               "trials, so their times may be too long",
                                               (int)t->tally.shared_rows));
    if (!t->params)
        return;
    const struct {
        int64_t count;
        const char *why;
    } left[] = {{t->params->other_versions, "are of another version of the plugin"},
                {t->params->other_libraries, "used another version of LibTorch or PyTorch"},
                {t->tally.shared, "shared the machine with other trials"},
                {t->tally.disturbed, "ran while other programs kept the CPUs busy"},
                {t->tally.unmeasured, "have no wall time"}};
    for (size_t i = 0; i < G_N_ELEMENTS(left); i++)
        if (left[i].count)
            g_ptr_array_add(notes, g_strdup_printf("left out: %d runs that %s", (int)left[i].count,
                                                   left[i].why));
}

static struct orch_trained *train(struct orch_store *store, const struct training *training,
                                  const struct orch_csv *csv, const GPtrArray *keys,
                                  GPtrArray *notes, GError **error)
{
    const struct orch_training_request *r = &training->r;
    struct orch_rows *rows = rows_of(r, csv, training->params != NULL, error);
    struct orch_trained *t = rows ? measured(store, r, csv, keys, training->readings, error) : NULL;
    if (t)
        t->learned = orch_learn(rows, &r->learn, error);
    if (t && t->learned) {
        for (guint i = 0; i < training->readings->len; i++)
            g_ptr_array_add(notes, g_strdup(training->readings->pdata[i]));
        add_notes(training, rows, notes);
        hold_against_baselines(t, rows);
    }
    if (t && training->params) {
        t->experiment = g_strdup(training->params->experiment);
        t->plugin_version = g_strdup(training->params->plugin_version);
    }
    orch_rows_free(rows);
    if (t && t->learned)
        return t;
    orch_trained_free(t);
    return NULL;
}

struct orch_trained *orch_training_learn(struct orch_store *store,
                                         const struct orch_training_request *request,
                                         GPtrArray *notes, GError **error)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) readings = g_ptr_array_new_with_free_func(g_free);
    struct training training = {.r = *request, .readings = readings};
    struct orch_csv *csv = NULL;
    if (settle(store, &training, keys, error)) {
        csv = training.params ? g_steal_pointer(&training.params->csv)
                              : orch_joined_rows(store, &training.r, keys, readings, error);
    }
    struct orch_trained *t = csv && enough(&training, orch_csv_rows(csv), error)
                                 ? train(store, &training, csv, keys, notes, error)
                                 : NULL;
    orch_csv_free(csv);
    orch_param_rows_free(training.params);
    return t;
}
