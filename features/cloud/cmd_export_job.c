/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch export job`: a trial as the training-job document of a cluster or cloud platform. */
#include "features/cloud/export_job.h"

#include "core/recipe/option_value.h"
#include "lib/base/error.h"

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct orch_export_job_options, to, TEXT, "to", .value = "PLATFORM",
                .help = "slurm, sagemaker, vertex, azureml, watsonx or k8s"),
    ORCH_OPTION(struct orch_export_job_options, side_by_side, FLAG, "side-by-side",
                .help = "compare the documents of all platforms, field by field"),
    ORCH_OPTION(struct orch_export_job_options, selector.trial, TEXT, "trial", .value = "N|LABEL",
                .help = "number or label of the trial"),
    ORCH_VARIANT_OPTIONS(struct orch_export_job_options, selector.variant),
    ORCH_OPTION(struct orch_export_job_options, gpu, TEXT, "gpu", .value = "NAME",
                .help = "GPU of the instance (default: the cheapest)"),
    ORCH_OPTION(struct orch_export_job_options, instances, LIST, "instance", .value = "NAME",
                .help = "type of machine (instance), by the platform's name for it"),
    ORCH_OPTION(struct orch_export_job_options, time, TEXT, "time", .value = "DURATION",
                .help = "time limit of the job (2h, 30min)"),
    ORCH_OPTION(struct orch_export_job_options, names, LIST, "name", .value = "NAME",
                .help = "name of the job"),
    ORCH_OPTION(struct orch_export_job_options, images, LIST, "image", .value = "IMAGE",
                .help = "container image with orch and the repository"),
    ORCH_OPTION(struct orch_export_job_options, data, LIST, "data", .value = "PLACE",
                .help = "where the data sets are: a path or a URL"),
    ORCH_OPTION(struct orch_export_job_options, inputs, LIST, "inputs", .value = "PLACE",
                .help = "path or URL of a bundle with the earlier runs that the trial needs"),
    ORCH_OPTION(struct orch_export_job_options, results, LIST, "results", .value = "PLACE",
                .help = "where the job writes its results"),
    ORCH_OPTION(struct orch_export_job_options, roles, LIST, "role", .value = "NAME",
                .help = "identity that the job runs as"),
    ORCH_OPTION(struct orch_export_job_options, queues, LIST, "queue", .value = "NAME",
                .help = "Slurm partition, Azure compute target or Kubernetes priority class"),
    ORCH_OPTION(struct orch_export_job_options, projects, LIST, "project", .value = "NAME",
                .help = "Slurm account, Kubernetes namespace or watsonx space"),
    ORCH_OPTION(struct orch_export_job_options, definitions, LIST, "definition", .value = "ID",
                .help = "watsonx: ID of the stored model definition that holds the repository"),
    ORCH_OPTION(struct orch_export_job_options, out, TEXT, "output", .letter = 'o', .value = "FILE",
                .help = "write to FILE instead of stdout"),
    {0}};

/* ---- the command -------------------------------------------------------------------------------
 */

static bool options_fit(const struct orch_export_job_options *o, double *out_given_s,
                        GError **error)
{
    const char *wrong = NULL;
    *out_given_s = 0;
    if (!o->to == !o->side_by_side)
        wrong = o->to ? "option '--side-by-side' excludes '--to'" : "option '--to' is missing";
    else if (o->side_by_side && o->out)
        wrong = "option '--side-by-side' excludes '--output'";
    if (wrong)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       o->side_by_side ? "leave out one of the two" : "for example --to slurm",
                       "%s", wrong);
    return !wrong && (!o->time || orch_option_duration("time", o->time, out_given_s, error));
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct orch_export_job_options *o = options;
    double given_s;
    if (!options_fit(o, &given_s, error) || (o->to && !orch_job_platform_find(o->to, error)))
        return -1;
    struct orch_export_job e = {.cli = cli, .options = o, .given_s = given_s};
    e.hardware = orch_hardware_load(error);
    bool ok = e.hardware && orch_cli_job_find(cli, &o->selector, &e.trial, error);
    if (ok && o->side_by_side)
        orch_cli_job_compare(&e);
    else if (ok)
        ok = orch_cli_job_export(&e, error);
    orch_cli_job_clear(&e.trial);
    orch_hardware_free(e.hardware);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_EXPORT_JOB = {
    .name = "export job",
    .group = "Share",
    .summary = "write a trial as a training job for Slurm, Kubernetes or a cloud",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...] | RUN",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct orch_export_job_options),
    .about = "Writes a document (script, YAML or JSON) that you submit with the platform's own "
             "command, such as sbatch or kubectl. The job runs this trial only. The job's "
             "container image (--image) must contain orch, and the repository as its working "
             "folder. Slurm needs no image.\n\nAmong the job's results is the bundle trial.orch; "
             "after 'orch db merge trial.orch' the plan shows the trial as done.\n"
             "\nThe instance (machine type) is the cheapest known one that has the GPUs, cores and "
             "memory of the recipe's 'resources'. Without --time, the time limit comes from the "
             "recipe, else from the stored run or the forecast.\n"
             "\n"
             "The document is checked against the rules that the platform publishes. '--role "
             "sagemaker=NAME' is for SageMaker only. See 'orch help cloud'.",
    .examples =
        "  orch export job r.recipe --trial 3 --to slurm -o job.sh && sbatch job.sh\n"
        "  orch export job r.recipe train -s lr=0.1 --to k8s --image me/orch --results claim\n"
        "  orch export job @last --to sagemaker --gpu T4 --image ... --role arn:... --results "
        "s3://b/p\n"
        "  orch export job r.recipe --trial 1 --side-by-side",
    .run = run,
};
