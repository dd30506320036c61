/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks a training-job document against a table of the fields that its platform knows. */
#ifndef ORCH_FEATURES_CLOUD_JOB_SCHEMA_H
#define ORCH_FEATURES_CLOUD_JOB_SCHEMA_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

enum orch_job_type {
    ORCH_JOB_TEXT,
    ORCH_JOB_INTEGER,
    ORCH_JOB_BOOLEAN,
    ORCH_JOB_LIST,
    ORCH_JOB_OBJECT,
    ORCH_JOB_SCALAR, /* text, number or boolean */
};

/** A field. `path` joins names with '.', the items of a list are "[]", and "*" stands for the names
 * of an object whose names are free. */
struct orch_job_rule {
    const char *path; /* NULL ends a table */
    enum orch_job_type type;
    bool required;       /* where the object that holds it is present */
    double least, most;  /* characters of a text, items of a list or object, value of a number;
                            most 0: no limit */
    const char *pattern; /* PCRE that the whole text matches, or NULL */
    const char *const *choices; /* NULL-terminated, or NULL */
    const char *hint;           /* what to do when it is missing or wrong, or NULL */
};

/** Finds the first field that breaks the rules: unknown, missing, of another type, out of range.
 * False with ORCH_ERROR_RECIPE, which names the field and `what` ("CreateTrainingJob of
 * SageMaker").
 */
bool orch_job_schema_check(const struct orch_job_rule *rules, const json_t *document,
                           const char *what, GError **error);

/** The value at a path such as "spec.containers[0].image"; names may contain dots. NULL when the
 * document has none. Borrowed. */
const json_t *orch_job_lookup(const json_t *document, const char *path);

#endif
