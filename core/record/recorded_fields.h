/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a run that its program describes itself: one that orch did not start (recording.h),
 * or a further run of a trial's program (further_runs.h). */
#ifndef ORCH_CORE_RECORD_RECORDED_FIELDS_H
#define ORCH_CORE_RECORD_RECORDED_FIELDS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#define ORCH_RECORDED_RECIPE "record" /* recipe and plugin name of such runs */
#define ORCH_RECORDED_VERSION "1.0.0"

/** Checks an experiment's name, tags (an array of texts) and a run's name, each NULL if not given.
 */
bool orch_recorded_names_check(const char *experiment, const json_t *tags, const char *name,
                               GError **error);

/** The parameters as rows of a record: [[name, type, value], ...]. NULL with ORCH_ERROR_USAGE for a
 * name or a value that cannot be recorded. New reference. */
json_t *orch_recorded_params(const json_t *params, GError **error);

/** Recorded runs of one experiment with equal settings are repeats of each other. The hashed object
 * has its own format name, so that no trial of a recipe has this fingerprint. The caller frees. */
char *orch_recorded_fingerprint(const char *experiment, const json_t *params);

/** The program's command line as text of JSON, without words that look like secrets. NULL when
 * there is none. The caller frees. */
char *orch_recorded_command(const json_t *argv);

#endif
