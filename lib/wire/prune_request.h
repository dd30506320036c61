/* SPDX-License-Identifier: MIT */
/* A request to end a trial as pruned: a file in its folder. The host of a trial that runs without a
 * runner, on a node of a cluster, looks for it; the folder is all that it shares with the command
 * that decides. */
#ifndef ORCH_WIRE_PRUNE_REQUEST_H
#define ORCH_WIRE_PRUNE_REQUEST_H

#include <glib.h>
#include <stdbool.h>

/** Seconds between two looks of a host. */
#define ORCH_PRUNE_REQUEST_S 5

/** Asks for the trial in this folder to be ended as pruned, for this reason: one sentence. */
bool orch_prune_request_write(const char *trial_dir, const char *why, GError **error);
/** The reason; NULL when nobody has asked. The caller frees. */
char *orch_prune_request_read(const char *trial_dir);

#endif
