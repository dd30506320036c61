/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_FEATURES_CLOUD_JOB_YAML_H
#define ORCH_FEATURES_CLOUD_JOB_YAML_H

#include <jansson.h>

/** Formats an object as YAML in block style. Texts that YAML could read as something else are
 * quoted as in JSON, which YAML includes. Caller frees. */
char *orch_job_yaml_text(const json_t *object);

#endif
