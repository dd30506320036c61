/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the studies of Optuna 3 to 5 from their SQLite file (its "RDB storage"). A trial that has
 * ended becomes a run. Its parameters are stored there as doubles beside their distribution: the
 * number itself, or the index of a choice.
 *
 * A trial of Optuna has only a number within its study, and studies of different files may have
 * equal names, so the start of the trial is part of the id. */
#include "features/imports/import_runs.h"
#include "features/imports/optuna_distribution.h"
#include "lib/loggers/tracker_db.h"

#include "store/write/imported.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OBJECTIVES_MAX = 64, STUDY_NAME_BYTES = 100, ATTRIBUTE_BYTES_MAX = 1 << 20 };

struct study {
    char *name;
    GPtrArray *directions; /* char *: of each objective, in lower case */
    GPtrArray *metrics;    /* char *: names that the user gave to the objectives; may be empty */
    json_t *labels;        /* the study's user attributes: name -> text */
};

struct trial {
    struct orch_imported_run *run;
    const struct study *study;
};

struct reading {
    GPtrArray *runs;
    GHashTable *studies; /* study_id -> struct study * */
    GHashTable *trials;  /* trial_id -> struct trial * */
    bool is_utc;         /* times; before version 5 they are local */
    unsigned open;       /* trials that run or wait */
};

static void free_study(void *pointer)
{
    struct study *study = pointer;
    g_free(study->name);
    g_ptr_array_unref(study->directions);
    g_ptr_array_unref(study->metrics);
    json_decref(study->labels);
    g_free(study);
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    return orch_tracker_db_text(row, column);
}

static struct study *study_of(void *ctx, sqlite3_stmt *row)
{
    return g_hash_table_lookup(((struct reading *)ctx)->studies, text_of(row, 0));
}

static struct trial *trial_of(void *ctx, sqlite3_stmt *row)
{
    return g_hash_table_lookup(((struct reading *)ctx)->trials, text_of(row, 0));
}

/* The text of an attribute, which is JSON: a string without its quotes. The caller frees. */
static char *attribute_text(const char *json)
{
    json_t *value = orch_json_parse(json, strlen(json), ATTRIBUTE_BYTES_MAX, NULL);
    char *text = json_is_string(value) ? g_strdup(json_string_value(value)) : g_strdup(json);
    json_decref(value);
    return text;
}

/* ---- studies ------------------------------------------------------------------------------------
 */

static void read_version(void *ctx, sqlite3_stmt *row)
{
    ((struct reading *)ctx)->is_utc = g_ascii_strtoll(text_of(row, 0), NULL, 10) >= 5;
}

static void add_study(void *ctx, sqlite3_stmt *row)
{
    struct study *study = g_new0(struct study, 1);
    orch_imported_set_text(&study->name, text_of(row, 1));
    study->directions = g_ptr_array_new_with_free_func(g_free);
    study->metrics = g_ptr_array_new_with_free_func(g_free);
    study->labels = json_object();
    g_hash_table_replace(((struct reading *)ctx)->studies, g_strdup(text_of(row, 0)), study);
}

static void add_direction(void *ctx, sqlite3_stmt *row)
{
    struct study *study = study_of(ctx, row);
    if (study && study->directions->len < OBJECTIVES_MAX)
        g_ptr_array_add(study->directions, g_ascii_strdown(text_of(row, 1), -1));
}

static void add_metric_names(void *ctx, sqlite3_stmt *row)
{
    struct study *study = study_of(ctx, row);
    const char *json = text_of(row, 1);
    json_t *names = orch_json_parse(json, strlen(json), ATTRIBUTE_BYTES_MAX, NULL);
    for (size_t i = 0; study && i < json_array_size(names) && i < OBJECTIVES_MAX; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        g_ptr_array_add(study->metrics,
                        name && *name ? g_strdup(name) : g_strdup_printf("value_%zu", i));
    }
    json_decref(names);
}

static void add_study_attribute(void *ctx, sqlite3_stmt *row)
{
    struct study *study = study_of(ctx, row);
    g_autofree char *text = attribute_text(text_of(row, 2));
    if (study && json_object_size(study->labels) < ORCH_IMPORTED_NAMES_MAX)
        json_object_set_new(study->labels, text_of(row, 1), json_string(text));
}

/* "value", "value_1" of several, or the name that the user gave. The caller frees. */
static char *objective_name(const struct study *study, unsigned objective)
{
    if (objective < study->metrics->len)
        return g_strdup(study->metrics->pdata[objective]);
    return study->directions->len > 1 ? g_strdup_printf("value_%u", objective) : g_strdup("value");
}

/* ---- trials -------------------------------------------------------------------------------------
 */

/* Reads "2026-11-27 06:10:16.985169". */
static int64_t ns_of(struct reading *reading, struct orch_imported_run *run,
                     enum orch_bounded which, const char *text)
{
    g_autoptr(GTimeZone) zone = reading->is_utc ? g_time_zone_new_utc() : g_time_zone_new_local();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, zone);
    if (!time)
        return 0;
    double us = (double)g_date_time_to_unix(time) * 1e6 + g_date_time_get_microsecond(time);
    return orch_imported_ns(run, which, us, 1e3);
}

static bool find_verdict(const char *state, enum orch_verdict *out)
{
    static const struct {
        const char *state;
        enum orch_verdict verdict;
    } rows[] = {{"COMPLETE", ORCH_VERDICT_OK},
                {"PRUNED", ORCH_VERDICT_PRUNED},
                {"FAIL", ORCH_VERDICT_FAILED}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].state, state) == 0) {
            *out = rows[i].verdict;
            return true;
        }
    return false;
}

/* Labels that hold for all trials of a study: directions and its user attributes. */
static void add_study_labels(struct orch_imported_run *run, const struct study *study)
{
    const char *name;
    json_t *value;
    for (unsigned i = 0; i < study->directions->len; i++) {
        g_autofree char *objective = objective_name(study, i);
        g_autofree char *label = g_strconcat("optuna.direction.", objective, NULL);
        orch_imported_label(run, label, study->directions->pdata[i]);
    }
    json_object_foreach(study->labels, name, value)
    {
        g_autofree char *label = g_strconcat("optuna.study.", name, NULL);
        orch_imported_label(run, label, json_string_value(value));
    }
}

static void add_trial(void *ctx, sqlite3_stmt *row)
{
    struct reading *reading = ctx;
    enum orch_verdict verdict;
    const struct study *study = g_hash_table_lookup(reading->studies, text_of(row, 1));
    if (!find_verdict(text_of(row, 3), &verdict)) {
        reading->open++;
        return;
    }
    if (!study)
        return;
    const char *number = text_of(row, 2), *start = text_of(row, 4);
    g_autofree char *cut = g_strndup(study->name, STUDY_NAME_BYTES);
    g_autofree char *id = g_strdup_printf("%.20s %.30s %s", number, start, cut);
    struct orch_imported_run *run = orch_imported_run_new("optuna", id);
    g_autofree char *name = g_strdup_printf("%s/%s", study->name, number);
    orch_imported_set_text(&run->name, name);
    orch_imported_set_text(&run->experiment, study->name);
    orch_imported_set_text(&run->status, text_of(row, 3));
    run->verdict = verdict;
    run->started_ns = ns_of(reading, run, ORCH_BOUNDED_STARTED_NS, start);
    run->ended_ns = ns_of(reading, run, ORCH_BOUNDED_ENDED_NS, text_of(row, 5));
    add_study_labels(run, study);
    g_ptr_array_add(reading->runs, run);
    struct trial *trial = g_new0(struct trial, 1);
    *trial = (struct trial){run, study};
    g_hash_table_replace(reading->trials, g_strdup(text_of(row, 0)), trial);
}

static void add_param(void *ctx, sqlite3_stmt *row)
{
    struct trial *trial = trial_of(ctx, row);
    if (!trial)
        return;
    const char *name = text_of(row, 1);
    g_autofree char *range = NULL;
    json_t *value = orch_optuna_value(text_of(row, 3), sqlite3_column_double(row, 2), &range);
    if (!value) {
        orch_imported_note(trial->run, "its parameter '%s' is left out: unknown distribution",
                           name);
        return;
    }
    g_autofree char *label = g_strconcat("optuna.range.", name, NULL);
    orch_imported_param_json(trial->run, name, value);
    orch_imported_label(trial->run, label, range);
}

static double real_of(sqlite3_stmt *row, int value, int type)
{
    static const struct {
        const char *type;
        double value;
    } rows[] = {{"INF_POS", (double)INFINITY}, {"INF_NEG", -(double)INFINITY}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].type, text_of(row, type)) == 0)
            return rows[i].value;
    return sqlite3_column_type(row, value) == SQLITE_NULL ? (double)NAN
                                                          : sqlite3_column_double(row, value);
}

/* The value of a pruned trial is that of its last step, which the curve has. */
static void add_value(void *ctx, sqlite3_stmt *row)
{
    const struct trial *trial = trial_of(ctx, row);
    int64_t objective = sqlite3_column_int64(row, 1);
    if (!trial || trial->run->verdict != ORCH_VERDICT_OK || objective < 0 ||
        objective >= OBJECTIVES_MAX)
        return;
    g_autofree char *name = objective_name(trial->study, (unsigned)objective);
    orch_imported_result(trial->run, name, real_of(row, 2, 3));
}

static void add_point(void *ctx, sqlite3_stmt *row)
{
    const struct trial *trial = trial_of(ctx, row);
    if (trial)
        orch_imported_point(trial->run, "intermediate_value", sqlite3_column_int64(row, 1), 0,
                            real_of(row, 2, 3));
}

static void add_attribute(void *ctx, sqlite3_stmt *row)
{
    const struct trial *trial = trial_of(ctx, row);
    g_autofree char *text = attribute_text(text_of(row, 2));
    if (trial)
        orch_imported_label(trial->run, text_of(row, 1), text);
}

/* ---- the file -----------------------------------------------------------------------------------
 */

static const char *const TABLES[] = {"version_info",
                                     "studies",
                                     "study_directions",
                                     "study_user_attributes",
                                     "study_system_attributes",
                                     "trials",
                                     "trial_params",
                                     "trial_values",
                                     "trial_intermediate_values",
                                     "trial_user_attributes",
                                     NULL};

static const struct {
    const char *sql;
    void (*add)(void *ctx, sqlite3_stmt *row);
} QUERIES[] = {
    {"SELECT library_version FROM version_info", read_version},
    {"SELECT study_id, study_name FROM studies ORDER BY study_id LIMIT 100000", add_study},
    {"SELECT study_id, direction FROM study_directions ORDER BY study_id, objective",
     add_direction},
    {"SELECT study_id, value_json FROM study_system_attributes WHERE key = 'study:metric_names'",
     add_metric_names},
    {"SELECT study_id, key, value_json FROM study_user_attributes", add_study_attribute},
    {"SELECT trial_id, study_id, number, state, datetime_start, datetime_complete FROM trials"
     " ORDER BY study_id, number, trial_id LIMIT 100000",
     add_trial},
    {"SELECT trial_id, param_name, param_value, distribution_json FROM trial_params"
     " ORDER BY param_id",
     add_param},
    {"SELECT trial_id, objective, value, value_type FROM trial_values ORDER BY objective",
     add_value},
    {"SELECT trial_id, step, intermediate_value, intermediate_value_type"
     " FROM trial_intermediate_values ORDER BY step",
     add_point},
    {"SELECT trial_id, key, value_json FROM trial_user_attributes", add_attribute},
};

static const char HINT[] =
    "give the SQLite file of Optuna 3 to 5; 'optuna storage upgrade' upgrades an older one";

bool orch_optuna_db_is(const char *path)
{
    static const char *const tables[] = {"studies", "trials", NULL};
    struct orch_tracker_db db;
    bool is =
        orch_tracker_db_open(&db, path, "Optuna", HINT, NULL) && orch_tracker_db_has(&db, tables);
    orch_tracker_db_close(&db);
    return is;
}

static bool read_all(struct orch_tracker_db *db, struct reading *reading, GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(QUERIES); i++)
        if (!orch_tracker_db_each(db, QUERIES[i].sql, NULL, 0, QUERIES[i].add, reading, error))
            return false;
    return true;
}

bool orch_optuna_db_read(const char *path, GPtrArray *runs, GPtrArray *warnings, GError **error)
{
    struct orch_tracker_db db;
    g_autoptr(GHashTable) studies =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_study);
    g_autoptr(GHashTable) trials = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    struct reading reading = {.runs = runs, .studies = studies, .trials = trials};
    bool ok = orch_tracker_db_open(&db, path, "Optuna", HINT, error) &&
              orch_tracker_db_check(&db, TABLES, error) && read_all(&db, &reading, error);
    if (ok && reading.open)
        g_ptr_array_add(warnings,
                        g_strdup_printf("'%s': %u trial%s not ended and %s left out", path,
                                        reading.open, reading.open == 1 ? " has" : "s have",
                                        reading.open == 1 ? "is" : "are"));
    if (ok && runs->len >= ORCH_TRACKER_RUNS_MAX)
        g_ptr_array_add(warnings, g_strdup_printf("'%s': only the first %d trials are imported",
                                                  path, ORCH_TRACKER_RUNS_MAX));
    orch_tracker_db_close(&db);
    return ok;
}
