/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identifies the trial of a run, independent of the version of the code that made it. */
#ifndef ORCH_CORE_STATS_SAME_TRIAL_H
#define ORCH_CORE_STATS_SAME_TRIAL_H

#include "store/store.h"

#include <jansson.h>

/** Returns a run's parameters without secrets, which are recorded with a different salt in each
 * run. New reference; NULL with an error when the store cannot be read. */
json_t *orch_run_open_params(struct orch_store *store, const struct orch_run *run, GError **error);

/** Returns a text that is equal for runs of the same trial: recipe, experiment, plugin, parameters,
 * repeat and seed, the command behind 'orch try --', and with `with_device` the device. Source,
 * plugin version and data are not included, so a run of edited code gets the same text as before
 * the edit. A run without a seed (0: recorded by hand, or imported) is a trial of its own. The
 * caller frees. */
char *orch_run_trial_text(const struct orch_run *run, const json_t *open_params, bool with_device);

/** Returns a text that is equal for the repeats of one setting: the same without repeat, seed and
 * device. `params` are the run's without secrets and seeds. The caller frees. */
char *orch_run_repeats_text(const struct orch_run *run, const json_t *params);

/** Tests whether `seen` already has the run's trial on the same device, and adds it. Pass the runs
 * newest first, so that older runs of a trial are recognised. `seen` is a set of char *, which it
 * owns. Returns false with an error when the store cannot be read. */
bool orch_trial_is_repeated(struct orch_store *store, const struct orch_run *run, GHashTable *seen,
                            bool *out_is_seen, GError **error);

#endif
