/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch run --executor slurm`: submits a plan and says what was asked of Slurm. */
#include "core/cli/cli.h"
#include "core/cli/parts.h"
#include "core/plan/executor.h"
#include "core/record/argv_record.h"
#include "features/slurm/slurm_cancel.h"
#include "features/slurm/slurm_jobs.h"
#include "features/slurm/slurm_stop.h"
#include "features/slurm/slurm_submit.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/trial_request.h"

#include <string.h>

/* "--time=00:10:00 (95 % forecast)" */
static char *request_text(const struct orch_slurm_request *request)
{
    g_autofree char *time = request->time_s > 0 ? orch_slurm_time_format(request->time_s) : NULL;
    g_autofree char *memory =
        request->memory_bytes > 0 ? orch_bytes_format(request->memory_bytes) : NULL;
    return g_strdup_printf("time %s%s%s%s, memory %s%s%s%s", time ? time : "",
                           time ? " (" : "by the ", request->time_from, time ? ")" : "",
                           memory ? memory : "", memory ? " (" : "by the ", request->memory_from,
                           memory ? ")" : "");
}

static void print(struct orch_cli *cli, const struct orch_slurm_submission *s,
                  const struct orch_limits *limits)
{
    g_autofree char *limit = orch_limits_describe(limits, s->limit);
    for (guint i = 0; i < s->arrays->len; i++) {
        const struct orch_slurm_array *array = s->arrays->pdata[i];
        g_autofree char *request = request_text(&array->request);
        orch_cli_info(cli, "submitted %u trial%s as Slurm job %" G_GINT64_FORMAT "%s%s: %s",
                      array->trials, orch_plural(array->trials), array->job,
                      array->dependency ? ", " : "", array->dependency ? array->dependency : "",
                      request);
    }
    if (!s->submitted && !s->held_back)
        orch_cli_info(cli, "nothing to submit: %u done, %u already submitted or running", s->reused,
                      s->held);
    if (s->waiting)
        orch_cli_info(cli,
                      "%u trial%s not submitted, because other trials must end first. Then run the "
                      "same command again",
                      s->waiting, s->waiting == 1 ? " was" : "s were");
    if (s->unchosen)
        orch_cli_info(
            cli,
            "%u trial%s of a search. Run the same command again when submitted trials have ended",
            s->unchosen, s->unchosen == 1 ? " is left" : "s are left");
    if (s->promoted)
        orch_cli_info(cli, "%u pruned trial%s %s, because %s among the best now", s->promoted,
                      orch_plural(s->promoted), s->promoted == 1 ? "resumes" : "resume",
                      s->promoted == 1 ? "it is" : "they are");
    if (s->unneeded)
        orch_cli_info(cli, "%u trial%s not needed: the search has ended", s->unneeded,
                      s->unneeded == 1 ? " is" : "s are");
    for (guint i = 0; i < s->problems->len; i++)
        orch_cli_info(cli, "%s", (const char *)s->problems->pdata[i]);
    if (s->not_run)
        orch_cli_info(cli, "%u trial%s not submitted: %s the result of a trial that does not run",
                      s->not_run, s->not_run == 1 ? " was" : "s were",
                      s->not_run == 1 ? "it needs" : "they need");
    if (s->held_back)
        orch_cli_info(cli, "%u trial%s held back: by the forecasts, the %s would be exceeded",
                      s->held_back, s->held_back == 1 ? " was" : "s were", limit);
    if (s->submitted)
        orch_cli_info(cli, "you may close this terminal: 'orch collect' stores what has ended");
}

/* Says once for each experiment that a part of a GPU becomes a whole one. */
static void print_shares(struct orch_cli *cli, const struct orch_expansion *expansion)
{
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (experiment->gpu_share > 0)
            orch_cli_info(
                cli,
                "experiment '%s' uses %g of a GPU, but each of its Slurm jobs asks for a whole GPU",
                experiment->name, experiment->gpu_share);
    }
}

/* Says what the rules of searches have decided, and who looks for that. */
static void print_stopped(struct orch_cli *cli, const GPtrArray *told)
{
    for (guint i = 0; i < told->len; i++)
        orch_cli_info(cli, "%s", (const char *)told->pdata[i]);
    if (told->len)
        orch_cli_info(cli, "%u submitted trial%s asked to stop early (pruned): %s within %d s",
                      told->len, told->len == 1 ? " was" : "s were",
                      told->len == 1 ? "it stops" : "they stop", ORCH_PRUNE_REQUEST_S);
}

/* Says once for each experiment when its rule looks. */
static void print_rules(struct orch_cli *cli, const struct orch_expansion *expansion)
{
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (experiment->search && experiment->search->stop)
            orch_cli_info(cli,
                          "experiment '%s' stops trials early ('stop'): repeat this command to "
                          "judge the running trials",
                          experiment->name);
    }
}

static json_t *array_json(const struct orch_slurm_array *array)
{
    const struct orch_slurm_request *r = &array->request;
    return json_pack("{s:I s:i s:s s:s? s:o s:s s:o s:s}", "job", (json_int_t)array->job, "trials",
                     (int)array->trials, "options", array->options, "dependency", array->dependency,
                     "time_s", r->time_s > 0 ? orch_json_finite(r->time_s) : json_null(),
                     "time_from", r->time_from, "memory_bytes",
                     r->memory_bytes > 0 ? json_integer(r->memory_bytes) : json_null(),
                     "memory_from", r->memory_from);
}

static void print_json(const struct orch_plan *plan, const struct orch_slurm_submission *s,
                       const GPtrArray *told)
{
    json_t *arrays = json_array(), *problems = json_array();
    for (guint i = 0; i < s->arrays->len; i++)
        json_array_append_new(arrays, array_json(s->arrays->pdata[i]));
    for (guint i = 0; i < s->problems->len; i++)
        json_array_append_new(problems, json_string(s->problems->pdata[i]));
    orch_cli_print_json(json_pack(
        "{s:s s:s? s:i s:i s:i s:i s:i s:i s:i s:i s:i s:i s:i s:s? s:o s:o}", "recipe",
        plan->expansion->name, "profile", plan->expansion->profile, "submitted", (int)s->submitted,
        "done_before", (int)s->reused, "held", (int)s->held, "skipped", (int)s->skipped, "waiting",
        (int)s->waiting, "unchosen", (int)s->unchosen, "stopped", (int)told->len, "promoted",
        (int)s->promoted, "not_needed", (int)s->unneeded, "not_run",
        (int)(s->not_run + s->problems->len), "held_back", (int)s->held_back, "stopped_by",
        orch_limit_name(s->limit), "arrays", arrays, "problems", problems));
}

static int status_of(const struct orch_slurm_submission *s,
                     const struct orch_submit_request *request)
{
    if (s->held_back)
        return ORCH_EXIT_BUDGET;
    bool is_short = s->not_run || s->problems->len || (s->skipped && request->requires_all);
    return is_short ? ORCH_EXIT_TRIAL : ORCH_EXIT_OK;
}

static int submit(struct orch_cli *cli, struct orch_plan *plan,
                  const struct orch_submit_request *request, GError **error)
{
    g_autofree char *argv = orch_argv_record(cli->argv, cli->argc, plan->expansion);
    const struct orch_slurm_submit_options submit = {
        .at_once = request->at_once,
        .argv_json = argv,
        .forecaster = request->forecaster,
        .limits = request->limits,
        .chooser = request->chooser,
    };
    struct orch_slurm_submission submission = {0};
    g_autoptr(GPtrArray) told = orch_slurm_stop_trials(plan, request->chooser);
    bool ok = orch_slurm_submit(plan, &submit, &submission, error);
    if (cli->json && ok)
        print_json(plan, &submission, told);
    else if (ok || submission.submitted)
        print(cli, &submission, request->limits);
    print_stopped(cli, told);
    if (submission.submitted) {
        print_shares(cli, plan->expansion);
        print_rules(cli, plan->expansion);
    }
    int status = ok ? status_of(&submission, request) : -1;
    orch_slurm_submission_clear(&submission);
    return status;
}

static char *held(const struct orch_process *runner)
{
    return orch_slurm_is_runner(runner)
               ? g_strdup_printf("submitted to Slurm (job %lld_%lld)", (long long)runner->pid,
                                 (long long)runner->start)
               : NULL;
}

static const struct orch_refused_option REFUSED[] = {
    {"smoke", "smoke the recipe here, without --executor"},
    {"gpus", "Slurm assigns GPUs; write resources.gpus in the recipe"},
    {"fail-fast", "cancel the rest with 'orch cancel --all'"},
    {"no-pin", "Slurm places trials on processors"},
    {"oversubscribe", "Slurm decides which trials share a node"},
    {"share", "share the results when they are collected: orch push"},
    {"wait", "share the results when they are collected: orch push"},
    {0}};

const struct orch_executor ORCH_EXECUTOR_SLURM = {
    .name = "slurm",
    .refused = REFUSED,
    .place = orch_slurm_place,
    .held = held,
    .submit = submit,
    .cancel = orch_slurm_cancel,
    .after_cancel = "'orch collect' stores what they wrote",
};

const struct orch_command_part ORCH_PART_RUN_SLURM = {
    .command = "run",
    .about = "\n"
             "\n"
             "With --executor slurm all trials are submitted as Slurm jobs; -j limits how many run "
             "at once. 'orch collect' stores the results. See 'orch help slurm'.",
    .examples = "  orch run r.recipe --executor slurm     # submit to the cluster",
};
