/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests of Python packages, which their index publishes. */
#ifndef ORCH_FEATURES_ENVIRONMENT_LOCK_HASHES_H
#define ORCH_FEATURES_ENVIRONMENT_LOCK_HASHES_H

#include <glib.h>

/** The text of a requirements file with --hash for each package of `pinned` ("NAME==VERSION",
 * char *). Packages that the index does not have are moved from `pinned` to `other`. NULL: nobody
 * could be asked; `*out_why` says why, the caller frees both. `python`: version of the interpreter
 * for which they are. */
char *orch_lock_hashes(GPtrArray *pinned, GPtrArray *other, const char *python, char **out_why);

#endif
