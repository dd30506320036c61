/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The platforms that a trial can be described for: one file and one row each. */
#ifndef ORCH_FEATURES_CLOUD_JOB_PLATFORM_H
#define ORCH_FEATURES_CLOUD_JOB_PLATFORM_H

#include "features/cloud/job_schema.h"
#include "features/cloud/training_job.h"

/** What a job says on every platform, in the order of `orch export job --side-by-side`. */
enum orch_job_field {
    ORCH_JOB_FIELD_NAME,
    ORCH_JOB_FIELD_DESCRIPTION,
    ORCH_JOB_FIELD_IMAGE,
    ORCH_JOB_FIELD_COMMAND,
    ORCH_JOB_FIELD_PARAMETERS,
    ORCH_JOB_FIELD_INSTANCE,
    ORCH_JOB_FIELD_GPUS,
    ORCH_JOB_FIELD_NODES,
    ORCH_JOB_FIELD_DATA,
    ORCH_JOB_FIELD_OUTPUT,
    ORCH_JOB_FIELD_ENVIRONMENT,
    ORCH_JOB_FIELD_LIMIT,
    ORCH_JOB_FIELD_RETRIES,
    ORCH_JOB_FIELD_IDENTITY,
    ORCH_JOB_FIELD_QUEUE,
    ORCH_JOB_FIELD_LABELS,
    ORCH_JOB_FIELDS
};
/** "name", "description", ... */
extern const char *const ORCH_JOB_FIELD_NAMES[ORCH_JOB_FIELDS];

enum orch_job_format { ORCH_JOB_JSON, ORCH_JOB_YAML, ORCH_JOB_SBATCH };

struct orch_job_platform {
    const char *name;     /* "sagemaker" */
    const char *title;    /* "Amazon SageMaker" */
    const char *document; /* "CreateTrainingJob of SageMaker" */
    const char *source;   /* where the fields and their limits are from, and when */
    enum orch_job_format format;
    const struct orch_job_rule *rules;
    /** Makes the document, without the fields for which the job has no value. New reference. */
    json_t *(*make)(const struct orch_job *job);
    const char *fields[ORCH_JOB_FIELDS]; /* path of each field (orch_job_lookup); NULL: none */
    const char *submit;                  /* the command that starts FILE */
    bool needs_instance;                 /* there is no document without an instance type */
};

extern const struct orch_job_platform ORCH_JOB_SLURM, ORCH_JOB_SAGEMAKER, ORCH_JOB_VERTEX,
    ORCH_JOB_AZUREML, ORCH_JOB_WATSONX, ORCH_JOB_K8S;
/** All of them, ended by NULL. */
extern const struct orch_job_platform *const ORCH_JOB_PLATFORMS[];

/** NULL with ORCH_ERROR_USAGE for an unknown name. */
const struct orch_job_platform *orch_job_platform_find(const char *name, GError **error);

/** Makes the platform's document and checks it. New reference; NULL with ORCH_ERROR_RECIPE, which
 * names the first field that is missing or wrong. */
json_t *orch_job_document(const struct orch_job_platform *platform, const struct orch_job *job,
                          GError **error);
/** The document as the file that the platform reads. Caller frees. */
char *orch_job_document_text(const struct orch_job_platform *platform, const json_t *document);

#endif
