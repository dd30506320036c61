/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts that the documents of several platforms have in common. */
#ifndef ORCH_FEATURES_CLOUD_JOB_PARTS_H
#define ORCH_FEATURES_CLOUD_JOB_PARTS_H

#include "features/cloud/training_job.h"

/** Sets a field to a text; nothing when the text is NULL. */
void orch_job_put(json_t *object, const char *name, const char *text);
/** Sets a field to an integer; nothing when it is 0. */
void orch_job_put_count(json_t *object, const char *name, int64_t count);
/** Sets a field, which is taken over; nothing when it is an empty object or list. */
void orch_job_put_part(json_t *object, const char *name, json_t *part);

/** One sentence about the trial. Caller frees. */
char *orch_job_description(const struct orch_job *job);
/** Recipe, experiment, plugin, trial (of the fingerprint) and commit, as texts. `strict` keeps only
 * lower case letters, digits, '-' and '_', and 63 characters. New reference. */
json_t *orch_job_labels(const struct orch_job *job, bool strict);
/** Items {name_key: name, value_key: value} for the members of an object of texts. New reference.
 */
json_t *orch_job_pairs(const json_t *object, const char *name_key, const char *value_key);
/** "bucket/path" of "scheme://bucket/path"; the whole text without a scheme; NULL for NULL. */
const char *orch_job_uri_path(const char *uri);

#endif
