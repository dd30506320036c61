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

/* clang-format off: one field, one line */
static const struct orch_job_rule RULES[] = {
    {"TrainingJobName", ORCH_JOB_TEXT, true, 1, 63, "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", NULL,
     "name the job with --name"},
    {"AlgorithmSpecification", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL, NULL},
    {"AlgorithmSpecification.TrainingImage", ORCH_JOB_TEXT, true, 1, 255, NULL, NULL,
     "name the container image with --image"},
    {"AlgorithmSpecification.TrainingInputMode", ORCH_JOB_TEXT, true, 0, 0, NULL, INPUT_MODES,
     NULL},
    {"AlgorithmSpecification.ContainerEntrypoint", ORCH_JOB_LIST, false, 1, 100, NULL, NULL, NULL},
    {"AlgorithmSpecification.ContainerEntrypoint[]", ORCH_JOB_TEXT, false, 0, 256, NULL, NULL,
     NULL},
    {"AlgorithmSpecification.ContainerArguments", ORCH_JOB_LIST, false, 1, 100, NULL, NULL,
     "write the settings into a profile of the recipe, which is one word"},
    {"AlgorithmSpecification.ContainerArguments[]", ORCH_JOB_TEXT, false, 0, 256, NULL, NULL,
     "write the settings into a profile of the recipe, which is one word"},
    {"RoleArn", ORCH_JOB_TEXT, true, 20, 2048,
     "arn:aws[a-z\\-]*:iam::\\d{12}:role/?[a-zA-Z_0-9+=,.@\\-_/]+", NULL,
     "give the role of the job with --role, for example arn:aws:iam::123456789012:role/training"},
    {"HyperParameters", ORCH_JOB_OBJECT, false, 0, 100, NULL, NULL, NULL},
    {"HyperParameters.*", ORCH_JOB_TEXT, false, 0, 2500, NULL, NULL, NULL},
    {"Environment", ORCH_JOB_OBJECT, false, 0, 100, NULL, NULL, NULL},
    {"Environment.*", ORCH_JOB_TEXT, false, 0, 512, NULL, NULL, NULL},
    {"InputDataConfig", ORCH_JOB_LIST, false, 1, 20, NULL, NULL, NULL},
    {"InputDataConfig[]", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"InputDataConfig[].ChannelName", ORCH_JOB_TEXT, true, 1, 64, "[A-Za-z0-9\\.\\-_]+", NULL,
     NULL},
    {"InputDataConfig[].DataSource", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL, NULL},
    {"InputDataConfig[].DataSource.S3DataSource", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL, NULL},
    {"InputDataConfig[].DataSource.S3DataSource.S3DataType", ORCH_JOB_TEXT, true, 0, 0, NULL,
     DATA_TYPES, NULL},
    {"InputDataConfig[].DataSource.S3DataSource.S3Uri", ORCH_JOB_TEXT, true, 0, 1024, S3_URI, NULL,
     "write s3://BUCKET/PATH"},
    {"InputDataConfig[].DataSource.S3DataSource.S3DataDistributionType", ORCH_JOB_TEXT, false, 0, 0,
     NULL, DISTRIBUTIONS, NULL},
    {"InputDataConfig[].InputMode", ORCH_JOB_TEXT, false, 0, 0, NULL, INPUT_MODES, NULL},
    {"OutputDataConfig", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL, NULL},
    {"OutputDataConfig.S3OutputPath", ORCH_JOB_TEXT, true, 0, 1024, S3_URI, NULL,
     "give it with --results s3://BUCKET/PATH"},
    {"ResourceConfig", ORCH_JOB_OBJECT, true, 0, 0, NULL, NULL, NULL},
    {"ResourceConfig.InstanceType", ORCH_JOB_TEXT, true, 0, 0, "ml\\.[a-z0-9-]+\\.[a-z0-9]+", NULL,
     "choose it with --gpu or --instance"},
    {"ResourceConfig.InstanceCount", ORCH_JOB_INTEGER, true, 1, 0, NULL, NULL, NULL},
    {"ResourceConfig.VolumeSizeInGB", ORCH_JOB_INTEGER, true, 1, 0, NULL, NULL, NULL},
    {"StoppingCondition", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"StoppingCondition.MaxRuntimeInSeconds", ORCH_JOB_INTEGER, false, 1, 0, NULL, NULL, NULL},
    {"RetryStrategy", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"RetryStrategy.MaximumRetryAttempts", ORCH_JOB_INTEGER, true, 1, 30, NULL, NULL,
     "lower the recipe's retries"},
    {"Tags", ORCH_JOB_LIST, false, 0, 50, NULL, NULL, NULL},
    {"Tags[]", ORCH_JOB_OBJECT, false, 0, 0, NULL, NULL, NULL},
    {"Tags[].Key", ORCH_JOB_TEXT, true, 1, 128, TAG_TEXT, NULL, NULL},
    {"Tags[].Value", ORCH_JOB_TEXT, true, 0, 256, TAG_TEXT, NULL, NULL},
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
