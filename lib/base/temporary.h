/* SPDX-License-Identifier: MIT */
/* Names of files and folders that are being made. A name tells which process makes it, so that what
 * a killed one left is found and removed by the next that makes something in the same folder. */
#ifndef ORCH_BASE_TEMPORARY_H
#define ORCH_BASE_TEMPORARY_H

#include <glib.h>

/** A name beside `path` that nobody has, for what is renamed to `path` when it is whole:
 * "PATH.orch-tmp-...". First removes what dead processes of this machine and user left in that
 * folder under such names. The caller frees; the file is not made. */
char *orch_temporary_name(const char *path);

/** Makes a folder of such a name in the system's folder for temporary files:
 * "orch-WHAT.orch-tmp-...", readable by the user alone. NULL with ORCH_ERROR_IO. The caller frees
 * the name and removes it. */
char *orch_temporary_folder(const char *what, GError **error);

#endif
