/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/export_job.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

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
        orch_cli_info(cli, "  cost: at most $%.2f", usd * job->limit_s / 3600);
    orch_cli_info(cli, "  submit: %s", platform->submit);
    orch_cli_info(
        cli, "  afterwards: orch db merge trial.orch (the job writes this file among its results)");
    if (job->needs_inputs && !job->account.inputs)
        orch_cli_warn(cli, "the trial uses results of other runs, which the job would run again\n  "
                           "hint: write these runs to a file with 'orch export --bundle "
                           "inputs.orch RUN...', and name it with --inputs");
    if (json_object_get(job->params, "dataset") && !job->account.data)
        orch_cli_warn(
            cli, "data set '%s' must be in the container image, unless --data says where it is",
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

static bool write_document(const struct orch_export_job *e, const struct orch_job *job,
                           const struct orch_job_platform *platform, GError **error)
{
    const struct orch_export_job_options *o = e->options;
    g_autoptr(json_t) document = orch_job_document(platform, job, error);
    if (!document)
        return false;
    g_autofree char *text = orch_job_document_text(platform, document);
    if (o->out && !orch_file_write(o->out, text, strlen(text), false, error))
        return false;
    if (e->cli->json)
        orch_cli_print_json(as_json(job, platform, e->hardware, json_incref(document)));
    else if (!o->out)
        orch_cli_write_data(e->cli, text, strlen(text));
    if (!e->cli->json)
        print_basis(e->cli, job, platform, e->hardware);
    return true;
}

bool orch_cli_job_export(const struct orch_export_job *e, GError **error)
{
    const struct orch_job_platform *platform = orch_job_platform_find(e->options->to, error);
    if (!platform)
        return false;
    GError *problem = NULL;
    struct orch_job *job = orch_cli_job_make(e, platform, &problem);
    bool ok = !problem && write_document(e, job, platform, error);
    if (problem)
        g_propagate_error(error, problem);
    orch_job_free(job);
    return ok;
}
