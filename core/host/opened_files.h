/* SPDX-License-Identifier: MIT */
/* Notes which files a trial's processes open, and writes them to TRIALDIR/opened.json when it has
 * ended (of a compiled plugin only when there are any). A library that is loaded into the processes
 * of a program notes them (lib/watch/preload.c); orch-host, which runs a plugin, has it linked.
 *
 * `watch` of trial.json: roots (absolute paths of folders and files; the first is the plan's
 * workspace) and links (list of [name, path]: links of the workspace that lead out of it, and where
 * to; may be absent). When the library cannot be loaded the trial runs without it.
 *
 * opened.json:
 *   folder    where the names that are not absolute lie: the workspace's folder, or the copy of it
 *   why       nothing was noted, and why; absent otherwise
 *   gaps      what may be missing in `files`: at most a few dozen texts for people
 *             ("started 'busybox' unobserved", "3 names are not UTF-8"). Empty: nothing
 *   logged    absolute paths of files and folders whose values became metrics
 *   files     list of [kind, name, details], in the order of the first opening
 * kind: "r" opened for reading, or renamed, "w" written (created, replaced, removed) before it was
 * read, "u" read and then changed or removed by the trial; a file has one of these. "s": a tool
 * that builds programs looked at its times; "d": a folder that was listed.
 * details, each where it is known:
 *   read      identity when it was first opened for reading
 *   own       identity when the trial last opened it for writing, closed it, renamed it or, of "r",
 *             changed its attributes; null: the trial itself has removed it
 *   real      the absolute path without links where it differs from folder/name
 * identity: [device, inode, size, mtime_ns, ctime_ns]. A file that differs from `read` now, and has
 * no `own`, was written, replaced or removed by somebody else. */
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

/** The memory in which they note it; NULL: nothing is noted. Borrowed. `opened` may be NULL. */
const struct orch_watch_memory *orch_opened_files_memory(const struct opened_files *opened);

/** After the trial's processes have ended. `logged`: see above; NULL: none. Failures are ignored.
 * `opened` may be NULL. */
void orch_opened_files_write(const struct opened_files *opened, const char *trial_dir,
                             json_t *logged);

#endif
