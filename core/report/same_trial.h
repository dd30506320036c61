/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trial a run is of, whatever version of the code made it. */
#ifndef ORCH_CORE_REPORT_SAME_TRIAL_H
#define ORCH_CORE_REPORT_SAME_TRIAL_H

#include "store/store.h"

#include <jansson.h>

/** Parameters of a run without its secrets, which are recorded with a salt of their own in each
 * run. New reference; NULL with an error when the store cannot be read. */
json_t *orch_run_open_params(struct orch_store *store, const struct orch_run *run, GError **error);

/** Text that is equal for runs of the same trial: recipe, experiment, plugin, parameters, repeat
 * and seed, and with `with_device` the device. Source, plugin version and data do not count, so a
 * run of edited code has the text of the run before the edit. A run without a seed (0: recorded by
 * hand, or imported) is a trial of its own. The caller frees. */
char *orch_run_trial_text(const struct orch_run *run, const json_t *open_params, bool with_device);

/** Asks whether a newer run of the same trial on the same device was asked about before, and notes
 * the trial in `seen` (a set of char *, which it owns). Runs are asked about newest first. Returns
 * false with an error when the store cannot be read. */
bool orch_trial_is_seen(struct orch_store *store, const struct orch_run *run, GHashTable *seen,
                        bool *out_is_seen, GError **error);

#endif
