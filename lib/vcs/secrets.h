/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside lib/vcs: files that a capture never takes, whatever git says about them. */
#ifndef ORCH_VCS_SECRETS_H
#define ORCH_VCS_SECRETS_H

#include <stddef.h>

/** Bytes of a file's start that orch_secret_by_content wants to see. */
#define ORCH_SECRET_HEAD_BYTES 256

/** Why the file at `path` (relative) is taken for a secret by its name; NULL: it is not. */
const char *orch_secret_by_name(const char *path);

/** Why a file that begins with these bytes is taken for a secret; NULL: it is not. */
const char *orch_secret_by_content(const void *head, size_t length);

/** A remote's URL without user, password and query: what may be recorded. A path is kept as it is.
 * The caller frees. */
char *orch_url_public(const char *url);

#endif
