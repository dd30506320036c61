/* SPDX-License-Identifier: MIT */
/* Names for files and folders under construction. The name identifies the process, so that
 * leftovers of a killed process are found and removed when the next one creates something in the
 * same folder. */
#ifndef ORCH_BASE_TEMPORARY_H
#define ORCH_BASE_TEMPORARY_H

#include <glib.h>

/** Returns an unused name beside `path`, for a file that is renamed to `path` when complete:
 * "PATH.orch-tmp-...". First removes leftovers of dead processes of this machine and user in that
 * folder. Does not create the file. Caller frees. */
char *orch_temporary_name(const char *path);

/** Creates such a folder in the system's folder for temporary files ($TMPDIR, else /tmp), readable
 * by the user only: "orch-WHAT.orch-tmp-...". First removes those that dead processes of this user
 * left there. Every scratch folder of the program is made by this function. Fails with NULL and
 * ORCH_ERROR_IO. Caller frees the name and removes the folder. */
char *orch_temporary_folder(const char *what, GError **error);

#endif
