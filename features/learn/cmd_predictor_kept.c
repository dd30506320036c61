/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictors stored in the store: train, ls, show, export, rm. */
#include "core/cli/cli.h"
#include "features/learn/learn_progress.h"
#include "features/learn/learned_show.h"

#include "core/rows/kept_predictors.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Number of members of a mixture that are printed; --verbose prints all. */
#define MEMBERS 3
#define ALL G_MAXUINT

/* ---- shared helpers -------------------------------------------------------------------------- */

/* Finds a predictor by name; ORCH_ERROR_NOT_FOUND with the nearest name. */
static struct orch_predictor_row *find_row(struct orch_store *store, const char *name,
                                           GError **error)
{
    GError *failed = NULL;
    struct orch_predictor_row *row = orch_store_predictor(store, name, &failed);
    if (row)
        return row;
    if (failed) {
        g_propagate_error(error, failed);
        return NULL;
    }
    g_autoptr(GPtrArray) all = orch_store_predictors(store, false, error);
    if (!all)
        return NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < all->len; i++)
        g_ptr_array_add(names, ((struct orch_predictor_row *)all->pdata[i])->name);
    g_ptr_array_add(names, NULL);
    g_autofree char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   near       ? near
                   : all->len ? "'orch predictor ls' lists the predictors"
                              : "train a predictor first: orch predictor train",
                   "there is no predictor '%s'", name);
    return NULL;
}

/* Finds the predictor that the command names, and reads it whole. The caller frees. */
static struct orch_trained *open_named(struct orch_cli *cli, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_predictor_row *row = store ? find_row(store, cli->args[0], error) : NULL;
    struct orch_trained *t = row ? orch_kept_predictor_read(row, true, error) : NULL;
    orch_predictor_row_free(row);
    return t;
}

static char *percent(double share)
{
    return isnan(share) ? g_strdup("-") : g_strdup_printf("%.1f %%", 100 * share);
}

static json_t *texts_json(char *const *texts)
{
    json_t *out = json_array();
    for (int i = 0; texts[i]; i++)
        json_array_append_new(out, json_string(texts[i]));
    return out;
}

static json_t *trained_json(const struct orch_trained *t)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(t->name));
    json_object_set_new(o, "target", json_string(t->target));
    json_object_set_new(o, "experiment", orch_json_text_or_null(t->experiment));
    json_object_set_new(o, "made", json_string(t->made));
    json_object_set_new(o, "rows", json_integer((json_int_t)t->rows));
    json_object_set_new(o, "configurations", json_integer(t->known->len));
    json_object_set_new(o, "sources", texts_json(t->sources));
    json_object_set_new(o, "readings", texts_json(t->readings));
    json_object_set_new(o, "questions", orch_cli_learned_json(t->learned));
    json_object_set_new(o, "last_known_time", orch_json_finite(t->last_known));
    json_object_set_new(o, "ratio_of_specifications", orch_json_finite(t->ratio));
    json_object_set_new(o, "used", json_boolean(t->is_used));
    return o;
}

/* ---- train ----------------------------------------------------------------------------------- */

struct train_options {
    const char *target, *model, *box, *name, *where;
    const char **data, **drop;
    int seed;
    bool untuned, no_runs;
};

static const struct orch_option TRAIN_OPTIONS[] = {
    ORCH_OPTION(struct train_options, target, TEXT, "target", .letter = 't', .value = "NAME",
                .help = "what to predict: step_ms, epoch_s, images_per_s, wall_s"),
    ORCH_OPTION(struct train_options, model, TEXT, "model", .letter = 'm', .value = "NAME",
                .help = "model: auto, linear, tree, forest, boost, knn, mlp, kernel or grey"),
    ORCH_OPTION(struct train_options, data, LIST, "data", .letter = 'd', .value = "NAME,...",
                .help = "also train on these imported tables"),
    ORCH_OPTION(struct train_options, no_runs, FLAG, "no-runs",
                .help = "do not train on the store's runs"),
    ORCH_OPTION(struct train_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "train only on runs that match ('orch help filters')"),
    ORCH_OPTION(struct train_options, drop, LIST, "drop", .value = "COLUMN,...",
                .help = "columns to ignore"),
    ORCH_OPTION(struct train_options, name, TEXT, "name", .letter = 'n', .value = "NAME",
                .help = "name of the predictor (default: the experiment's or the target's)"),
    ORCH_OPTION(struct train_options, untuned, FLAG, "untuned",
                .help = "do not search hyperparameters"),
    ORCH_OPTION(struct train_options, seed, INT, "seed", .value = "N",
                .help = "random seed of folds and models (default 0)"),
    {0}};

static void print_baselines(const struct orch_trained *t)
{
    g_autofree char *last = percent(t->last_known), *specs = percent(t->ratio);
    orch_cli_print("errors of the baselines: time of the nearest measurement %s, scaled by "
                   "specifications %s; %s",
                   last, specs,
                   t->is_used ? "the predictor is better"
                              : "the predictor is not better, so it is not used");
}

/* Prints the command that asks a predictor of an experiment's parameters. */
static void print_use(struct orch_cli *cli, const struct orch_trained *t)
{
    if (!t->experiment)
        return;
    g_autofree char *word = orch_cli_shell_word(t->experiment);
    fflush(stdout);
    orch_cli_info(cli, "to forecast a run: orch predict --experiment %s -x PARAM=VALUE,...", word);
}

static bool settle_model(const char *name, struct orch_learn_options *out, GError **error)
{
    out->model = name ? name : "auto";
    out->target = ORCH_LEARN_BEST;
    if (strcmp(out->model, "grey") == 0) {
        out->model = "auto";
        out->target = ORCH_LEARN_GREY;
    }
    return orch_learn_model_check(out->model, error);
}

static int run_train(struct orch_cli *cli, const void *options, GError **error)
{
    const struct train_options *o = options;
    g_auto(GStrv) data = orch_cli_predictor_split_list(o->data),
                  drop = orch_cli_predictor_split_list(o->drop);
    struct orch_training_request r = {
        .target = o->target,
        .runs = !o->no_runs,
        .datasets = (const char *const *)data,
        .drop = (const char *const *)drop,
        .name = o->name,
        .learn = {.seed = (uint64_t)o->seed, .no_tuning = o->untuned}};
    if (!settle_model(o->model, &r.learn, error))
        return -1;
    struct orch_where *where = o->where ? orch_where_parse(o->where, error) : NULL;
    if (o->where && !where)
        return -1;
    r.where = where;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    int64_t begin = orch_mono_ns();
    orch_cli_learn_progress_begin(cli, &r.learn);
    struct orch_trained *t = store ? orch_training_learn(store, &r, notes, error) : NULL;
    orch_cli_learn_progress_end(&r.learn);
    double seconds = (double)(orch_mono_ns() - begin) / 1e9;
    orch_where_free(where);
    g_autofree char *text = t ? orch_trained_text(t) : NULL;
    bool ok = text && orch_store_put_predictor(store, t->name, text, error);
    if (ok) {
        for (guint i = 0; i < notes->len; i++)
            orch_cli_warn(cli, "%s", (char *)notes->pdata[i]);
        if (cli->json) {
            json_t *json = trained_json(t);
            json_object_set_new(json, "fit_s", orch_json_finite(seconds));
            orch_cli_print_json(json);
        } else {
            orch_cli_print("predictor '%s' from %zu rows of %u settings, %.2f s", t->name, t->rows,
                           t->known->len, seconds);
            orch_cli_learned_print(t->learned, cli->verbose ? ALL : MEMBERS);
            print_baselines(t);
            print_use(cli, t);
        }
    }
    orch_trained_free(t);
    return ok ? ORCH_EXIT_OK : -1;
}

/* ---- ls -------------------------------------------------------------------------------------- */

/* Returns the error for levels of a column that were not in the training data; NaN: not learned. */
static double unseen_error(const struct orch_learned *l, const char *column)
{
    for (int k = 1; k < orch_learned_scenarios(l); k++)
        if (g_strcmp0(orch_learned_question(l, k).column, column) == 0 &&
            !orch_learned_question(l, k).has_one_group)
            return orch_learned_question(l, k).error;
    return (double)NAN;
}

/* Returns whether 'orch predict' uses this predictor: that of step times, or of an experiment. */
static bool is_used_by_predict(const struct orch_trained *t)
{
    return t->is_used && (t->experiment || strcmp(t->name, ORCH_PREDICTOR_STEP) == 0);
}

static const char *used_text(const struct orch_trained *t)
{
    if (!t->is_used)
        return "no: a baseline is better";
    return is_used_by_predict(t) ? "yes" : "no: 'orch predict' uses only '" ORCH_PREDICTOR_STEP "'";
}

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    static const char *const headers[] = {"name",   "target",      ">rows",       "answers",
                                          ">error", ">unseen GPU", ">unseen net", ">last known",
                                          ">ratio", "used",        "made",        NULL};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) rows = store ? orch_store_predictors(store, true, error) : NULL;
    if (!rows)
        return -1;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_predictor_row *row = rows->pdata[i];
        g_autoptr(GError) broken = NULL;
        struct orch_trained *t = orch_kept_predictor_read(row, false, &broken);
        if (!t) {
            orch_cli_warn(cli, "%s", broken->message);
            continue;
        }
        double shares[5] = {orch_learned_question(t->learned, 0).error,
                            unseen_error(t->learned, "gpu"), unseen_error(t->learned, "net"),
                            t->last_known, t->ratio};
        g_autofree char *mixture = orch_learned_text(t->learned, 0);
        orch_table_add(table, t->name, NULL);
        orch_table_add(table, t->target, NULL);
        orch_table_add_int(table, (int64_t)t->rows);
        orch_table_add(table, mixture, NULL);
        for (size_t k = 0; k < G_N_ELEMENTS(shares); k++) {
            g_autofree char *text = percent(shares[k]);
            orch_table_add(table, text, orch_json_finite(shares[k]));
        }
        orch_table_add(table, used_text(t), json_boolean(is_used_by_predict(t)));
        orch_table_add(table, t->made, NULL);
        orch_trained_free(t);
    }
    orch_cli_table_print(cli, table, "predictors");
    return ORCH_EXIT_OK;
}

/* ---- show, export, rm ------------------------------------------------------------------------ */

static int run_show(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_trained *t = open_named(cli, error);
    if (t && cli->json) {
        orch_cli_print_json(trained_json(t));
    } else if (t) {
        g_autofree char *sources = g_strjoinv(", ", t->sources);
        g_autofree char *columns = g_strjoinv(", ", t->columns);
        orch_cli_print("predictor %s\n"
                       "  target    %s%s%s\n"
                       "  made      %s\n"
                       "  from      %zu rows of %u settings: %s\n"
                       "  columns   %s",
                       t->name, t->target, t->experiment ? " of experiment " : "",
                       t->experiment ? t->experiment : "", t->made, t->rows, t->known->len, sources,
                       columns);
        for (int i = 0; t->readings[i]; i++)
            orch_cli_print("  read      %s", t->readings[i]);
        orch_cli_learned_print(t->learned, cli->verbose ? ALL : MEMBERS);
        print_baselines(t);
    }
    bool ok = t;
    orch_trained_free(t);
    return ok ? ORCH_EXIT_OK : -1;
}

struct export_options {
    const char *output;
};

static const struct orch_option EXPORT_OPTIONS[] = {
    ORCH_OPTION(struct export_options, output, TEXT, "output", .letter = 'o', .value = "FILE",
                .help = "write to FILE instead of stdout"),
    {0}};

static int run_export(struct orch_cli *cli, const void *options, GError **error)
{
    const struct export_options *o = options;
    struct orch_trained *t = open_named(cli, error);
    if (!t)
        return -1;
    json_t *saved = orch_trained_save(t, ORCH_SAVE_PLAIN);
    char *text = json_dumps(saved, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    g_autofree char *whole = g_strconcat(text, "\n", NULL);
    free(text); /* of malloc: GLib's memory is another */
    json_decref(saved);
    orch_trained_free(t);
    if (o->output)
        return orch_file_write(o->output, whole, strlen(whole), false, error) ? ORCH_EXIT_OK : -1;
    orch_cli_write_data(cli, whole, strlen(whole));
    return ORCH_EXIT_OK;
}

static int run_rm(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    g_autoptr(json_t) removed = json_array();
    for (int i = 0; store && i < cli->arg_count; i++) {
        struct orch_predictor_row *row = find_row(store, cli->args[i], error);
        bool is_removed = false;
        if (!row || !orch_store_remove_predictor(store, row->name, &is_removed, error)) {
            orch_predictor_row_free(row);
            return -1;
        }
        orch_predictor_row_free(row);
        json_array_append_new(removed, json_string(cli->args[i]));
        orch_cli_info(cli, "removed predictor '%s'; the rows used for its training are kept",
                      cli->args[i]);
    }
    if (store && cli->json)
        orch_cli_print_json(json_pack("{s:O}", "removed", removed));
    return store ? ORCH_EXIT_OK : -1;
}

/* ---- the commands ---------------------------------------------------------------------------- */

const struct orch_command ORCH_COMMAND_PREDICTOR_TRAIN = {
    .name = "predictor train",
    .group = "Networks and hardware",
    .summary = "train predictors of run times on the store's runs and measurements",
    .usage = "",
    .max_args = 0,
    .options = TRAIN_OPTIONS,
    .option_bytes = sizeof(struct train_options),
    .about = "Trains on runs that ended ok and whose plugin describes their work (network, batch, "
             "...) under the key 'cost'. 'orch predictor rows' lists them; at least 10 are needed. "
             "For a script without this key, choose the runs of one experiment with --where: orch "
             "learns their wall time from their parameters.\n\n"
             "The best models are printed with their errors; --verbose prints all models. A "
             "predictor stays in this store.",
    .examples = "orch predictor train\n"
                "orch predictor train --where 'experiment = fit'   # a script of your own\n"
                "orch predictor train --no-runs --data justus-conv --target ms --name conv",
    .run = run_train,
};

const struct orch_command ORCH_COMMAND_PREDICTOR_LS = {
    .name = "predictor ls",
    .group = "Networks and hardware",
    .family = "models trained on your runs: train, list, score",
    .summary = "list trained predictors, their errors, and whether forecasts use them",
    .usage = "",
    .max_args = 0,
    .examples = "orch predictor ls",
    .run = run_ls,
};

const struct orch_command ORCH_COMMAND_PREDICTOR_SHOW = {
    .name = "predictor show",
    .group = "Networks and hardware",
    .summary = "show a predictor: its training rows and its errors",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .examples = "orch predictor show step_ms",
    .run = run_show,
};

const struct orch_command ORCH_COMMAND_PREDICTOR_EXPORT = {
    .name = "predictor export",
    .group = "Networks and hardware",
    .summary = "write a predictor as JSON",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = EXPORT_OPTIONS,
    .option_bytes = sizeof(struct export_options),
    .examples = "orch predictor export step_ms -o step_ms.json",
    .run = run_export,
};

const struct orch_command ORCH_COMMAND_PREDICTOR_RM = {
    .name = "predictor rm",
    .group = "Networks and hardware",
    .summary = "remove trained predictors",
    .usage = "NAME...",
    .min_args = 1,
    .max_args = -1,
    .examples = "orch predictor rm step_ms",
    .run = run_rm,
};
