/* SPDX-License-Identifier: MIT */
/* Files in a folder into which other users may write, such as /tmp or the folder of a shared store.
 *
 * Somebody else may have made the name first: as a link to a file of ours, as a named pipe whose
 * open(2) never returns, or with contents of their own. */
#ifndef ORCH_BASE_SHARED_FILE_H
#define ORCH_BASE_SHARED_FILE_H

#include <glib.h>
#include <sys/types.h>

/** For files that whoever comes first makes, such as locks. */
#define ORCH_SHARED_ANY_OWNER ((uid_t)-1)

/** Opens `name` in the folder `folder_fd` (AT_FDCWD: a path) with the flags and mode of
 * open(2). Follows no link, never blocks, and accepts only a regular file with one name that
 * belongs to `owner`. O_TRUNC takes effect only on an accepted file. Returns a close-on-exec
 * descriptor, or -1 with ORCH_ERROR_NOT_FOUND (no such file) or ORCH_ERROR_IO; the message names
 * the file as `shown`, what it is, and its owner. */
int orch_shared_open(int folder_fd, const char *name, const char *shown, int flags, mode_t mode,
                     uid_t owner, GError **error);

/** Describes what stands at `name`, without following a link: "a named pipe of user 'eve'". NULL
 * when nothing is there. Caller frees. */
char *orch_shared_describe(int folder_fd, const char *name);

/** "user 'eve'", or "user 1042" for a number without a name. Caller frees. */
char *orch_user_describe(uid_t uid);

#endif
