/* SPDX-License-Identifier: MIT */
/* Files that a trial's loggers write (lib/loggers) become its metrics while it runs. Which files it
 * writes is known from the memory of core/host/opened_files.h; without that no file is read.
 *
 * A metric has the logger's own name. The points of one name come from one file, or one tree of
 * TensorBoard's folders: in that, a folder other than the first puts its path from there before the
 * name ("validation/loss"), as does a further file of another format's rows that has a name which
 * is taken. A name that another format has already is the same series, logged twice, and counts
 * once. What was printed under the name of a logged series does not count. */
#ifndef ORCH_HOST_LOGGED_FILES_H
#define ORCH_HOST_LOGGED_FILES_H

#include "core/host/child.h"
#include "core/host/intake.h"

struct logged_files;

/** NULL for a trial of which no files are read. `started_ns`: its start, UTC. */
struct logged_files *orch_logged_files_new(const struct child_setup *setup, struct intake *intake,
                                           int64_t started_ns);
void orch_logged_files_free(struct logged_files *files);

/** When to call orch_logged_files_read (monotonic ns); INT64_MAX: never. `files` may be NULL. */
int64_t orch_logged_files_due(const struct logged_files *files);
/** Reads what the trial wrote since the last call, within bounds of bytes. */
void orch_logged_files_read(struct logged_files *files);
/** Reads the rest, after the trial's processes have ended. `files` may be NULL. */
void orch_logged_files_finish(struct logged_files *files);

/** Absolute paths of the files and folders that gave values, new reference; NULL: none. `files` may
 * be NULL. */
json_t *orch_logged_files_paths(const struct logged_files *files);
/** Adds the facts `logged_settings` (object), `logged_files` ([path, format, points]) and
 * `unlogged_files` ([path, why]) as far as there are any. `files` may be NULL. */
void orch_logged_files_facts(const struct logged_files *files, json_t *facts);

#endif
