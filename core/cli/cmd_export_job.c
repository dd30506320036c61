/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch export job`: a trial as the training-job document of a cluster or cloud platform. */
#include "core/cli/cli.h"
#include "core/cli/job_trial.h"

#include "core/forecast/trial_forecasts.h"
#include "core/jobs/job_instance.h"
#include "core/recipe/option_value.h"
#include "core/results/run_named.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define VALUE_CHARS 60

struct job_options {
    struct orch_job_selector selector;
    const char *to, *gpu, *out, *time;
    const char **instances, **names, **images, **data, **inputs, **results, **roles, **queues,
        **projects, **definitions;
    bool side_by_side;
};
#define AT(member) offsetof(struct job_options, member)

static const struct orch_option OPTIONS[] = {
    {"to", 0, "PLATFORM", ORCH_OPT_TEXT, AT(to),
     "slurm, sagemaker, vertex, azureml, watsonx or k8s"},
    {"side-by-side", 0, NULL, ORCH_OPT_FLAG, AT(side_by_side),
     "show where each platform's document has each field"},
    {"trial", 0, "N|LABEL", ORCH_OPT_TEXT, AT(selector.trial),
     "the trial, by its number or label, if there are several"},
    {"set", 's', "[EXP.]PARAM=VALUE", ORCH_OPT_LIST, AT(selector.variant.settings),
     "set a parameter (a comma is part of the value)"},
    {"sweep", 'x', "[EXP.]PARAM=A,B,...", ORCH_OPT_LIST, AT(selector.variant.sweeps),
     "sweep parameters over values, or range(A,B[,STEP])"},
    {"profile", 'p', "NAME", ORCH_OPT_TEXT, AT(selector.variant.profile),
     "use this profile instead of the recipe's default"},
    {"gpu", 0, "NAME", ORCH_OPT_TEXT, AT(gpu), "GPU of the instance (default: the cheapest)"},
    {"instance", 0, "NAME", ORCH_OPT_LIST, AT(instances), "instance, as the platform calls it"},
    {"time", 0, "DURATION", ORCH_OPT_TEXT, AT(time),
     "time limit (default: 95 % of the forecast, rounded up)"},
    {"name", 0, "NAME", ORCH_OPT_LIST, AT(names), "name of the job"},
    {"image", 0, "IMAGE", ORCH_OPT_LIST, AT(images),
     "container image with orch and the repository"},
    {"data", 0, "PLACE", ORCH_OPT_LIST, AT(data), "where the data sets lie"},
    {"inputs", 0, "PLACE", ORCH_OPT_LIST, AT(inputs),
     "where a bundle lies with the runs that the trial refers to"},
    {"results", 0, "PLACE", ORCH_OPT_LIST, AT(results), "where the job writes its results"},
    {"role", 0, "NAME", ORCH_OPT_LIST, AT(roles), "identity that the job runs as"},
    {"queue", 0, "NAME", ORCH_OPT_LIST, AT(queues), "partition, compute target or priority class"},
    {"project", 0, "NAME", ORCH_OPT_LIST, AT(projects), "account, namespace or space"},
    {"definition", 0, "ID", ORCH_OPT_LIST, AT(definitions),
     "watsonx: stored model definition with the repository"},
    {"out", 'o', "FILE", ORCH_OPT_TEXT, AT(out), "write to FILE instead of stdout"},
    {0}};

/* ---- options of one platform -------------------------------------------------------------------
 */

/* Returns the value that applies to a platform: "PLATFORM=VALUE", else the last without a platform.
 * NULL when there is none. */
static const char *value_for(const char **values, const char *platform)
{
    const char *found = NULL;
    size_t length = strlen(platform);
    for (int i = 0; values && values[i]; i++)
        if (strncmp(values[i], platform, length) == 0 && values[i][length] == '=')
            return values[i] + length + 1;
    for (int i = 0; values && values[i]; i++) {
        const char *equals = strchr(values[i], '=');
        g_autofree char *word =
            equals ? g_strndup(values[i], (gsize)(equals - values[i])) : g_strdup("");
        if (!orch_job_platform_find(word, NULL))
            found = values[i];
    }
    return found;
}

static struct orch_job_account account_for(const struct job_options *o, const char *platform)
{
    return (struct orch_job_account){.name = value_for(o->names, platform),
                                     .image = value_for(o->images, platform),
                                     .data = value_for(o->data, platform),
                                     .inputs = value_for(o->inputs, platform),
                                     .out = value_for(o->results, platform),
                                     .role = value_for(o->roles, platform),
                                     .queue = value_for(o->queues, platform),
                                     .project = value_for(o->projects, platform),
                                     .definition = value_for(o->definitions, platform)};
}

/* ---- the job -----------------------------------------------------------------------------------
 */

/* Returns the time that the reused run of a trial took; NaN when there is none. */
static double time_of_run(const struct orch_plan *plan, const struct orch_plan_item *item)
{
    const char *const names[] = {item->run_key};
    g_autoptr(GPtrArray) runs =
        item->run_key && plan->store ? orch_named_runs(plan->store, names, 1, NULL) : NULL;
    return runs ? ((const struct orch_run *)runs->pdata[0])->wall_ms / 1e3 : (double)NAN;
}

static void set_limit(struct orch_job *job, const struct orch_job_trial *trial, double given_s)
{
    struct orch_forecasts *forecasts = orch_forecasts_new(trial->plan);
    struct orch_forecaster forecaster = orch_forecasts_forecaster(forecasts);
    struct orch_forecast forecast;
    double p95_s = time_of_run(trial->plan, trial->item);
    g_autofree char *basis =
        isfinite(p95_s)
            ? g_strdup_printf("run %s took it", orch_cli_short_key(trial->item->run_key))
            : NULL;
    if (!basis && forecaster.forecast(forecaster.ctx, trial->item, &forecast)) {
        p95_s = forecast.p95_s;
        basis = g_strdup_printf("95 %% of the forecast for this machine, %s: %s", forecast.tier,
                                forecast.why);
    }
    orch_job_set_limit(job, trial->item->cell->experiment, given_s, p95_s, basis);
    orch_forecasts_free(forecasts);
}

static GPtrArray *copy_words(const GPtrArray *words)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < words->len; i++)
        g_ptr_array_add(out, g_strdup(words->pdata[i]));
    return out;
}

/* Returns the job of a platform. `*error` is set when no instance fits; the job then has none. */
static struct orch_job *make_job(const struct job_options *o, const struct orch_job_trial *trial,
                                 const struct orch_job_platform *platform,
                                 const struct orch_hardware *hardware, double given_s,
                                 GError **error)
{
    const struct orch_job_account account = account_for(o, platform->name);
    const struct orch_job_wish wish = {o->gpu, value_for(o->instances, platform->name)};
    struct orch_job *job =
        orch_job_new(trial->plan, trial->item, &account, copy_words(trial->words));
    set_limit(job, trial, given_s);
    orch_job_choose_instance(job, platform, hardware, &wish, error);
    return job;
}

/* ---- one document ------------------------------------------------------------------------------
 */

static char *limit_text(const struct orch_job *job)
{
    g_autofree char *limit = orch_duration_format(job->limit_s);
    return job->limit_s > 0 ? g_strdup_printf("%s (%s)", limit, job->limit_from)
                            : g_strdup_printf("none (%s)", job->limit_from);
}

/* Prints on what the document rests, and what to do with it. */
static void print_basis(struct orch_cli *cli, const struct orch_job *job,
                        const struct orch_job_platform *platform,
                        const struct orch_hardware *hardware)
{
    double usd;
    g_autofree char *price = orch_job_price_text(job, hardware, &usd);
    g_autofree char *limit = limit_text(job);
    orch_cli_info(cli, "trial '%s' as %s", job->label, platform->document);
    if (job->instance_name)
        orch_cli_info(cli, "  instance %s%s%s, price %s", job->instance_name,
                      job->instance ? ": " : "", job->instance ? job->instance->gpu : "", price);
    orch_cli_info(cli, "  time limit %s", limit);
    if (isfinite(usd) && job->limit_s > 0)
        orch_cli_info(cli, "  at most $%.2f within that limit", usd * job->limit_s / 3600);
    orch_cli_info(cli, "  submit: %s", platform->submit);
    orch_cli_info(cli,
                  "  afterwards: orch db merge trial.orch, which the job leaves in its results");
    if (job->needs_inputs && !job->account.inputs)
        orch_cli_warn(cli,
                      "the trial refers to other runs, which the job would run again\n"
                      "  hint: 'orch export --bundle inputs.orch RUN...' writes them; name its "
                      "place with --inputs");
    if (json_object_get(job->params, "dataset") && !job->account.data)
        orch_cli_warn(cli, "data set '%s' must be in the image, or name its place with --data",
                      json_string_value(json_object_get(job->params, "dataset")));
}

static json_t *as_json(const struct orch_job *job, const struct orch_job_platform *platform,
                       const struct orch_hardware *hardware, json_t *document)
{
    double usd;
    g_autofree char *price = orch_job_price_text(job, hardware, &usd);
    return json_pack("{s:s s:s s:s s:s s:s? s:s? s:o s:s s:o s:s s:s s:s s:o}", "platform",
                     platform->name, "trial", job->label, "fingerprint", job->fingerprint, "recipe",
                     job->recipe, "instance", job->instance_name, "gpu",
                     job->instance ? job->instance->gpu : NULL, "usd_per_hour",
                     orch_json_finite(usd), "price", price, "limit_s",
                     orch_json_finite(job->limit_s > 0 ? job->limit_s : (double)NAN), "limit_from",
                     job->limit_from, "schema", platform->source, "submit", platform->submit,
                     "document", document);
}

static bool write_document(struct orch_cli *cli, const struct job_options *o,
                           const struct orch_job *job, const struct orch_job_platform *platform,
                           const struct orch_hardware *hardware, GError **error)
{
    g_autoptr(json_t) document = orch_job_document(platform, job, error);
    if (!document)
        return false;
    g_autofree char *text = orch_job_document_text(platform, document);
    if (o->out && !orch_file_write(o->out, text, strlen(text), false, error))
        return false;
    if (cli->json)
        orch_cli_print_json(as_json(job, platform, hardware, json_incref(document)));
    else if (!o->out)
        fputs(text, stdout);
    if (!cli->json)
        print_basis(cli, job, platform, hardware);
    return true;
}

static bool export_one(struct orch_cli *cli, const struct job_options *o,
                       const struct orch_job_trial *trial, const struct orch_hardware *hardware,
                       double given_s, GError **error)
{
    const struct orch_job_platform *platform = orch_job_platform_find(o->to, error);
    if (!platform)
        return false;
    GError *problem = NULL;
    struct orch_job *job = make_job(o, trial, platform, hardware, given_s, &problem);
    bool ok = !problem && write_document(cli, o, job, platform, hardware, error);
    if (problem)
        g_propagate_error(error, problem);
    orch_job_free(job);
    return ok;
}

/* ---- side by side ------------------------------------------------------------------------------
 */

struct side {
    const struct orch_job_platform *platform;
    json_t *document;
};

/* The value of a field for people: a scalar as it is, anything else as JSON, shortened. */
static char *value_text(const json_t *value)
{
    if (json_is_string(value) && g_utf8_strlen(json_string_value(value), -1) <= VALUE_CHARS)
        return g_strdup(json_string_value(value));
    char *all = json_dumps(value, JSON_ENCODE_ANY);
    g_autofree char *start =
        g_utf8_substring(all ? all : "", 0, MIN(g_utf8_strlen(all ? all : "", -1), VALUE_CHARS));
    bool is_long = all && strlen(start) < strlen(all);
    free(all);
    return g_strconcat(start, is_long ? "..." : "", NULL);
}

static void add_side_row(struct orch_table *table, const struct side *side, unsigned field)
{
    const char *path = side->platform->fields[field];
    const json_t *value = path ? orch_job_lookup(side->document, path) : NULL;
    orch_table_add(table, ORCH_JOB_FIELD_NAMES[field], NULL);
    orch_table_add(table, side->platform->name, NULL);
    orch_table_add(table, path ? path : "-", path ? NULL : json_null());
    if (!value) {
        orch_table_add(table, "-", json_null());
        return;
    }
    g_autofree char *text = value_text(value);
    orch_table_add(table, text, json_deep_copy(value));
}

/* Makes the document, and warns of what it lacks. */
static json_t *document_or_warn(struct orch_cli *cli, const struct job_options *o,
                                const struct orch_job_trial *trial,
                                const struct orch_job_platform *platform,
                                const struct orch_hardware *hardware, double given_s)
{
    g_autoptr(GError) error = NULL;
    struct orch_job *job = make_job(o, trial, platform, hardware, given_s, &error);
    json_t *document = platform->make(job);
    if (!error)
        orch_job_schema_check(platform->rules, document, platform->document, &error);
    if (error)
        orch_cli_warn(cli, "%s: %s", platform->name, error->message);
    orch_job_free(job);
    return document;
}

static void compare(struct orch_cli *cli, const struct job_options *o,
                    const struct orch_job_trial *trial, const struct orch_hardware *hardware,
                    double given_s)
{
    static const char *const headers[] = {"field", "platform", "in the document", "value", NULL};
    struct orch_table *table = orch_table_new(headers);
    g_autoptr(GArray) sides = g_array_new(FALSE, FALSE, sizeof(struct side));
    for (unsigned i = 0; ORCH_JOB_PLATFORMS[i]; i++) {
        struct side side = {
            ORCH_JOB_PLATFORMS[i],
            document_or_warn(cli, o, trial, ORCH_JOB_PLATFORMS[i], hardware, given_s)};
        g_array_append_val(sides, side);
    }
    for (unsigned field = 0; field < ORCH_JOB_FIELDS; field++)
        for (guint i = 0; i < sides->len; i++)
            add_side_row(table, &g_array_index(sides, struct side, i), field);
    orch_cli_table_print(cli, table, "fields");
    for (guint i = 0; i < sides->len; i++)
        json_decref(g_array_index(sides, struct side, i).document);
}

/* ---- the command -------------------------------------------------------------------------------
 */

static bool options_fit(const struct job_options *o, double *out_given_s, GError **error)
{
    const char *wrong = NULL;
    *out_given_s = 0;
    if (!o->to == !o->side_by_side)
        wrong = o->to ? "--side-by-side shows all platforms, so --to does nothing with it"
                      : "name the platform with --to, or compare all with --side-by-side";
    else if (o->side_by_side && o->out)
        wrong = "--out is for one document, not for --side-by-side";
    if (wrong)
        orch_error_set(error, ORCH_ERROR_USAGE, "see 'orch help export job'", "%s", wrong);
    return !wrong && (!o->time || orch_option_duration("time", o->time, out_given_s, error));
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct job_options *o = options;
    double given_s;
    if (!options_fit(o, &given_s, error) || (o->to && !orch_job_platform_find(o->to, error)))
        return -1;
    struct orch_hardware *hardware = orch_hardware_load(error);
    struct orch_job_trial trial = {0};
    bool ok = hardware && orch_job_trial_find(cli, &o->selector, &trial, error);
    if (ok && o->side_by_side)
        compare(cli, o, &trial, hardware, given_s);
    else if (ok)
        ok = export_one(cli, o, &trial, hardware, given_s, error);
    orch_job_trial_clear(&trial);
    orch_hardware_free(hardware);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_EXPORT_JOB = {
    .name = "export job",
    .group = "Looking",
    .summary = "write a trial as a training job for Slurm, Kubernetes or a cloud",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...] | RUN",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct job_options),
    .about =
        "Writes the document that the platform's own command submits: image, command, parameters, "
        "instance, data, results, time limit. The job runs orch in an image that contains it and "
        "the repository (its working folder), starts just this trial, and leaves the bundle "
        "trial.orch in its results, which 'orch db merge' reads; then the plan shows the trial as "
        "done.\n"
        "\n"
        "The instance is the cheapest with the GPUs, cores and memory that the recipe's "
        "'resources' ask for (share/hardware/training.csv), unless --gpu or --instance names one. "
        "The time limit is --time, the recipe's, or 95 % of the forecast for this machine, "
        "rounded up.\n"
        "\n"
        "The document is checked against the fields, limits and patterns that the platform "
        "publishes; one that breaks them is an error that names the field. Values of options that "
        "name things in your account apply to all platforms, or to one: --role "
        "sagemaker=arn:aws:... See docs/cloud.md.",
    .examples =
        "  orch export job r.recipe --trial 3 --to slurm -o job.sh && sbatch job.sh\n"
        "  orch export job r.recipe train -s lr=0.1 --to k8s --image me/orch --results claim\n"
        "  orch export job @last --to sagemaker --gpu T4 --image ... --role arn:... --results "
        "s3://b/p\n"
        "  orch export job r.recipe --trial 1 --side-by-side",
    .run = run,
};
