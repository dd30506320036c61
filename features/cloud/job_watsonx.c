/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A training of IBM's watsonx.ai Runtime (Watson Machine Learning). It runs no image of one's own:
 * a stored model definition carries the files, and a software specification names the image. The
 * training has no time limit, and its folders are $DATA_DIR and $RESULT_DIR. */
#include "features/cloud/job_parts.h"
#include "features/cloud/job_platform.h"
#include "lib/base/json.h"

static const char *const PLACES[] = {"container", "fs", NULL};

#define UUID "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/* clang-format off */
static const struct orch_job_rule RULES[] = {
    {.path = "name", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .hint = "name the job with --name"},
    {.path = "description", .type = ORCH_JOB_TEXT},
    {.path = "tags", .type = ORCH_JOB_LIST},
    {.path = "tags[]", .type = ORCH_JOB_TEXT, .least = 1},
    {.path = "space_id", .type = ORCH_JOB_TEXT, .required = true, .pattern = UUID,
     .hint = "give the id of the deployment space with --project"},
    {.path = "training_data_references", .type = ORCH_JOB_LIST, .least = 1},
    {.path = "training_data_references[]", .type = ORCH_JOB_OBJECT},
    {.path = "training_data_references[].name", .type = ORCH_JOB_TEXT, .least = 1},
    {.path = "training_data_references[].type", .type = ORCH_JOB_TEXT, .required = true,
     .choices = PLACES},
    {.path = "training_data_references[].connection", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "training_data_references[].location", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "training_data_references[].location.path", .type = ORCH_JOB_TEXT, .required = true,
     .least = 1, .pattern = "[^:]+", .hint = "write a path in the space's storage"},
    {.path = "results_reference", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "results_reference.name", .type = ORCH_JOB_TEXT, .least = 1},
    {.path = "results_reference.type", .type = ORCH_JOB_TEXT, .required = true, .choices = PLACES},
    {.path = "results_reference.connection", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "results_reference.location", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "results_reference.location.path", .type = ORCH_JOB_TEXT, .required = true,
     .least = 1, .pattern = "[^:]+", .hint = "give a path in the space's storage with --results"},
    {.path = "model_definition", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "model_definition.id", .type = ORCH_JOB_TEXT, .required = true, .pattern = UUID,
     .hint = "give the id of the stored model definition with --definition"},
    {.path = "model_definition.command", .type = ORCH_JOB_TEXT, .least = 1},
    {.path = "model_definition.parameters", .type = ORCH_JOB_OBJECT},
    {.path = "model_definition.parameters.*", .type = ORCH_JOB_SCALAR},
    {.path = "model_definition.hardware_spec", .type = ORCH_JOB_OBJECT, .required = true,
     .hint = "choose it with --gpu or --instance"},
    {.path = "model_definition.hardware_spec.name", .type = ORCH_JOB_TEXT, .required = true,
     .least = 1, .pattern = "[A-Za-z0-9_.-]+", .hint = "choose it with --gpu or --instance"},
    {.path = "model_definition.hardware_spec.nodes", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "model_definition.software_spec", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "model_definition.software_spec.name", .type = ORCH_JOB_TEXT, .required = true,
     .least = 1, .pattern = "[A-Za-z0-9_.-]+",
     .hint = "name the software specification with --image"},
    {0}};
/* clang-format on */

static json_t *reference(const char *name, const char *path)
{
    json_t *location = json_object();
    orch_job_put(location, "path", path);
    return json_pack("{s:s s:s s:{} s:o}", "name", name, "type", "container", "connection",
                     "location", location);
}

static void add_reference(json_t *references, const char *name, const char *path)
{
    if (path)
        json_array_append_new(references, reference(name, path));
}

static json_t *definition(const struct orch_job *job)
{
    const struct orch_job_account *account = &job->account;
    g_autofree char *data =
        account->data ? g_strconcat("\"$DATA_DIR\"/", account->data, NULL) : NULL;
    g_autofree char *inputs =
        account->inputs ? g_strconcat("\"$DATA_DIR\"/", account->inputs, NULL) : NULL;
    g_autofree char *command = orch_job_shell_line(job, data, inputs, "\"$RESULT_DIR\"");
    json_t *software = json_object(), *hardware = json_object(), *out = json_object();
    orch_job_put(out, "id", account->definition);
    orch_job_put(out, "command", command);
    orch_job_put_part(out, "parameters", json_copy(job->params));
    orch_job_put(hardware, "name", job->instance_name);
    orch_job_put_count(hardware, "nodes", 1);
    json_object_set_new(out, "hardware_spec", hardware);
    orch_job_put(software, "name", account->image);
    json_object_set_new(out, "software_spec", software);
    return out;
}

static json_t *make(const struct orch_job *job)
{
    g_autofree char *about = orch_job_description(job);
    json_t *document = json_pack("{s:s s:s}", "name", job->name, "description", about);
    orch_job_put(document, "space_id", job->account.project);
    g_autoptr(json_t) labels = orch_job_labels(job, false);
    json_t *tags = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(labels, name, value)
    {
        g_autofree char *tag = g_strdup_printf("%s:%s", name, json_string_value(value));
        json_array_append_new(tags, json_string(tag));
    }
    orch_job_put_part(document, "tags", tags);
    json_t *references = json_array();
    add_reference(references, "data", job->account.data);
    add_reference(references, "inputs", job->account.inputs);
    orch_job_put_part(document, "training_data_references", references);
    json_object_set_new(document, "results_reference", reference("result", job->account.out));
    json_object_set_new(document, "model_definition", definition(job));
    return document;
}

const struct orch_job_platform ORCH_JOB_WATSONX = {
    .name = "watsonx",
    .title = "IBM watsonx.ai Runtime",
    .document = "the training of watsonx.ai Runtime",
    .source = "interfaces ModelDefinitionRel and TrainingsCreateParams of watsonx-ai-node-sdk, "
              "TrainingConfigurationMetaNames of ibm-watsonx-ai, read 2026-11-24",
    .format = ORCH_JOB_JSON,
    .rules = RULES,
    .make = make,
    .fields =
        {
            [ORCH_JOB_FIELD_NAME] = "name",
            [ORCH_JOB_FIELD_DESCRIPTION] = "description",
            [ORCH_JOB_FIELD_IMAGE] = "model_definition.software_spec.name",
            [ORCH_JOB_FIELD_COMMAND] = "model_definition.command",
            [ORCH_JOB_FIELD_PARAMETERS] = "model_definition.parameters",
            [ORCH_JOB_FIELD_INSTANCE] = "model_definition.hardware_spec.name",
            [ORCH_JOB_FIELD_NODES] = "model_definition.hardware_spec.nodes",
            [ORCH_JOB_FIELD_DATA] = "training_data_references",
            [ORCH_JOB_FIELD_OUTPUT] = "results_reference.location.path",
            [ORCH_JOB_FIELD_QUEUE] = "space_id",
            [ORCH_JOB_FIELD_LABELS] = "tags",
        },
    .submit =
        "curl -X POST -d @FILE -H 'Content-Type: application/json' -H \"Authorization: "
        "Bearer $TOKEN\" 'https://REGION.ml.cloud.ibm.com/ml/v4/trainings?version=2024-03-01'",
    .needs_instance = true,
};
