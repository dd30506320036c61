/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch script of Slurm for one trial. 'orch run --executor slurm' submits whole plans; this is
 * the document for clusters on which orch itself may not submit. */
#include "features/cloud/job_sbatch.h"

#include "features/cloud/job_parts.h"
#include "features/cloud/job_platform.h"

#define TIME "([0-9]+-)?[0-9]{1,2}:[0-9]{2}:[0-9]{2}"

/* clang-format off */
static const struct orch_job_rule RULES[] = {
    {.path = "sbatch", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "sbatch.job-name", .type = ORCH_JOB_TEXT, .required = true, .least = 1, .most = 255,
     .pattern = "[^ \\t\\n]+", .hint = "name the job with --name"},
    {.path = "sbatch.partition", .type = ORCH_JOB_TEXT, .least = 1, .pattern = "[^ \\t\\n]+",
     .hint = "--queue is a partition"},
    {.path = "sbatch.account", .type = ORCH_JOB_TEXT, .least = 1, .pattern = "[^ \\t\\n]+",
     .hint = "--project is an account"},
    {.path = "sbatch.qos", .type = ORCH_JOB_TEXT, .least = 1, .pattern = "[^ \\t\\n]+",
     .hint = "--role is a quality of service"},
    {.path = "sbatch.nodes", .type = ORCH_JOB_TEXT, .required = true, .pattern = "[1-9][0-9]*"},
    {.path = "sbatch.ntasks", .type = ORCH_JOB_TEXT, .required = true, .pattern = "[1-9][0-9]*"},
    {.path = "sbatch.cpus-per-task", .type = ORCH_JOB_TEXT, .pattern = "[1-9][0-9]*"},
    {.path = "sbatch.gres", .type = ORCH_JOB_TEXT,
     .pattern = "gpu(:[A-Za-z0-9_.-]+)?:[1-9][0-9]*",
     .hint = "--instance is the cluster's name of a GPU"},
    {.path = "sbatch.mem", .type = ORCH_JOB_TEXT, .pattern = "[1-9][0-9]*[KMGT]?"},
    {.path = "sbatch.time", .type = ORCH_JOB_TEXT, .pattern = TIME},
    {.path = "sbatch.requeue", .type = ORCH_JOB_BOOLEAN},
    {.path = "sbatch.no-requeue", .type = ORCH_JOB_BOOLEAN},
    {.path = "sbatch.output", .type = ORCH_JOB_TEXT, .least = 1, .pattern = "[^\\n]+"},
    {.path = "sbatch.signal", .type = ORCH_JOB_TEXT, .pattern = "(B:)?[A-Z0-9]+(@[0-9]+)?"},
    {.path = "sbatch.comment", .type = ORCH_JOB_TEXT, .pattern = "[^\\n\"]+"},
    {.path = "environment", .type = ORCH_JOB_OBJECT},
    {.path = "environment.*", .type = ORCH_JOB_TEXT},
    {.path = "image", .type = ORCH_JOB_TEXT, .least = 1},
    {.path = "command", .type = ORCH_JOB_TEXT, .required = true, .least = 1},
    {0}};
/* clang-format on */

static char *slurm_time(double seconds)
{
    int64_t s = (int64_t)seconds;
    return g_strdup_printf("%" G_GINT64_FORMAT "-%02d:%02d:%02d", s / 86400, (int)(s / 3600 % 24),
                           (int)(s / 60 % 60), (int)(s % 60));
}

static void put_number(json_t *object, const char *name, const char *format, int64_t number)
{
    g_autofree char *digits = g_strdup_printf("%" G_GINT64_FORMAT "%s", number, format);
    orch_job_put(object, name, number ? digits : NULL);
}

static char *gpu_request(const struct orch_job *job)
{
    const char *type = job->instance_name;
    return job->gpus ? g_strdup_printf("gpu:%s%s%u", type ? type : "", type ? ":" : "", job->gpus)
                     : NULL;
}

static json_t *directives(const struct orch_job *job)
{
    g_autofree char *gres = gpu_request(job);
    g_autofree char *time = job->limit_s > 0 ? slurm_time(job->limit_s) : NULL;
    g_autofree char *log = g_strconcat(job->name, "-%j.log", NULL);
    json_t *out = json_pack("{s:s s:s s:s}", "job-name", job->name, "nodes", "1", "ntasks", "1");
    orch_job_put(out, "partition", job->account.queue);
    orch_job_put(out, "account", job->account.project);
    orch_job_put(out, "qos", job->account.role);
    put_number(out, "cpus-per-task", "", job->cores);
    orch_job_put(out, "gres", gres);
    put_number(out, "mem", "M", (job->memory_bytes + (1 << 20) - 1) >> 20);
    orch_job_put(out, "time", time);
    json_object_set_new(out, job->retries ? "requeue" : "no-requeue", json_true());
    orch_job_put(out, "output", log);
    orch_job_put(out, "signal", "B:TERM@60");
    return out;
}

static json_t *make(const struct orch_job *job)
{
    const struct orch_job_account *account = &job->account;
    g_autofree char *out = account->out ? g_shell_quote(account->out) : g_strdup(".");
    g_autofree char *inputs = account->inputs ? g_shell_quote(account->inputs) : NULL;
    g_autofree char *line = orch_job_shell_line(job, NULL, inputs, out);
    json_t *document = json_pack("{s:o s:s}", "sbatch", directives(job), "command", line);
    orch_job_put(document, "image", account->image);
    json_t *environment = json_object();
    orch_job_put(environment, "ORCH_DATA", account->data);
    orch_job_put_part(document, "environment", environment);
    return document;
}

static void append_directives(GString *out, const json_t *directives)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)directives, name, value)
    {
        g_string_append_printf(out, "#SBATCH --%s", name);
        if (json_is_string(value))
            g_string_append_printf(out, "=%s", json_string_value(value));
        g_string_append_c(out, '\n');
    }
}

/* Slurm itself starts no containers: Apptainer does, with the GPUs if the job has any. */
static void append_command(GString *out, const json_t *document)
{
    const char *image = json_string_value(json_object_get(document, "image"));
    const char *command = json_string_value(json_object_get(document, "command"));
    if (!image) {
        g_string_append_printf(out, "%s\n", command);
        return;
    }
    bool has_gpus = json_object_get(json_object_get(document, "sbatch"), "gres") != NULL;
    g_autofree char *quoted_image = g_shell_quote(image);
    g_autofree char *quoted = g_shell_quote(command);
    g_string_append_printf(out, "exec apptainer exec %s%s sh -c %s\n", has_gpus ? "--nv " : "",
                           quoted_image, quoted);
}

char *orch_job_sbatch_text(const json_t *document)
{
    GString *out = g_string_new("#!/bin/sh\n");
    append_directives(out, json_object_get(document, "sbatch"));
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(document, "environment"), name, value)
    {
        g_autofree char *quoted = g_shell_quote(json_string_value(value));
        g_string_append_printf(out, "export %s=%s\n", name, quoted);
    }
    append_command(out, document);
    return g_string_free(out, FALSE);
}

const struct orch_job_platform ORCH_JOB_SLURM = {
    .name = "slurm",
    .title = "Slurm",
    .document = "the batch script of Slurm",
    .source = "manual page sbatch(1) of Slurm 22.05.8, read 2026-11-24",
    .format = ORCH_JOB_SBATCH,
    .rules = RULES,
    .make = make,
    .fields =
        {
            [ORCH_JOB_FIELD_NAME] = "sbatch.job-name",
            [ORCH_JOB_FIELD_IMAGE] = "image",
            [ORCH_JOB_FIELD_COMMAND] = "command",
            [ORCH_JOB_FIELD_INSTANCE] = "sbatch.gres",
            [ORCH_JOB_FIELD_GPUS] = "sbatch.gres",
            [ORCH_JOB_FIELD_NODES] = "sbatch.nodes",
            [ORCH_JOB_FIELD_DATA] = "environment.ORCH_DATA",
            [ORCH_JOB_FIELD_ENVIRONMENT] = "environment",
            [ORCH_JOB_FIELD_LIMIT] = "sbatch.time",
            [ORCH_JOB_FIELD_RETRIES] = "sbatch.requeue",
            [ORCH_JOB_FIELD_IDENTITY] = "sbatch.qos",
            [ORCH_JOB_FIELD_QUEUE] = "sbatch.partition",
        },
    .submit = "sbatch FILE",
};
