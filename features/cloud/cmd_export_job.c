/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch export job`: a trial as the training-job document of a cluster or cloud platform. */
#include "features/cloud/export_job.h"

#include "core/recipe/option_value.h"
#include "lib/base/error.h"

#define AT(member) offsetof(struct orch_export_job_options, member)

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

/* ---- the command -------------------------------------------------------------------------------
 */

static bool options_fit(const struct orch_export_job_options *o, double *out_given_s,
                        GError **error)
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
    .group = "Looking",
    .summary = "write a trial as a training job for Slurm, Kubernetes or a cloud",
    .usage = "RECIPE [PROBLEM|EXPERIMENT...] | RUN",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct orch_export_job_options),
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
