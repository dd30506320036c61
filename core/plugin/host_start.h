/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts the process that runs a trial. */
#ifndef ORCH_CORE_PLUGIN_HOST_START_H
#define ORCH_CORE_PLUGIN_HOST_START_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/** Starts orch-host (`program`) on a trial's folder. It reads commands from `in` (-1: the stdin of
 * this process), writes errors to the file `errors`, and leads a process group of its own, so that
 * Ctrl-C reaches it only through this process. The caller waits for it. */
bool orch_host_start(const char *program, const char *trial_dir, int in, const char *errors,
                     pid_t *out_pid, GError **error);

#endif
