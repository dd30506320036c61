/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kubernetes' batch/v1 Job. Data and results lie on persistent volume claims, which --data and
 * --results name; NVIDIA's device plugin hands out GPUs, and its feature discovery labels nodes. */
#include "features/cloud/job_parts.h"
#include "features/cloud/job_platform.h"

#include <string.h>

#define GPU_RESOURCE "nvidia.com/gpu"
#define GPU_LABEL "nvidia.com/gpu.product"
#define POD "spec.template.spec"
#define BOX POD ".containers[]"
#define DNS_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define LABEL_VALUE "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
#define QUANTITY "[0-9]+(\\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?"

static const char *const API[] = {"batch/v1", NULL};
static const char *const KIND[] = {"Job", NULL};
static const char *const RESTART[] = {"Never", "OnFailure", NULL};

/* clang-format off */
static const struct orch_job_rule RULES[] = {
    {.path = "apiVersion", .type = ORCH_JOB_TEXT, .required = true, .choices = API},
    {.path = "kind", .type = ORCH_JOB_TEXT, .required = true, .choices = KIND},
    {.path = "metadata", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "metadata.name", .type = ORCH_JOB_TEXT, .required = true, .least = 1, .most = 63,
     .pattern = DNS_LABEL, .hint = "name the job with --name"},
    {.path = "metadata.namespace", .type = ORCH_JOB_TEXT, .least = 1, .most = 63,
     .pattern = DNS_LABEL, .hint = "--project is a namespace"},
    {.path = "metadata.labels", .type = ORCH_JOB_OBJECT},
    {.path = "metadata.labels.*", .type = ORCH_JOB_TEXT, .most = 63, .pattern = LABEL_VALUE},
    {.path = "metadata.annotations", .type = ORCH_JOB_OBJECT},
    {.path = "metadata.annotations.*", .type = ORCH_JOB_TEXT, .most = 262144},
    {.path = "spec", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "spec.activeDeadlineSeconds", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "spec.backoffLimit", .type = ORCH_JOB_INTEGER, .most = 1000},
    {.path = "spec.completions", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "spec.parallelism", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "spec.template", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = POD, .type = ORCH_JOB_OBJECT, .required = true},
    {.path = POD ".restartPolicy", .type = ORCH_JOB_TEXT, .required = true, .choices = RESTART},
    {.path = POD ".serviceAccountName", .type = ORCH_JOB_TEXT, .least = 1, .most = 253,
     .pattern = DNS_LABEL "(\\." DNS_LABEL ")*", .hint = "--role is a service account"},
    {.path = POD ".priorityClassName", .type = ORCH_JOB_TEXT, .least = 1, .most = 253,
     .pattern = DNS_LABEL, .hint = "--queue is a priority class"},
    {.path = POD ".nodeSelector", .type = ORCH_JOB_OBJECT},
    {.path = POD ".nodeSelector.*", .type = ORCH_JOB_TEXT, .most = 63, .pattern = LABEL_VALUE},
    {.path = POD ".containers", .type = ORCH_JOB_LIST, .required = true, .least = 1},
    {.path = BOX, .type = ORCH_JOB_OBJECT},
    {.path = BOX ".name", .type = ORCH_JOB_TEXT, .required = true, .least = 1, .most = 63,
     .pattern = DNS_LABEL},
    {.path = BOX ".image", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .hint = "name the container image with --image"},
    {.path = BOX ".command", .type = ORCH_JOB_LIST},
    {.path = BOX ".command[]", .type = ORCH_JOB_TEXT},
    {.path = BOX ".env", .type = ORCH_JOB_LIST},
    {.path = BOX ".env[]", .type = ORCH_JOB_OBJECT},
    {.path = BOX ".env[].name", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .pattern = "[-._A-Za-z][-._A-Za-z0-9]*"},
    {.path = BOX ".env[].value", .type = ORCH_JOB_TEXT, .required = true},
    {.path = BOX ".resources", .type = ORCH_JOB_OBJECT},
    {.path = BOX ".resources.limits", .type = ORCH_JOB_OBJECT},
    {.path = BOX ".resources.limits.*", .type = ORCH_JOB_TEXT, .pattern = QUANTITY},
    {.path = BOX ".volumeMounts", .type = ORCH_JOB_LIST},
    {.path = BOX ".volumeMounts[]", .type = ORCH_JOB_OBJECT},
    {.path = BOX ".volumeMounts[].name", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .most = 63, .pattern = DNS_LABEL},
    {.path = BOX ".volumeMounts[].mountPath", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .pattern = "[^:]+"},
    {.path = BOX ".volumeMounts[].readOnly", .type = ORCH_JOB_BOOLEAN},
    {.path = POD ".volumes", .type = ORCH_JOB_LIST, .required = true, .least = 1,
     .hint = "give a claim for the results with --results"},
    {.path = POD ".volumes[]", .type = ORCH_JOB_OBJECT},
    {.path = POD ".volumes[].name", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .most = 63, .pattern = DNS_LABEL},
    {.path = POD ".volumes[].persistentVolumeClaim", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = POD ".volumes[].persistentVolumeClaim.claimName", .type = ORCH_JOB_TEXT,
     .required = true, .least = 1, .most = 253, .pattern = DNS_LABEL "(\\." DNS_LABEL ")*",
     .hint = "--data, --inputs and --results name a persistent volume claim"},
    {0}};
/* clang-format on */

/* Mounts a claim at /NAME in the container; nothing without a claim. */
static void add_volume(json_t *volumes, json_t *mounts, const char *name, const char *claim,
                       bool read_only)
{
    if (!claim)
        return;
    g_autofree char *path = g_strconcat("/", name, NULL);
    json_array_append_new(volumes, json_pack("{s:s s:{s:s}}", "name", name, "persistentVolumeClaim",
                                             "claimName", claim));
    json_t *mount = json_pack("{s:s s:s}", "name", name, "mountPath", path);
    if (read_only)
        json_object_set_new(mount, "readOnly", json_true());
    json_array_append_new(mounts, mount);
}

static json_t *limits(const struct orch_job *job)
{
    json_t *out = json_object();
    g_autofree char *gpus = job->gpus ? g_strdup_printf("%u", job->gpus) : NULL;
    g_autofree char *cores = job->cores ? g_strdup_printf("%u", job->cores) : NULL;
    g_autofree char *memory =
        job->memory_bytes
            ? g_strdup_printf("%" G_GINT64_FORMAT "Mi", (job->memory_bytes + (1 << 20) - 1) >> 20)
            : NULL;
    orch_job_put(out, GPU_RESOURCE, gpus);
    orch_job_put(out, "cpu", cores);
    orch_job_put(out, "memory", memory);
    return out;
}

static json_t *container(const struct orch_job *job, json_t *mounts)
{
    json_t *out = json_pack("{s:s}", "name", "trial");
    orch_job_put(out, "image", job->account.image);
    json_object_set_new(
        out, "command",
        orch_job_arguments(job, job->account.inputs ? "/inputs/*.orch" : NULL, "/output"));
    if (job->account.data)
        json_object_set_new(out, "env",
                            json_pack("[{s:s s:s}]", "name", "ORCH_DATA", "value", "/data"));
    json_t *resources = json_object();
    orch_job_put_part(resources, "limits", limits(job));
    orch_job_put_part(out, "resources", resources);
    orch_job_put_part(out, "volumeMounts", mounts);
    return out;
}

static json_t *make_pod(const struct orch_job *job)
{
    json_t *volumes = json_array(), *mounts = json_array(), *selector = json_object();
    add_volume(volumes, mounts, "data", job->account.data, true);
    add_volume(volumes, mounts, "inputs", job->account.inputs, true);
    add_volume(volumes, mounts, "output", job->account.out, false);
    json_t *pod = json_pack("{s:s}", "restartPolicy", "Never");
    orch_job_put(pod, "serviceAccountName", job->account.role);
    orch_job_put(pod, "priorityClassName", job->account.queue);
    orch_job_put(selector, GPU_LABEL, job->instance_name);
    orch_job_put_part(pod, "nodeSelector", selector);
    json_object_set_new(pod, "containers", json_pack("[o]", container(job, mounts)));
    orch_job_put_part(pod, "volumes", volumes);
    return pod;
}

static json_t *make(const struct orch_job *job)
{
    json_t *metadata =
        json_pack("{s:s s:o}", "name", job->name, "labels", orch_job_labels(job, true));
    orch_job_put(metadata, "namespace", job->account.project);
    json_t *annotations = json_copy(job->params);
    g_autofree char *about = orch_job_description(job);
    orch_job_put(annotations, "description", about);
    orch_job_put_part(metadata, "annotations", annotations);
    json_t *spec = json_pack("{s:i}", "backoffLimit", (int)job->retries);
    orch_job_put_count(spec, "activeDeadlineSeconds", (int64_t)job->limit_s);
    json_object_set_new(spec, "template", json_pack("{s:o}", "spec", make_pod(job)));
    return json_pack("{s:s s:s s:o s:o}", "apiVersion", API[0], "kind", KIND[0], "metadata",
                     metadata, "spec", spec);
}

const struct orch_job_platform ORCH_JOB_K8S = {
    .name = "k8s",
    .title = "Kubernetes",
    .document = "the Job of Kubernetes",
    .source = "OpenAPI documentation of batch/v1 JobSpec (Kubernetes 1.26 to 1.32), read "
              "2026-11-24; limits of labels and names recalled",
    .format = ORCH_JOB_YAML,
    .rules = RULES,
    .make = make,
    .fields =
        {
            [ORCH_JOB_FIELD_NAME] = "metadata.name",
            [ORCH_JOB_FIELD_DESCRIPTION] = "metadata.annotations.description",
            [ORCH_JOB_FIELD_IMAGE] = "spec.template.spec.containers[0].image",
            [ORCH_JOB_FIELD_COMMAND] = "spec.template.spec.containers[0].command",
            [ORCH_JOB_FIELD_PARAMETERS] = "metadata.annotations",
            [ORCH_JOB_FIELD_INSTANCE] = "spec.template.spec.nodeSelector." GPU_LABEL,
            [ORCH_JOB_FIELD_GPUS] =
                "spec.template.spec.containers[0].resources.limits." GPU_RESOURCE,
            [ORCH_JOB_FIELD_DATA] = "spec.template.spec.volumes",
            [ORCH_JOB_FIELD_OUTPUT] = "spec.template.spec.containers[0].volumeMounts",
            [ORCH_JOB_FIELD_ENVIRONMENT] = "spec.template.spec.containers[0].env",
            [ORCH_JOB_FIELD_LIMIT] = "spec.activeDeadlineSeconds",
            [ORCH_JOB_FIELD_RETRIES] = "spec.backoffLimit",
            [ORCH_JOB_FIELD_IDENTITY] = "spec.template.spec.serviceAccountName",
            [ORCH_JOB_FIELD_QUEUE] = "spec.template.spec.priorityClassName",
            [ORCH_JOB_FIELD_LABELS] = "metadata.labels",
        },
    .submit = "kubectl apply -f FILE",
};
