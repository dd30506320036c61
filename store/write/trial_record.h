/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a run that are known before its trial starts, in the JSON that is stored with the
 * trial (struct orch_active) until the run is recorded. */
#ifndef ORCH_STORE_TRIAL_RECORD_H
#define ORCH_STORE_TRIAL_RECORD_H

#include "store/store.h"

/** Reads the fields of a run that a trial's record contains into `out`. The texts are borrowed from
 * `trial`. */
void orch_record_from_trial(const json_t *trial, struct orch_record *out);
/** The reverse: an object with the fields that orch_record_from_trial reads. New reference. */
json_t *orch_record_to_trial(const struct orch_record *record);

#endif
