/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vertex AI's CustomJob, as the REST interface takes it. Buckets of Cloud Storage are mounted below
 * /gcs. */
#include "features/cloud/job_parts.h"
#include "features/cloud/job_platform.h"

#define MOUNT "/gcs/"

static const char *const ACCELERATORS[] = {
    "NVIDIA_TESLA_K80",      "NVIDIA_TESLA_P100",   "NVIDIA_TESLA_V100",
    "NVIDIA_TESLA_P4",       "NVIDIA_TESLA_T4",     "NVIDIA_TESLA_A100",
    "NVIDIA_A100_80GB",      "NVIDIA_L4",           "NVIDIA_H100_80GB",
    "NVIDIA_H100_MEGA_80GB", "NVIDIA_H200_141GB",   "NVIDIA_B200",
    "NVIDIA_GB200",          "NVIDIA_RTX_PRO_6000", NULL};

#define POOL "jobSpec.workerPoolSpecs[]"
#define GS_URI "gs://[^/]+(/.*)?"

/* clang-format off */
static const struct orch_job_rule RULES[] = {
    {.path = "displayName", .type = ORCH_JOB_TEXT, .required = true, .least = 1, .most = 128,
     .hint = "name the job with --name"},
    {.path = "labels", .type = ORCH_JOB_OBJECT, .most = 64},
    {.path = "labels.*", .type = ORCH_JOB_TEXT, .most = 63, .pattern = "[\\p{Ll}\\p{Lo}\\p{N}_-]*"},
    {.path = "jobSpec", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "jobSpec.workerPoolSpecs", .type = ORCH_JOB_LIST, .required = true, .least = 1},
    {.path = POOL, .type = ORCH_JOB_OBJECT},
    {.path = POOL ".machineSpec", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = POOL ".machineSpec.machineType", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .pattern = "[a-z][a-z0-9-]+", .hint = "choose it with --gpu or --instance"},
    {.path = POOL ".machineSpec.acceleratorType", .type = ORCH_JOB_TEXT, .choices = ACCELERATORS},
    {.path = POOL ".machineSpec.acceleratorCount", .type = ORCH_JOB_INTEGER, .least = 1,
     .most = 16},
    {.path = POOL ".replicaCount", .type = ORCH_JOB_TEXT, .pattern = "[1-9][0-9]*"},
    {.path = POOL ".diskSpec", .type = ORCH_JOB_OBJECT},
    {.path = POOL ".diskSpec.bootDiskType", .type = ORCH_JOB_TEXT, .pattern = "pd-ssd|pd-standard"},
    {.path = POOL ".diskSpec.bootDiskSizeGb", .type = ORCH_JOB_INTEGER, .least = 100,
     .most = 64000},
    {.path = POOL ".containerSpec", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = POOL ".containerSpec.imageUri", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .hint = "name the container image with --image"},
    {.path = POOL ".containerSpec.command", .type = ORCH_JOB_LIST},
    {.path = POOL ".containerSpec.command[]", .type = ORCH_JOB_TEXT},
    {.path = POOL ".containerSpec.args", .type = ORCH_JOB_LIST},
    {.path = POOL ".containerSpec.args[]", .type = ORCH_JOB_TEXT},
    {.path = POOL ".containerSpec.env", .type = ORCH_JOB_LIST, .most = 100},
    {.path = POOL ".containerSpec.env[]", .type = ORCH_JOB_OBJECT},
    {.path = POOL ".containerSpec.env[].name", .type = ORCH_JOB_TEXT, .required = true,
     .least = 1, .pattern = "[A-Za-z_][A-Za-z0-9_]*"},
    {.path = POOL ".containerSpec.env[].value", .type = ORCH_JOB_TEXT, .required = true},
    {.path = "jobSpec.scheduling", .type = ORCH_JOB_OBJECT},
    {.path = "jobSpec.scheduling.timeout", .type = ORCH_JOB_TEXT, .pattern = "[0-9]+s"},
    {.path = "jobSpec.scheduling.disableRetries", .type = ORCH_JOB_BOOLEAN},
    {.path = "jobSpec.scheduling.restartJobOnWorkerRestart", .type = ORCH_JOB_BOOLEAN},
    {.path = "jobSpec.serviceAccount", .type = ORCH_JOB_TEXT, .least = 1,
     .pattern = "[^@ ]+@[^@ ]+",
     .hint = "--role is a service account: NAME@PROJECT.iam.gserviceaccount.com"},
    {.path = "jobSpec.baseOutputDirectory", .type = ORCH_JOB_OBJECT, .required = true,
     .hint = "give it with --results gs://BUCKET/PATH"},
    {.path = "jobSpec.baseOutputDirectory.outputUriPrefix", .type = ORCH_JOB_TEXT,
     .required = true, .least = 1, .pattern = GS_URI,
     .hint = "give it with --results gs://BUCKET/PATH"},
    {.path = "jobSpec.persistentResourceId", .type = ORCH_JOB_TEXT, .least = 1},
    {0}};
/* clang-format on */

/* The folder in which a bucket's URI is mounted; NULL for NULL. */
static char *mounted(const char *uri)
{
    return uri ? g_strconcat(MOUNT, orch_job_uri_path(uri), NULL) : NULL;
}

static json_t *machine(const struct orch_job *job)
{
    json_t *spec = json_object();
    orch_job_put(spec, "machineType", job->instance_name);
    if (job->instance && *job->instance->accelerator) {
        orch_job_put(spec, "acceleratorType", job->instance->accelerator);
        orch_job_put_count(spec, "acceleratorCount", job->instance->gpus);
    }
    return spec;
}

static json_t *container(const struct orch_job *job)
{
    const struct orch_job_account *account = &job->account;
    g_autofree char *data = mounted(account->data);
    g_autofree char *inputs = mounted(account->inputs);
    g_autofree char *out = mounted(account->out ? account->out : "gs://BUCKET");
    json_t *spec = json_object();
    orch_job_put(spec, "imageUri", account->image);
    json_object_set_new(spec, "command", orch_job_arguments(job, inputs, out));
    if (data)
        json_object_set_new(spec, "env",
                            json_pack("[{s:s s:s}]", "name", "ORCH_DATA", "value", data));
    return spec;
}

static json_t *make(const struct orch_job *job)
{
    const struct orch_job_account *account = &job->account;
    json_t *scheduling = json_pack("{s:b}", "disableRetries", job->retries == 0);
    g_autofree char *timeout = job->limit_s > 0 ? g_strdup_printf("%.0fs", job->limit_s) : NULL;
    orch_job_put(scheduling, "timeout", timeout);
    json_t *spec =
        json_pack("{s:[{s:o s:s s:o}] s:o}", "workerPoolSpecs", "machineSpec", machine(job),
                  "replicaCount", "1", "containerSpec", container(job), "scheduling", scheduling);
    orch_job_put(spec, "serviceAccount", account->role);
    orch_job_put(spec, "persistentResourceId", account->queue);
    json_t *output = json_object();
    orch_job_put(output, "outputUriPrefix", account->out);
    orch_job_put_part(spec, "baseOutputDirectory", output);
    return json_pack("{s:s s:o s:o}", "displayName", job->name, "labels",
                     orch_job_labels(job, true), "jobSpec", spec);
}

const struct orch_job_platform ORCH_JOB_VERTEX = {
    .name = "vertex",
    .title = "Google Vertex AI",
    .document = "CustomJob of Vertex AI",
    .source = "google/cloud/aiplatform/v1/custom_job.proto (2023) and the reference of "
              "AcceleratorType (v1.40.0), read 2026-11-24",
    .format = ORCH_JOB_JSON,
    .rules = RULES,
    .make = make,
    .fields =
        {
            [ORCH_JOB_FIELD_NAME] = "displayName",
            [ORCH_JOB_FIELD_IMAGE] = "jobSpec.workerPoolSpecs[0].containerSpec.imageUri",
            [ORCH_JOB_FIELD_COMMAND] = "jobSpec.workerPoolSpecs[0].containerSpec.command",
            [ORCH_JOB_FIELD_INSTANCE] = "jobSpec.workerPoolSpecs[0].machineSpec.machineType",
            [ORCH_JOB_FIELD_GPUS] = "jobSpec.workerPoolSpecs[0].machineSpec.acceleratorCount",
            [ORCH_JOB_FIELD_NODES] = "jobSpec.workerPoolSpecs[0].replicaCount",
            [ORCH_JOB_FIELD_OUTPUT] = "jobSpec.baseOutputDirectory.outputUriPrefix",
            [ORCH_JOB_FIELD_ENVIRONMENT] = "jobSpec.workerPoolSpecs[0].containerSpec.env",
            [ORCH_JOB_FIELD_LIMIT] = "jobSpec.scheduling.timeout",
            [ORCH_JOB_FIELD_RETRIES] = "jobSpec.scheduling.disableRetries",
            [ORCH_JOB_FIELD_IDENTITY] = "jobSpec.serviceAccount",
            [ORCH_JOB_FIELD_QUEUE] = "jobSpec.persistentResourceId",
            [ORCH_JOB_FIELD_LABELS] = "labels",
        },
    .submit = "curl -X POST -d @FILE -H 'Content-Type: application/json' -H \"Authorization: "
              "Bearer $(gcloud auth print-access-token)\" "
              "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION/"
              "customJobs",
    .needs_instance = true,
};
