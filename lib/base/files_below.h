/* SPDX-License-Identifier: MIT */
/* Access to files below a folder that is held open.
 *
 * Every component of a path is opened without following symbolic links, and '..' is refused, so
 * nothing outside the folder is read, written or removed, whatever somebody else put into it. Paths
 * are relative, without empty or '.' components. */
#ifndef ORCH_BASE_FILES_BELOW_H
#define ORCH_BASE_FILES_BELOW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/** Opens a folder that must not be a symbolic link itself (folders above it may be). Returns its
 * descriptor, which the caller closes, or -1 with errno (ELOOP: a link, ENOTDIR: not a folder). */
int orch_below_root(const char *path);

/** True for a path that the functions below accept. */
bool orch_below_path_is_valid(const char *path);

/** Opens a file or folder like open(2), without blocking on a pipe. Returns its descriptor or -1
 * with errno (ELOOP: a component is a symbolic link, EINVAL: invalid path). */
int orch_below_open(int root, const char *path, int flags, mode_t mode);

/** Opens a regular file for reading. Returns -1 with errno; EINVAL for any other kind of file. */
int orch_below_open_file(int root, const char *path);

/** Opens a folder after creating it and its missing parents. Returns -1 with errno. */
int orch_below_make_folder(int root, const char *path, mode_t mode);

/** Like lstat(2): describes a link itself, not its target. Returns false with errno. */
bool orch_below_stat(int root, const char *path, struct stat *out);

/** Names in a folder ("" is the root itself), sorted, without '.' and '..'. Empty for a missing
 * folder or a link. Caller unrefs. */
GPtrArray *orch_below_list(int root, const char *path);

/** Reads a regular file of at most `max_bytes`, like orch_file_read. */
bool orch_below_read(int root, const char *path, size_t max_bytes, char **out, size_t *out_length,
                     GError **error);

/** Replaces a file atomically, like orch_file_write. */
bool orch_below_write(int root, const char *path, const void *bytes, size_t length, bool durable,
                      GError **error);

/** The same; the file has just this mode from the start, whatever the umask. */
bool orch_below_write_mode(int root, const char *path, const void *bytes, size_t length,
                           bool durable, mode_t mode, GError **error);

/** Removes a file, a link, or a folder with its contents. Fails for a folder on another device than
 * the root (a mount point) and keeps it. Succeeds if there is nothing. */
bool orch_below_remove(int root, const char *path, GError **error);

/** Total size in bytes of the regular files in a tree. */
int64_t orch_below_bytes(int root, const char *path);

#endif
