/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/training_job.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

/* Every platform accepts names of this length; Kubernetes and SageMaker allow 63 characters. */
#define NAME_CHARS_MAX 50
/* Containers take minutes to start, so shorter limits would end jobs before their trials. */
#define LIMIT_LEAST_S 600
#define LIMIT_STEP_S 300
#define BUNDLE "trial.orch"

/* ---- the name ----------------------------------------------------------------------------------
 */

static void append_part(GString *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        char c = g_ascii_isalnum(*p) ? (char)g_ascii_tolower(*p) : '-';
        if (c != '-' || (out->len && out->str[out->len - 1] != '-'))
            g_string_append_c(out, c);
    }
}

/* "hw4-finetune-3f9a12bc": the fingerprint distinguishes the trials of an experiment. */
static char *default_name(const struct orch_expansion *expansion, const struct orch_plan_item *item)
{
    GString *name = g_string_new(NULL);
    append_part(name, expansion->name);
    append_part(name, "-");
    append_part(name, item->cell->experiment->name);
    g_string_truncate(name, MIN(name->len, NAME_CHARS_MAX - 9));
    append_part(name, "-");
    if (item->fingerprint[0])
        g_string_append_len(name, item->fingerprint, 8);
    else
        g_string_append_printf(name, "%u", item->cell->index + 1);
    return g_string_free(name, FALSE);
}

/* ---- the trial ---------------------------------------------------------------------------------
 */

static json_t *public_params(const struct orch_cell *cell)
{
    json_t *out = json_object();
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        if (orch_param_is_secret(spec) || json_is_null(value))
            continue;
        g_autofree char *text = orch_cell_value_text(cell, name);
        if (text)
            json_object_set_new(out, name, json_string(text));
    }
    return out;
}

static char *commit_of(const struct orch_plan *plan)
{
    const struct orch_source *source = orch_workspace_source(plan->workspace, NULL);
    return g_strdup(source ? source->commit : NULL);
}

struct orch_job *orch_job_new(const struct orch_plan *plan, const struct orch_plan_item *item,
                              const struct orch_job_account *account, GPtrArray *words)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    struct orch_job *job = g_new0(struct orch_job, 1);
    job->account = *account;
    job->name = account->name ? g_strdup(account->name) : default_name(plan->expansion, item);
    job->label = orch_cell_label(item->cell);
    job->recipe = g_strdup(plan->expansion->name);
    job->experiment = g_strdup(experiment->name);
    job->plugin = g_strdup(experiment->manifest->name);
    job->fingerprint = g_strdup(item->fingerprint);
    job->commit = commit_of(plan);
    job->words = words;
    job->params = public_params(item->cell);
    job->needs_inputs = item->cell->refs->len > 0;
    job->gpus = orch_experiment_gpus(experiment);
    job->cores = experiment->cores;
    job->retries = experiment->retries;
    job->memory_bytes = experiment->memory_bytes;
    return job;
}

void orch_job_free(struct orch_job *job)
{
    if (!job)
        return;
    g_free(job->name);
    g_free(job->label);
    g_free(job->recipe);
    g_free(job->experiment);
    g_free(job->plugin);
    g_free(job->fingerprint);
    g_free(job->commit);
    g_free(job->limit_from);
    g_ptr_array_unref(job->words);
    json_decref(job->params);
    g_free(job);
}

/* ---- the time limit ----------------------------------------------------------------------------
 */

static void set_limit(struct orch_job *job, double seconds, char *from)
{
    g_free(job->limit_from);
    job->limit_s = seconds;
    job->limit_from = from;
}

void orch_job_set_limit(struct orch_job *job, const struct orch_experiment *experiment,
                        double given_s, double p95_s, const char *basis)
{
    if (given_s > 0) {
        set_limit(job, ceil(given_s), g_strdup("--time"));
    } else if (experiment->time_s > 0) {
        set_limit(job, ceil(experiment->time_s), g_strdup("the recipe's resources"));
    } else if (experiment->timeout_s > 0) {
        set_limit(job, ceil(MAX(experiment->timeout_s, LIMIT_LEAST_S)),
                  g_strdup("the recipe's timeout"));
    } else if (isfinite(p95_s)) {
        g_autofree char *p95 = orch_duration_format(p95_s);
        double limit = ceil(p95_s / LIMIT_STEP_S) * LIMIT_STEP_S;
        set_limit(job, MAX(limit, LIMIT_LEAST_S),
                  g_strdup_printf("%s (%s), rounded up", p95, basis));
    } else {
        set_limit(job, 0, g_strdup("no forecast, timeout or --time: the platform's own limit"));
    }
}

/* ---- the command -------------------------------------------------------------------------------
 */

/* Platforms end a job with SIGTERM and a grace period. The shell passes it on, and exports when
 * orch has stopped, so that the record of a trial that was stopped or failed is kept too; the job
 * ends with orch's status. */
static char *script(const char *command, const char *inputs, const char *out)
{
    g_autofree char *merge =
        inputs ? g_strdup_printf("orch db merge %s || exit; ", inputs) : g_strdup("");
    return g_strdup_printf("%s%s & p=$!; trap \"kill -TERM $p\" TERM; wait $p; s=$?; "
                           "while kill -0 $p 2>/dev/null; do wait $p; s=$?; done; "
                           "orch export --bundle %s/" BUNDLE " && exit $s",
                           merge, command, out);
}

static bool is_plain(const char *word)
{
    for (const char *p = word; *p; p++)
        if (!g_ascii_isalnum(*p) && !strchr("-_./=:,+@%", *p))
            return false;
    return *word;
}

char *orch_job_shell_line(const struct orch_job *job, const char *data, const char *inputs,
                          const char *out)
{
    g_autoptr(GString) command = g_string_new(NULL);
    for (guint i = 0; i < job->words->len; i++) {
        const char *word = job->words->pdata[i];
        g_autofree char *quoted = g_shell_quote(word);
        g_string_append_printf(command, "%s%s", i ? " " : "", is_plain(word) ? word : quoted);
    }
    g_autofree char *line = script(command->str, inputs, out);
    return data ? g_strdup_printf("export ORCH_DATA=%s; %s", data, line) : g_steal_pointer(&line);
}

json_t *orch_job_arguments(const struct orch_job *job, const char *inputs, const char *out)
{
    g_autofree char *text = script("\"$@\"", inputs, out);
    json_t *list = json_pack("[s s s s]", "/bin/sh", "-c", text, "sh");
    for (guint i = 0; i < job->words->len; i++)
        json_array_append_new(list, json_string(job->words->pdata[i]));
    return list;
}
