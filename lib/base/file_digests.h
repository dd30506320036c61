/* SPDX-License-Identifier: MIT */
/* SHA-256 of files, cached by path, inode, size and times in $XDG_CACHE_HOME/orch/digests, so that
 * large data sets are not read at every plan. */
#ifndef ORCH_BASE_FILE_DIGESTS_H
#define ORCH_BASE_FILE_DIGESTS_H

#include "lib/base/file.h"

#include <sys/stat.h>

struct orch_file_digests;

/** The cache is read when a digest is first asked for. A cache that cannot be read or written is
 * not an error. */
struct orch_file_digests *orch_file_digests_open(void);
void orch_file_digests_close(struct orch_file_digests *digests);

/** The digest of a file, from the cache if the file is unchanged. `info`: what stat says of it, or
 * NULL. Fails with ORCH_ERROR_IO. */
bool orch_file_digests_get(struct orch_file_digests *digests, const char *path,
                           const struct stat *info, char out[ORCH_SHA256_CHARS], GError **error);

#endif
