/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cloud/job_platform.h"

#include "features/cloud/job_sbatch.h"
#include "features/cloud/job_yaml.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

const char *const ORCH_JOB_FIELD_NAMES[ORCH_JOB_FIELDS] = {
    "name", "description", "image",       "command",    "parameters", "instance", "GPUs",  "nodes",
    "data", "output",      "environment", "time limit", "retries",    "identity", "queue", "labels",
};

const struct orch_job_platform *const ORCH_JOB_PLATFORMS[] = {&ORCH_JOB_SLURM,
                                                              &ORCH_JOB_SAGEMAKER,
                                                              &ORCH_JOB_VERTEX,
                                                              &ORCH_JOB_AZUREML,
                                                              &ORCH_JOB_WATSONX,
                                                              &ORCH_JOB_K8S,
                                                              NULL};

const struct orch_job_platform *orch_job_platform_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(ORCH_JOB_PLATFORMS)] = {NULL};
    for (unsigned i = 0; ORCH_JOB_PLATFORMS[i]; i++) {
        if (strcmp(ORCH_JOB_PLATFORMS[i]->name, name) == 0)
            return ORCH_JOB_PLATFORMS[i];
        names[i] = ORCH_JOB_PLATFORMS[i]->name;
    }
    g_autofree char *list = g_strjoinv(", ", (char **)(uintptr_t)names);
    g_autofree char *near = orch_suggest_hint(name, names);
    orch_error_set(error, ORCH_ERROR_USAGE, near ? near : list, "unknown platform '%s'", name);
    return NULL;
}

json_t *orch_job_document(const struct orch_job_platform *platform, const struct orch_job *job,
                          GError **error)
{
    json_t *document = platform->make(job);
    if (!orch_job_schema_check(platform->rules, document, platform->document, error))
        g_clear_pointer(&document, json_decref);
    return document;
}

char *orch_job_document_text(const struct orch_job_platform *platform, const json_t *document)
{
    if (platform->format == ORCH_JOB_SBATCH)
        return orch_job_sbatch_text(document);
    if (platform->format == ORCH_JOB_YAML)
        return orch_job_yaml_text(document);
    char *text = json_dumps(document, JSON_INDENT(2));
    char *out = g_strconcat(text ? text : "", "\n", NULL);
    free(text);
    return out;
}
