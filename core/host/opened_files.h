/* SPDX-License-Identifier: MIT */
/* Notes which files a trial's processes open, and writes them to TRIALDIR/opened.json when it has
 * ended (of a compiled plugin only when there are any). A library that is loaded into the processes
 * of a program notes them (lib/watch/preload.c); orch-host, which runs a plugin, has it linked.
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

/** Adds the variables with which a program loads the library, or an MPI launcher's ranks find the
 * memory. Takes `env` over. `opened` may be NULL. */
char **orch_opened_files_environment(const struct opened_files *opened, char **env);
/** In the process of a compiled plugin before it has a second thread: sets the variables with which
 * programs that it starts note what they open. `opened` NULL: in a rank, whose environment says
 * whether anything is noted. */
void orch_opened_files_announce(const struct opened_files *opened);
/** In that process once the plugin is loaded: from now on it notes what it opens. `opened` as
 * above. */
void orch_opened_files_attach(const struct opened_files *opened);

/** After the trial's processes have ended. Failures are ignored. `opened` and `apart` may be NULL.
 */
void orch_opened_files_write(const struct opened_files *opened, const struct apart *apart,
                             const char *trial_dir);

#endif
