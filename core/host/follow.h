/* SPDX-License-Identifier: MIT */
/* Records a program that orch did not start (`orch record`), or a further run of a trial's program,
 * from the file of its events. They arrive on standard input; other processes that join it write to
 * TRIALDIR/join, a FIFO. */
#ifndef ORCH_HOST_FOLLOW_H
#define ORCH_HOST_FOLLOW_H

#include "lib/wire/trial.h"

/** Reads events until `done`, the end of the program or of its events, or a signal (SIGINT:
 * cancelled, SIGTERM: preempted), and writes the journal with its end event. Never sends anything
 * to the program. */
bool orch_host_follow(struct orch_trial_spec *trial, const char *trial_dir, GError **error);

#endif
