/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Amazon SageMaker's CreateTrainingJob. An argument of the container has at most 256 characters, so
 * that the command is passed word by word. */
#include "features/cloud/job_parts.h"
#include "features/cloud/job_platform.h"
#include "lib/base/json.h"

#define DATA_DIR "/opt/ml/input/data/"
#define OUT_DIR "/opt/ml/model" /* SageMaker uploads it to S3OutputPath */
#define VOLUME_GB 50

static const char *const INPUT_MODES[] = {"File", "FastFile", "Pipe", NULL};
static const char *const DATA_TYPES[] = {"S3Prefix", "ManifestFile", "AugmentedManifestFile", NULL};
static const char *const DISTRIBUTIONS[] = {"FullyReplicated", "ShardedByS3Key", NULL};

#define S3_URI "(https|s3)://([^/]+)/?(.*)"
#define TAG_TEXT "[\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*"

/* clang-format off */
static const struct orch_job_rule RULES[] = {
    {.path = "TrainingJobName", .type = ORCH_JOB_TEXT, .required = true, .least = 1, .most = 63,
     .pattern = "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", .hint = "name the job with --name"},
    {.path = "AlgorithmSpecification", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "AlgorithmSpecification.TrainingImage", .type = ORCH_JOB_TEXT, .required = true,
     .least = 1, .most = 255, .hint = "name the container image with --image"},
    {.path = "AlgorithmSpecification.TrainingInputMode", .type = ORCH_JOB_TEXT, .required = true,
     .choices = INPUT_MODES},
    {.path = "AlgorithmSpecification.ContainerEntrypoint", .type = ORCH_JOB_LIST, .least = 1,
     .most = 100},
    {.path = "AlgorithmSpecification.ContainerEntrypoint[]", .type = ORCH_JOB_TEXT, .most = 256},
    {.path = "AlgorithmSpecification.ContainerArguments", .type = ORCH_JOB_LIST, .least = 1,
     .most = 100, .hint = "write the settings into a profile of the recipe"},
    {.path = "AlgorithmSpecification.ContainerArguments[]", .type = ORCH_JOB_TEXT, .most = 256,
     .hint = "write the settings into a profile of the recipe"},
    {.path = "RoleArn", .type = ORCH_JOB_TEXT, .required = true, .least = 20, .most = 2048,
     .pattern = "arn:aws[a-z\\-]*:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+",
     .hint = "give the role of the job with --role, for example arn:aws:iam::123456789012:role/training"},
    {.path = "HyperParameters", .type = ORCH_JOB_OBJECT, .most = 100},
    {.path = "HyperParameters.*", .type = ORCH_JOB_TEXT, .most = 2500},
    {.path = "Environment", .type = ORCH_JOB_OBJECT, .most = 100},
    {.path = "Environment.*", .type = ORCH_JOB_TEXT, .most = 512},
    {.path = "InputDataConfig", .type = ORCH_JOB_LIST, .least = 1, .most = 20},
    {.path = "InputDataConfig[]", .type = ORCH_JOB_OBJECT},
    {.path = "InputDataConfig[].ChannelName", .type = ORCH_JOB_TEXT, .required = true, .least = 1,
     .most = 64, .pattern = "[A-Za-z0-9\\.\\-_]+"},
    {.path = "InputDataConfig[].DataSource", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "InputDataConfig[].DataSource.S3DataSource", .type = ORCH_JOB_OBJECT,
     .required = true},
    {.path = "InputDataConfig[].DataSource.S3DataSource.S3DataType", .type = ORCH_JOB_TEXT,
     .required = true, .choices = DATA_TYPES},
    {.path = "InputDataConfig[].DataSource.S3DataSource.S3Uri", .type = ORCH_JOB_TEXT,
     .required = true, .most = 1024, .pattern = S3_URI, .hint = "write s3://BUCKET/PATH"},
    {.path = "InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType",
     .type = ORCH_JOB_TEXT, .choices = DISTRIBUTIONS},
    {.path = "InputDataConfig[].InputMode", .type = ORCH_JOB_TEXT, .choices = INPUT_MODES},
    {.path = "OutputDataConfig", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "OutputDataConfig.S3OutputPath", .type = ORCH_JOB_TEXT, .required = true,
     .most = 1024, .pattern = S3_URI, .hint = "give it with --results s3://BUCKET/PATH"},
    {.path = "ResourceConfig", .type = ORCH_JOB_OBJECT, .required = true},
    {.path = "ResourceConfig.InstanceType", .type = ORCH_JOB_TEXT, .required = true,
     .pattern = "ml\\.[a-z0-9-]+\\.[a-z0-9]+", .hint = "choose it with --gpu or --instance"},
    {.path = "ResourceConfig.InstanceCount", .type = ORCH_JOB_INTEGER, .required = true,
     .least = 1},
    {.path = "ResourceConfig.VolumeSizeInGB", .type = ORCH_JOB_INTEGER, .required = true,
     .least = 1},
    {.path = "StoppingCondition", .type = ORCH_JOB_OBJECT},
    {.path = "StoppingCondition.MaxRuntimeInSeconds", .type = ORCH_JOB_INTEGER, .least = 1},
    {.path = "RetryStrategy", .type = ORCH_JOB_OBJECT},
    {.path = "RetryStrategy.MaximumRetryAttempts", .type = ORCH_JOB_INTEGER, .required = true,
     .least = 1, .most = 30, .hint = "lower the recipe's retries"},
    {.path = "Tags", .type = ORCH_JOB_LIST, .most = 50},
    {.path = "Tags[]", .type = ORCH_JOB_OBJECT},
    {.path = "Tags[].Key", .type = ORCH_JOB_TEXT, .required = true, .least = 1, .most = 128,
     .pattern = TAG_TEXT},
    {.path = "Tags[].Value", .type = ORCH_JOB_TEXT, .required = true, .most = 256,
     .pattern = TAG_TEXT},
    {0}};
/* clang-format on */

static void add_channel(json_t *channels, const char *name, const char *uri)
{
    if (uri)
        json_array_append_new(
            channels, json_pack("{s:s s:{s:{s:s s:s s:s}} s:s}", "ChannelName", name, "DataSource",
                                "S3DataSource", "S3DataType", "S3Prefix", "S3Uri", uri,
                                "S3DataDistributionType", "FullyReplicated", "InputMode", "File"));
}

static json_t *make(const struct orch_job *job)
{
    const struct orch_job_account *account = &job->account;
    json_t *document = json_pack("{s:s}", "TrainingJobName", job->name);
    json_t *algorithm = json_pack("{s:s s:o}", "TrainingInputMode", "File", "ContainerEntrypoint",
                                  json_pack("[s]", "/usr/bin/env"));
    orch_job_put(algorithm, "TrainingImage", account->image);
    orch_job_put_part(
        algorithm, "ContainerArguments",
        orch_job_arguments(job, account->inputs ? DATA_DIR "inputs/*.orch" : NULL, OUT_DIR));
    json_object_set_new(document, "AlgorithmSpecification", algorithm);
    orch_job_put(document, "RoleArn", account->role);
    json_object_set(document, "HyperParameters", job->params);
    json_t *environment = json_object();
    orch_job_put(environment, "ORCH_DATA", account->data ? DATA_DIR "data" : NULL);
    orch_job_put_part(document, "Environment", environment);
    json_t *channels = json_array();
    add_channel(channels, "data", account->data);
    add_channel(channels, "inputs", account->inputs);
    orch_job_put_part(document, "InputDataConfig", channels);
    json_t *output = json_object();
    orch_job_put(output, "S3OutputPath", account->out);
    json_object_set_new(document, "OutputDataConfig", output);
    json_t *resources = json_pack("{s:i s:i}", "InstanceCount", 1, "VolumeSizeInGB", VOLUME_GB);
    orch_job_put(resources, "InstanceType", job->instance_name);
    json_object_set_new(document, "ResourceConfig", resources);
    json_t *stopping = json_object(), *retry = json_object();
    orch_job_put_count(stopping, "MaxRuntimeInSeconds", (int64_t)job->limit_s);
    orch_job_put_part(document, "StoppingCondition", stopping);
    orch_job_put_count(retry, "MaximumRetryAttempts", job->retries);
    orch_job_put_part(document, "RetryStrategy", retry);
    g_autoptr(json_t) labels = orch_job_labels(job, false);
    orch_job_put_part(document, "Tags", orch_job_pairs(labels, "Key", "Value"));
    return document;
}

const struct orch_job_platform ORCH_JOB_SAGEMAKER = {
    .name = "sagemaker",
    .title = "Amazon SageMaker",
    .document = "CreateTrainingJob of SageMaker",
    .source = "service model sagemaker/2017-07-24 of botocore 1.44.8, read 2026-11-24",
    .format = ORCH_JOB_JSON,
    .rules = RULES,
    .make = make,
    .fields =
        {
            [ORCH_JOB_FIELD_NAME] = "TrainingJobName",
            [ORCH_JOB_FIELD_IMAGE] = "AlgorithmSpecification.TrainingImage",
            [ORCH_JOB_FIELD_COMMAND] = "AlgorithmSpecification.ContainerArguments",
            [ORCH_JOB_FIELD_PARAMETERS] = "HyperParameters",
            [ORCH_JOB_FIELD_INSTANCE] = "ResourceConfig.InstanceType",
            [ORCH_JOB_FIELD_NODES] = "ResourceConfig.InstanceCount",
            [ORCH_JOB_FIELD_DATA] = "InputDataConfig",
            [ORCH_JOB_FIELD_OUTPUT] = "OutputDataConfig.S3OutputPath",
            [ORCH_JOB_FIELD_ENVIRONMENT] = "Environment",
            [ORCH_JOB_FIELD_LIMIT] = "StoppingCondition.MaxRuntimeInSeconds",
            [ORCH_JOB_FIELD_RETRIES] = "RetryStrategy.MaximumRetryAttempts",
            [ORCH_JOB_FIELD_IDENTITY] = "RoleArn",
            [ORCH_JOB_FIELD_LABELS] = "Tags",
        },
    .submit = "aws sagemaker create-training-job --cli-input-json file://FILE",
    .needs_instance = true,
};
