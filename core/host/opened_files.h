/* SPDX-License-Identifier: MIT */
/* Notes which files the processes of a wrapped program open, with a library that is loaded into
 * them (lib/watch/preload.c), and writes them to TRIALDIR/opened.json when the trial has ended.
 *
 * `watch` of trial.json: roots (absolute paths of folders and files; the first is the plan's
 * workspace). When the library cannot be loaded the trial runs without it.
 *
 * opened.json: why (files were not noted; absent: they were), folder (where the names that are not
 * absolute lie: the workspace's folder, or the trial's copy of it), left_out (number of files for
 * which there was no room), files (list of ["r" | "w" | "u", name], in the order of the first
 * opening of each kind: for reading, for writing alone, for both). */
#ifndef ORCH_HOST_OPENED_FILES_H
#define ORCH_HOST_OPENED_FILES_H

#include "core/host/apart_view.h"
#include "lib/wire/trial.h"

struct opened_files;

/** NULL when trial.json asks for none. `apart` may be NULL. */
struct opened_files *orch_opened_files_begin(const struct orch_trial_spec *trial,
                                             const struct apart *apart);
void orch_opened_files_free(struct opened_files *opened);

/** Adds the variables with which the program loads the library. Takes `env` over. `opened` may be
 * NULL. */
char **orch_opened_files_environment(const struct opened_files *opened, char **env);

/** After the trial's processes have ended. Failures are ignored. `opened` and `apart` may be NULL.
 */
void orch_opened_files_write(const struct opened_files *opened, const struct apart *apart,
                             const char *trial_dir);

#endif
