/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch ask`: the setting that a search would try next, for a program that runs its trials itself.
 * What was told is what the store has: runs of an experiment with the parameters and the metric. */
#include "core/cli/cli.h"
#include "core/record/collect.h"
#include "core/results/selection.h"
#include "core/stats/group.h"
#include "features/search/samplers/sampler.h"
#include "features/search/tried_points.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/random.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* So many runs may end well without the metric before the search is in doubt. */
#define WITHOUT_METRIC 3

struct ask_options {
    const char **ranges, **pending;
    const char *search, *experiment, *sampler, *seed;
    int population;
    bool hold;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct ask_options, ranges, LIST, "sweep", .letter = 'x', .value = "PARAM=RANGE",
                .help = "a parameter and its range, such as 'lr=loguniform(1e-4, 1)'"),
    ORCH_OPTION(struct ask_options, search, TEXT, "search", .value = "METRIC",
                .help = "the metric to optimise, such as 'max val_accuracy'"),
    ORCH_OPTION(struct ask_options, experiment, TEXT, "experiment", .letter = 'e', .value = "NAME",
                .help = "the experiment whose runs gave the results so far"),
    ORCH_OPTION(struct ask_options, pending, LIST, "pending", .value = "PARAM=VALUE,...",
                .help = "a setting that runs elsewhere now (repeatable)"),
    ORCH_OPTION(struct ask_options, sampler, TEXT, "sampler", .value = "NAME",
                .help = "algorithm: " ORCH_SAMPLER_WORDS),
    ORCH_OPTION(struct ask_options, seed, TEXT, "seed", .value = "N",
                .help = "seed of the sampler (default: 0)"),
    ORCH_OPTION(struct ask_options, population, COUNT, "population", .value = "N",
                .help = "size of the population (at least 4), for population-based training"),
    ORCH_OPTION(struct ask_options, hold, FLAG, "hold",
                .help = "after the answer, other 'ask --hold' wait until input comes or ends"),
    {0}};

/* The question while it is answered. */
struct question {
    struct orch_store *store;
    struct orch_search search; /* space, metric, summary, direction, seed */
    GArray *sampled;           /* struct orch_sampled */
    GPtrArray *points;         /* double *: theirs */
    GPtrArray *keys;           /* char *: of their runs; "": it runs now */
    GArray *members;           /* unsigned: of the population; 0: of none */
    unsigned done, lacking;    /* runs that ended well, and those of them without the metric */
    int lock;                  /* descriptor of the file that is locked; -1: none */
};

/* The trial that is tried next. */
struct answer {
    double at[ORCH_SPACE_PARAMS_MAX];
    unsigned member;    /* of the population; 0: there is no population */
    const char *parent; /* the run that it goes on from; NULL: none */
    json_t *artifacts;  /* of that run: name -> path */
};

static bool usage(GError **error, const char *hint, const char *option, const char *value)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '%s': '%s' is not valid", option, value);
    return false;
}

static bool read_ranges(struct question *q, const char **ranges, GError **error)
{
    static const char hint[] = "for example -x 'lr=loguniform(1e-4, 1)' -x 'opt=choice(sgd, adam)'";
    q->search.space = orch_space_new();
    for (int i = 0; ranges && ranges[i]; i++) {
        g_auto(GStrv) parts = g_strsplit(ranges[i], "=", 2);
        if (!parts[0] || !parts[1])
            return usage(error, hint, "--sweep", ranges[i]);
        if (!orch_space_add(q->search.space, g_strstrip(parts[0]), g_strstrip(parts[1]), NULL,
                            error))
            return false;
    }
    return q->search.space->params->len || usage(error, hint, "--sweep", "");
}

static bool read_question(struct question *q, const struct ask_options *o, GError **error)
{
    enum orch_better better;
    int64_t seed = 0;
    if (!read_ranges(q, o->ranges, error))
        return false;
    if (!o->search ||
        !orch_objective_read(o->search, &better, &q->search.summary, &q->search.metric))
        return usage(error, "for example --search 'max val_accuracy'", "--search",
                     o->search ? o->search : "");
    q->search.direction = orch_direction_of(q->search.metric, NULL, better);
    q->search.is_max = q->search.direction.better == ORCH_BETTER_MAX;
    if (q->search.direction.better == ORCH_BETTER_NONE)
        return orch_direction_unknown(q->search.metric, "write 'max NAME' or 'min NAME'", error);
    if (!o->experiment)
        return usage(error, "for example --experiment train", "--experiment", "");
    if (o->seed && (!orch_int_parse(o->seed, &seed) || seed < 0))
        return usage(error, "use a whole number of at least 0", "--seed", o->seed);
    q->search.seed = (uint64_t)seed;
    return true;
}

/* A run of a population says its member and its parent as parameters. */
static bool check_population(const struct question *q, const struct ask_options *o, GError **error)
{
    static const char *const taken[] = {"member", "parent"};
    if (!o->population)
        return true;
    if (o->population < ORCH_POPULATION_LEAST) {
        g_autofree char *size = g_strdup_printf("%d", o->population);
        return usage(error, "a population has at least 4 members", "--population", size);
    }
    if (o->sampler)
        return usage(error, "a population chooses settings by itself", "--sampler", o->sampler);
    for (size_t i = 0; i < G_N_ELEMENTS(taken); i++)
        if (orch_space_find(q->search.space, taken[i]) >= 0)
            return usage(error, "a population records 'member' and 'parent' itself", "--sweep",
                         taken[i]);
    return true;
}

/* The unit coordinate of a written value. A choice may be the same number in another form: the run
 * of 1e-4 has 0.0001. */
static bool unit_of(const struct orch_space_param *param, const char *text, double *out)
{
    double value, choice;
    if (orch_space_unit(param, text, out))
        return true;
    for (guint k = 0; param->choices && k < param->choices->len; k++)
        if (orch_real_parse(text, &value) && orch_real_parse(param->choices->pdata[k], &choice) &&
            value == choice)
            return orch_space_unit(param, param->choices->pdata[k], out);
    return false;
}

/* Adds a point; false, without one, if a value is not of its range. `value_of` gives the text of a
 * parameter, which is freed, or NULL. */
static bool add_point(struct question *q, char *(*value_of)(const void *of, const char *name),
                      const void *of, const char *key, struct orch_sampled sampled)
{
    g_autofree char *member = value_of(of, "member");
    int64_t number = 0;
    const struct orch_space *space = q->search.space;
    g_autofree double *at = g_new0(double, ORCH_SPACE_PARAMS_MAX);
    for (unsigned i = 0; i < space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(space, i);
        at[i] = (double)NAN;
        if (!orch_space_exists(space, i, at))
            continue;
        g_autofree char *text = value_of(of, param->name);
        if (!text || !unit_of(param, text, &at[i]))
            return false;
    }
    orch_space_snap(space, at);
    sampled.point = at;
    g_ptr_array_add(q->points, g_steal_pointer(&at));
    g_array_append_val(q->sampled, sampled);
    const unsigned of_member =
        member && orch_int_parse(member, &number) && number > 0 && number < INT_MAX
            ? (unsigned)number
            : 0;
    g_array_append_val(q->members, of_member);
    g_ptr_array_add(q->keys, g_strdup(key));
    return true;
}

static char *param_text(const void *params, const char *name)
{
    const json_t *value = json_object_get(params, name);
    return !value                  ? NULL
           : json_is_string(value) ? g_strdup(json_string_value(value))
                                   : orch_value_format_json(value);
}

/* The value of NAME in "a=1,b=2". */
static char *listed_text(const void *list, const char *name)
{
    g_auto(GStrv) pairs = g_strsplit(list, ",", -1);
    const size_t length = strlen(name);
    for (char **pair = pairs; *pair; pair++)
        if (strncmp(*pair, name, length) == 0 && (*pair)[length] == '=')
            return g_strdup(*pair + length + 1);
    return NULL;
}

/* Adds what a run tells; one that was cancelled or lost, or has other values, tells nothing. */
static bool add_run(struct question *q, const struct orch_run *run, GError **error)
{
    const enum orch_verdict verdict = orch_verdict_parse(run->state);
    const bool is_reused = orch_verdict_facts(verdict)->is_reused;
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    double value = (double)NAN;
    if (!is_reused && !orch_tried_failed_by_itself(verdict))
        return true;
    orch_aggregate_parse(q->search.summary, &aggregate);
    g_autoptr(json_t) params = orch_store_params(q->store, run->id, error);
    struct orch_run_numbers *numbers =
        params && is_reused ? orch_run_numbers_read(q->store, run, error) : NULL;
    if (!params || (is_reused && !numbers))
        return false;
    const bool has_metric = numbers && orch_run_numbers_has(numbers, q->search.metric);
    if (numbers)
        value = orch_run_numbers_get(numbers, q->search.metric, aggregate, NULL, NULL);
    orch_run_numbers_free(numbers);
    if (!json_object_get(params, "seed")) /* is kept apart */
        json_object_set_new(params, "seed", orch_json_u64(run->seed));
    const struct orch_sampled sampled = {.state = isfinite(value) ? ORCH_SAMPLED_ENDED
                                                                  : ORCH_SAMPLED_FAILED,
                                         .value = q->search.is_max ? -value : value,
                                         .cost = run->wall_ms / 1000};
    if (add_point(q, param_text, params, run->key, sampled) && is_reused) {
        q->done++;
        q->lacking += !has_metric;
    }
    return true;
}

/* Adds the runs of the experiment that have begun and not ended. */
static bool add_running(struct question *q, const char *experiment, GError **error)
{
    unsigned closed, pending;
    g_autoptr(GPtrArray) rows = orch_recover(q->store, &closed, &pending, error)
                                    ? orch_store_actives(q->store, error)
                                    : NULL;
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
        json_t *params = json_object_get(json_object_get(record, "facts"), "coords");
        if (!params || g_strcmp0(orch_json_text(record, "experiment", NULL), experiment) != 0)
            continue;
        json_object_set(params, "seed", json_object_get(record, "seed"));
        add_point(q, param_text, params, row->key,
                  (struct orch_sampled){.state = ORCH_SAMPLED_PENDING});
    }
    return rows;
}

static bool add_told(struct question *q, const struct ask_options *o, GError **error)
{
    const struct orch_selection selection = {.experiment = o->experiment, .oldest_first = true};
    g_autoptr(GPtrArray) runs = orch_selection_runs(&selection, q->store, NULL, error);
    for (guint i = 0; runs && i < runs->len; i++)
        if (!add_run(q, runs->pdata[i], error))
            return false;
    for (int i = 0; runs && o->pending && o->pending[i]; i++)
        if (!add_point(q, listed_text, o->pending[i], "",
                       (struct orch_sampled){.state = ORCH_SAMPLED_PENDING}))
            return usage(error, "name a value of each range: --pending lr=0.1,opt=sgd", "--pending",
                         o->pending[i]);
    return runs && add_running(q, o->experiment, error);
}

/* Finds what the parent has left: a trial cannot go on from nothing. */
static bool read_artifacts(const struct question *q, struct answer *out, GError **error)
{
    struct orch_run *run = orch_store_run(q->store, out->parent, error);
    g_autoptr(GPtrArray) artifacts = run ? orch_store_artifacts(q->store, run->id, error) : NULL;
    orch_run_free(run);
    for (guint i = 0; artifacts && i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        g_autofree char *path =
            artifact->here ? orch_store_object_path(q->store, artifact->sha256) : NULL;
        if (path)
            json_object_set_new(out->artifacts, artifact->name, json_string(path));
    }
    if (!artifacts || json_object_size(out->artifacts))
        return artifacts;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   "save the state of each trial, for example 't.artifact(\"weights\", path)'",
                   "run %s has no artifact here from which the next trial could continue",
                   out->parent);
    return false;
}

static bool choose_of_population(const struct question *q, const struct orch_sampling *sampling,
                                 int size, struct answer *out, GError **error)
{
    gssize parent;
    out->member = orch_sample_population(sampling, (const void *)q->members->data, (unsigned)size,
                                         out->at, &parent);
    if (!out->member) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "wait until one of them ends",
                       "all %d members of the population are running", size);
        return false;
    }
    if (parent < 0)
        return true;
    out->parent = q->keys->pdata[parent];
    return read_artifacts(q, out, error);
}

/* Chooses what is tried next. */
static bool choose(const struct question *q, orch_sampler_fn sampler, int population,
                   struct answer *out, GError **error)
{
    const struct orch_sampling sampling = {.space = q->search.space,
                                           .trials = (const void *)q->sampled->data,
                                           .count = q->sampled->len,
                                           .seed = q->search.seed};
    if (population)
        return choose_of_population(q, &sampling, population, out, error);
    if (orch_sampler_untried(sampler, &sampling, out->at))
        return true;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "widen the ranges",
                   "the sampler finds only settings that were already tried");
    return false;
}

/* "no run of the search has a metric 'los'", with a hint; NULL: it has, or there are few runs. */
static char *doubt_metric(const struct question *q)
{
    g_autoptr(GError) doubt = NULL;
    if (q->done < WITHOUT_METRIC || q->lacking < q->done)
        return NULL;
    orch_metric_not_found(q->store, "of the search", q->search.metric, &doubt);
    g_autofree char *what = orch_error_what(doubt);
    const char *hint = orch_error_hint(doubt);
    return g_strdup_printf("%s%s%s", what, hint ? "\n  hint: " : "", hint ? hint : "");
}

static void print_answer(struct orch_cli *cli, const struct question *q,
                         const struct answer *answer)
{
    json_t *setting = json_object();
    g_autofree char *doubt = doubt_metric(q);
    for (unsigned i = 0; i < q->search.space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(q->search.space, i);
        g_autofree char *text = isnan(answer->at[i]) ? NULL : orch_space_text(param, answer->at[i]);
        if (text)
            json_object_set_new(setting, param->name, json_string(text));
    }
    if (cli->json) {
        json_t *json = json_pack("{s:O s:i s:s?}", "setting", setting, "told", (int)q->sampled->len,
                                 "problem", doubt);
        if (answer->member)
            json_object_update_new(json, json_pack("{s:i s:s? s:O}", "member", (int)answer->member,
                                                   "parent", answer->parent, "artifacts",
                                                   answer->artifacts));
        orch_cli_print_json(json);
    } else {
        g_autofree char *text = orch_search_values(&q->search, answer->at);
        g_autofree char *member =
            answer->member ? g_strdup_printf(" member=%u", answer->member) : g_strdup("");
        orch_cli_print("%s%s%s%s", text, member, answer->parent ? " parent=" : "",
                       answer->parent ? answer->parent : "");
        if (doubt)
            orch_cli_warn(cli, "%s", doubt);
    }
    json_decref(setting);
}

/* Waits until no other program is between an answer and the begin of its run, so that a run that
 * has begun is known here. A folder without room for the file has no lock. */
static void take_lock(struct question *q)
{
    g_autofree char *path = g_build_filename(orch_store_local_folder(q->store), "ask.lock", NULL);
    q->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (q->lock >= 0)
        flock(q->lock, LOCK_EX);
}

/* Lets the reader of the answer see its end, and keeps the lock until it has begun its run. */
static void hold_lock(void)
{
    char byte;
    fflush(stdout);
    if (freopen("/dev/null", "w", stdout))
        (void)!read(STDIN_FILENO, &byte, 1);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct ask_options *o = options;
    struct answer answer = {.artifacts = json_object()};
    struct question q = {.sampled = g_array_new(FALSE, TRUE, sizeof(struct orch_sampled)),
                         .points = g_ptr_array_new_with_free_func(g_free),
                         .keys = g_ptr_array_new_with_free_func(g_free),
                         .members = g_array_new(FALSE, TRUE, sizeof(unsigned)),
                         .lock = -1};
    orch_sampler_fn sampler = orch_sampler_find(o->sampler ? o->sampler : "auto");
    int status = -1;
    if (!sampler)
        usage(error, ORCH_SAMPLER_WORDS, "--sampler", o->sampler);
    else if (read_question(&q, o, error) && check_population(&q, o, error) &&
             (q.store = orch_cli_store(cli, ORCH_STORE_CREATE, error))) {
        const char *instead = o->sampler ? orch_sampler_instead(o->sampler, q.search.space) : NULL;
        if (instead)
            orch_cli_warn(cli, "%s", instead);
        if (o->hold)
            take_lock(&q);
        if (add_told(&q, o, error) && choose(&q, sampler, o->population, &answer, error)) {
            print_answer(cli, &q, &answer);
            if (o->hold)
                hold_lock();
            status = ORCH_EXIT_OK;
        }
        if (q.lock >= 0)
            close(q.lock);
    }
    json_decref(answer.artifacts);
    orch_space_free(q.search.space);
    g_free(q.search.metric);
    g_free(q.search.summary);
    g_array_unref(q.sampled);
    g_ptr_array_unref(q.points);
    g_ptr_array_unref(q.keys);
    g_array_unref(q.members);
    return status;
}

extern const struct orch_command ORCH_COMMAND_ASK;
const struct orch_command ORCH_COMMAND_ASK = {
    .name = "ask",
    .group = "Decide",
    .summary = "name the setting that a search would try next",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct ask_options),
    .about = "Chooses the next setting from the results of the experiment's runs. Use this command "
             "in a program that runs its trials itself; in Python, use 'orch.study'.",
    .examples = "  orch ask -x 'lr=loguniform(1e-4, 1)' --search 'max val_accuracy' -e train",
    .run = run,
};
