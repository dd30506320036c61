/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs: files that a capture never includes, whatever git's settings. */
#ifndef ORCH_VCS_SECRET_FILES_H
#define ORCH_VCS_SECRET_FILES_H

#include <stddef.h>

/** Number of leading bytes of a file that orch_secret_by_content examines. */
#define ORCH_SECRET_HEAD_BYTES 256

/** Why the file at `path` (relative) counts as a secret because of its name; NULL if it does
 * not. */
const char *orch_secret_by_name(const char *path);

/** Why a file that begins with these bytes counts as a secret; NULL if it does not. */
const char *orch_secret_by_content(const void *head, size_t length);

/** A remote's URL without user, password and query, which is safe to record. A path is returned
 * unchanged. Caller frees. */
char *orch_url_public(const char *url);

#endif
