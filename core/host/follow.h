/* SPDX-License-Identifier: MIT */
/* Records a program that orch did not start: `orch record` made the trial, the program's events
 * come on standard input, and processes that join it write to TRIALDIR/join, a FIFO. */
#ifndef ORCH_HOST_FOLLOW_H
#define ORCH_HOST_FOLLOW_H

#include "lib/wire/trial.h"

/** Reads events until `done`, the end of the program or of its events, or a signal (SIGINT:
 * cancelled, SIGTERM: preempted), and writes the journal with its end event. Nothing is ever sent
 * to the program: it is not ours. */
bool follow(struct orch_trial *trial, const char *trial_dir, GError **error);

#endif
