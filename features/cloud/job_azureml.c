/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Azure Machine Learning's command job. Without a compute target it runs serverless on the instance
 * type. */
#include "features/cloud/job_parts.h"
#include "features/cloud/job_platform.h"

static const char *const SCHEMAS[] = {
    "https://azuremlschemas.azureedge.net/latest/commandJob.schema.json", NULL};
static const char *const JOB_TYPES[] = {"command", NULL};
static const char *const FOLDER[] = {"uri_folder", "uri_file", NULL};
static const char *const MODES[] = {"ro_mount", "download", "direct", "rw_mount", "upload", NULL};

#define DATA_URI "(azureml:|azureml://|https://|wasbs://|abfss://|adl://|\\./).+"

/* clang-format off */
static const struct orch_job_rule RULES[] = {
    {.path = "$schema", .type = ORCH_JOB_TEXT, .choices = SCHEMAS},
    {.path = "type", .type = ORCH_JOB_TEXT, .choices = JOB_TYPES},
    {.path = "name", .type = ORCH_JOB_TEXT, .least = 1, .most = 255,
     .pattern = "[A-Za-z0-9][A-Za-z0-9_-]*", .hint = "name the job with --name"},
    {.path = "display_name", .type = ORCH_JOB_TEXT, .least = 1, .most = 255},
    {.path = "experiment_name", .type = ORCH_JOB_TEXT, .least = 1, .most = 255,
     .pattern = "[A-Za-z0-9][A-Za-z0-9_.-]*"},
    {.path = "description", .type = ORCH_JOB_TEXT},
    {.path = "tags", .type = ORCH_JOB_OBJECT, .most = 50},
    {.path = "tags.*", .type = ORCH_JOB_TEXT},
    {.path = "command", .type = ORCH_JOB_TEXT, .required = true, .least = 1},
    {.path = "environment", .type = ORCH_JOB_OBJECT, .required = true,
     .hint = "name the container image with --image"},
    {.path = "environment.image", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .hint = "name the container image with --image"},
    {.path = "inputs", .type = ORCH_JOB_OBJECT},
    {.path = "inputs.*", .type = ORCH_JOB_SCALAR},
    {.path = "inputs.orch_data", .type = ORCH_JOB_OBJECT},
    {.path = "inputs.orch_data.type", .type = ORCH_JOB_TEXT, .required = true, .choices = FOLDER},
    {.path = "inputs.orch_data.path", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .pattern = DATA_URI,
     .hint = "write azureml://datastores/NAME/paths/PATH or azureml:NAME:VERSION"},
    {.path = "inputs.orch_data.mode", .type = ORCH_JOB_TEXT, .choices = MODES},
    {.path = "inputs.orch_inputs", .type = ORCH_JOB_OBJECT},
    {.path = "inputs.orch_inputs.type", .type = ORCH_JOB_TEXT, .required = true, .choices = FOLDER},
    {.path = "inputs.orch_inputs.path", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .pattern = DATA_URI,
     .hint = "write azureml://datastores/NAME/paths/PATH or azureml:NAME:VERSION"},
    {.path = "inputs.orch_inputs.mode", .type = ORCH_JOB_TEXT, .choices = MODES},
    {.path = "outputs", .type = ORCH_JOB_OBJECT, .required = true, .least = 1},
    {.path = "outputs.result", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "outputs.result.type", .type = ORCH_JOB_TEXT, .required = true, .choices = FOLDER},
    {.path = "outputs.result.path", .type = ORCH_JOB_TEXT, .least = 1, .pattern = DATA_URI,
     .hint = "write azureml://datastores/NAME/paths/PATH"},
    {.path = "compute", .type = ORCH_JOB_TEXT, .least = 1,
     .pattern = "local|azureml:[A-Za-z][A-Za-z0-9-]*",
     .hint = "--queue is the name of a compute target"},
    {.path = "resources", .type = ORCH_JOB_OBJECT},
    {.path = "resources.instance_type", .type = ORCH_JOB_TEXT, .least = 1,
     .pattern = "[A-Za-z0-9_]+", .hint = "choose it with --gpu or --instance"},
    {.path = "resources.instance_count", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "resources.shm_size", .type = ORCH_JOB_TEXT, .pattern = "[1-9][0-9]*[bkmg]"},
    {.path = "limits", .type = ORCH_JOB_OBJECT},
    {.path = "limits.timeout", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "identity", .type = ORCH_JOB_OBJECT},
    {.path = "identity.type", .type = ORCH_JOB_TEXT, .required = true,
     .pattern = "managed|user_identity|aml_token",
     .hint = "--role is managed, user_identity or aml_token"},
    {0}};
/* clang-format on */

static void add_folder(json_t *inputs, const char *name, const char *type, const char *uri)
{
    if (uri)
        json_object_set_new(
            inputs, name,
            json_pack("{s:s s:s s:s}", "type", type, "path", uri, "mode", "ro_mount"));
}

static json_t *make_inputs(const struct orch_job *job)
{
    json_t *inputs = json_copy(job->params);
    add_folder(inputs, "orch_data", "uri_folder", job->account.data);
    add_folder(inputs, "orch_inputs", "uri_file", job->account.inputs);
    return inputs;
}

static json_t *make(const struct orch_job *job)
{
    const struct orch_job_account *account = &job->account;
    g_autofree char *about = orch_job_description(job);
    g_autofree char *command = orch_job_shell_line(
        job, account->data ? "${{inputs.orch_data}}" : NULL,
        account->inputs ? "${{inputs.orch_inputs}}" : NULL, "${{outputs.result}}");
    json_t *document =
        json_pack("{s:s s:s s:s s:s s:s s:s s:s}", "$schema", SCHEMAS[0], "type", "command", "name",
                  job->name, "display_name", job->name, "experiment_name", job->recipe,
                  "description", about, "command", command);
    json_t *environment = json_object(), *resources = json_pack("{s:i}", "instance_count", 1);
    orch_job_put(environment, "image", account->image);
    orch_job_put_part(document, "environment", environment);
    orch_job_put_part(document, "inputs", make_inputs(job));
    json_t *result = json_pack("{s:s}", "type", "uri_folder");
    orch_job_put(result, "path", account->out);
    json_object_set_new(document, "outputs", json_pack("{s:o}", "result", result));
    g_autofree char *target = account->queue ? g_strconcat("azureml:", account->queue, NULL) : NULL;
    orch_job_put(document, "compute", target);
    orch_job_put(resources, "instance_type", target ? NULL : job->instance_name);
    json_object_set_new(document, "resources", resources);
    json_t *limits = json_object(), *identity = json_object();
    orch_job_put_count(limits, "timeout", (int64_t)job->limit_s);
    orch_job_put_part(document, "limits", limits);
    orch_job_put(identity, "type", account->role);
    orch_job_put_part(document, "identity", identity);
    orch_job_put_part(document, "tags", orch_job_labels(job, false));
    return document;
}

const struct orch_job_platform ORCH_JOB_AZUREML = {
    .name = "azureml",
    .title = "Azure Machine Learning",
    .document = "the command job of Azure Machine Learning",
    .source = "the page 'CLI (v2) command job YAML schema' and the schema classes of azure-ai-ml "
              "1.35.2, read 2026-11-24",
    .format = ORCH_JOB_YAML,
    .rules = RULES,
    .make = make,
    .fields =
        {
            [ORCH_JOB_FIELD_NAME] = "name",
            [ORCH_JOB_FIELD_DESCRIPTION] = "description",
            [ORCH_JOB_FIELD_IMAGE] = "environment.image",
            [ORCH_JOB_FIELD_COMMAND] = "command",
            [ORCH_JOB_FIELD_PARAMETERS] = "inputs",
            [ORCH_JOB_FIELD_INSTANCE] = "resources.instance_type",
            [ORCH_JOB_FIELD_NODES] = "resources.instance_count",
            [ORCH_JOB_FIELD_DATA] = "inputs.orch_data",
            [ORCH_JOB_FIELD_OUTPUT] = "outputs.result",
            [ORCH_JOB_FIELD_LIMIT] = "limits.timeout",
            [ORCH_JOB_FIELD_IDENTITY] = "identity.type",
            [ORCH_JOB_FIELD_QUEUE] = "compute",
            [ORCH_JOB_FIELD_LABELS] = "tags",
        },
    .submit = "az ml job create --file FILE",
    .needs_instance = true,
};
