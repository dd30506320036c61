/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program under orch that calls orch.start() more than once has one trial and several runs, as by
 * hand. The first one is the trial's; each further one writes its events into
 * TRIALDIR/runs/NUMBER/events: the line that begins a recording ('orch record --begin') and the
 * lines of the protocol, with times. When the trial has ended, orch-host makes a journal of them,
 * as of any recorded program, and the run is stored with the trial's source and machine. */
#ifndef ORCH_CORE_RECORD_FURTHER_RUNS_H
#define ORCH_CORE_RECORD_FURTHER_RUNS_H

#include "core/record/collect.h"

#include <jansson.h>

/** Records the further runs of the trial `key`, whose open folder is `folder` (-1: none), and notes
 * their keys in its `record`. Repeatable: a run that is stored already is left out. A run that
 * cannot be recorded is named in a warning of the trial's record and does not fail the call. False
 * with an error only when the store cannot be written. */
bool orch_further_runs_collect(struct orch_store *store, const char *key, json_t *record,
                               int folder, const struct orch_outside *outside,
                               struct orch_file_digests *digests, GError **error);

#endif
