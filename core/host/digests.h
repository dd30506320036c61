/* SPDX-License-Identifier: MIT */
/* SHA-256 of files, cached by path, size and modification time in $XDG_CACHE_HOME/orch/digests, so
 * that large data sets are not read at every plan. */
#ifndef ORCH_HOST_DIGESTS_H
#define ORCH_HOST_DIGESTS_H

#include "lib/base/file.h"

/** The digest of a file, from the cache if the file is unchanged. Fails with ORCH_ERROR_IO. A cache
 * that cannot be read or written is not an error. */
bool orch_host_file_digest(const char *path, char out[ORCH_SHA256_CHARS], GError **error);

#endif
