/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request to cancel a running trial: a file in the trial's folder, which the process that runs
 * the trial looks for. It needs no process number, so it never reaches another program, and it
 * works where the folder is shared. */
#ifndef ORCH_CORE_RECORD_CANCEL_REQUEST_H
#define ORCH_CORE_RECORD_CANCEL_REQUEST_H

#include <glib.h>
#include <stdbool.h>

/** Asks for the trial in this folder to be cancelled. `who`: recorded in the run's reason. */
bool orch_cancel_request_write(const char *trial_dir, const char *who, GError **error);
/** The reason for which the trial is to be cancelled; NULL when nobody has asked. Caller frees. */
char *orch_cancel_request_read(const char *trial_dir);

#endif
