/* SPDX-License-Identifier: MIT */
/* SHA-256 of files, remembered by path, size and time of change in $XDG_CACHE_HOME/orch/digests, so
 * that a data set of gigabytes is read once and not at every plan. */
#ifndef ORCH_HOST_DIGESTS_H
#define ORCH_HOST_DIGESTS_H

#include "lib/base/file.h"

/** The digest of a file, from the cache when it has not changed. False with ORCH_ERROR_IO. A cache
 * that cannot be read or written is no error. */
bool digest_of_file(const char *path, char out[ORCH_SHA256_CHARS], GError **error);

#endif
