/* SPDX-License-Identifier: MIT */
/* Files below a folder that is held open.
 *
 * Every component of a path is opened without following a symbolic link, and '..' is refused, so
 * nothing outside of the folder is read, written or removed, whatever lies in the folder and
 * whoever put it there. Paths are relative, without empty or '.' components. */
#ifndef ORCH_BASE_BELOW_H
#define ORCH_BASE_BELOW_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/** Opens a folder that must not be a symbolic link itself; folders above it may be links. Returns
 * its descriptor, which the caller closes, or -1 with errno (ELOOP: a link, ENOTDIR: no folder). */
int orch_below_root(const char *path);

/** True for a path that the functions below accept. */
bool orch_below_path_is_valid(const char *path);

/** Opens a file or folder as open(2) does, never waiting for a pipe. Returns its descriptor or -1
 * with errno (ELOOP: a component is a symbolic link, EINVAL: the path is not accepted). */
int orch_below_open(int root, const char *path, int flags, mode_t mode);

/** Opens a regular file for reading; anything else in its place is EINVAL. -1 with errno. */
int orch_below_open_file(int root, const char *path);

/** Opens a folder, after making it and those above it as far as they are missing. -1 with errno. */
int orch_below_make_folder(int root, const char *path, mode_t mode);

/** Describes what the path names, a link itself rather than its target. False with errno. */
bool orch_below_stat(int root, const char *path, struct stat *out);

/** Names in a folder ("" is the root itself), sorted, without '.' and '..'. A folder that is
 * missing, or is a link, has none. The caller unrefs. */
GPtrArray *orch_below_list(int root, const char *path);

/** Reads a regular file of at most `max_bytes`, as orch_file_read does. */
bool orch_below_read(int root, const char *path, size_t max_bytes, char **out, size_t *out_length,
                     GError **error);

/** Writes a file as a whole, as orch_file_write does. */
bool orch_below_write(int root, const char *path, const void *bytes, size_t length, bool durable,
                      GError **error);

/** Removes a file, a link or a folder with all in it. A folder on another device than the root (a
 * mount point) stays, with an error. Nothing there is success. */
bool orch_below_remove(int root, const char *path, GError **error);

/** Bytes of the regular files in a tree. */
int64_t orch_below_bytes(int root, const char *path);

#endif
