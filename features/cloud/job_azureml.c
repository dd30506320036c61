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

/* clang-format off: one field, one line */
static const struct orch_job_rule RULES[] = {
    {"$schema", ORCH_JOB_TEXT, false, 0, 0, NULL, SCHEMAS, NULL},
    {"type", ORCH_JOB_TEXT, false, 0, 0, NULL, JOB_TYPES, NULL},
    {"name", ORCH_JOB_TEXT, false, 1, 255, "[A-Za-z0-9][A-Za-z0-9_-]*", NULL,
     "name the job with --name"},
    {"display_name", ORCH_JOB_TEXT, false, 1, 255, NULL, NULL, NULL},
    {"experiment_name", ORCH_JOB_TEXT, false, 1, 255, "[A-Za-z0-9][A-Za-z0-9_.-]*", NULL, NULL},
    {"description", ORCH_JOB_TEXT, false, 0, 0, NULL, NULL, NULL},
    {"tags", ORCH_JOB_OBJECT, false, 0, 50, NULL, NULL, NULL},
    {"tags.*", ORCH_JOB_TEXT, false, 0, 0, NULL, NULL, NULL},
    {"command", ORCH_JOB_TEXT, true, 1, 0, NULL, NULL, NULL},
    {"environment", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL,
     "name the container image with --image"},
    {"environment.image", ORCH_JOB_TEXT, true, 1, 0, NULL, NULL,
     "name the container image with --image"},
    {"inputs", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"inputs.*", ORCH_JOB_SCALAR, false, 0, 0, NULL, NULL, NULL},
    {"inputs.orch_data", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"inputs.orch_data.type", ORCH_JOB_TEXT, true, 0, 0, NULL, FOLDER, NULL},
    {"inputs.orch_data.path", ORCH_JOB_TEXT, true, 1, 0, DATA_URI, NULL,
     "write azureml://datastores/NAME/paths/PATH or azureml:NAME:VERSION"},
    {"inputs.orch_data.mode", ORCH_JOB_TEXT, false, 0, 0, NULL, MODES, NULL},
    {"inputs.orch_inputs", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"inputs.orch_inputs.type", ORCH_JOB_TEXT, true, 0, 0, NULL, FOLDER, NULL},
    {"inputs.orch_inputs.path", ORCH_JOB_TEXT, true, 1, 0, DATA_URI, NULL,
     "write azureml://datastores/NAME/paths/PATH or azureml:NAME:VERSION"},
    {"inputs.orch_inputs.mode", ORCH_JOB_TEXT, false, 0, 0, NULL, MODES, NULL},
    {"outputs", ORCH_JOB_OBJECT, true, 1, 0, NULL, NULL, NULL},
    {"outputs.result", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL, NULL},
    {"outputs.result.type", ORCH_JOB_TEXT, true, 0, 0, NULL, FOLDER, NULL},
    {"outputs.result.path", ORCH_JOB_TEXT, false, 1, 0, DATA_URI, NULL,
     "write azureml://datastores/NAME/paths/PATH"},
    {"compute", ORCH_JOB_TEXT, false, 1, 0, "local|azureml:[A-Za-z][A-Za-z0-9-]*", NULL,
     "--queue is the name of a compute target"},
    {"resources", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"resources.instance_type", ORCH_JOB_TEXT, false, 1, 0, "[A-Za-z0-9_]+", NULL,
     "choose it with --gpu or --instance"},
    {"resources.instance_count", ORCH_JOB_INTEGER, false, 1, 0, NULL, NULL, NULL},
    {"resources.shm_size", ORCH_JOB_TEXT, false, 0, 0, "[1-9][0-9]*[bkmg]", NULL, NULL},
    {"limits", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"limits.timeout", ORCH_JOB_INTEGER, false, 1, 0, NULL, NULL, NULL},
    {"identity", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"identity.type", ORCH_JOB_TEXT, true, 0, 0, "managed|user_identity|aml_token", NULL,
     "--role is managed, user_identity or aml_token"},
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
