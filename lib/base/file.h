/* SPDX-License-Identifier: MIT */
/* Files: bounded reads, atomic writes, digests, and folder trees. */
#ifndef ORCH_BASE_FILE_H
#define ORCH_BASE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>

#define ORCH_SHA256_CHARS 65 /* 64 hex digits and a NUL */

/** Opens a regular file for reading, close-on-exec, and returns its descriptor. Returns -1 with
 * ORCH_ERROR_IO when it cannot be opened, and for folders, pipes, sockets and devices, for which it
 * never waits. Every reader of a file that a user names opens it with this function or with one of
 * the functions below. */
int orch_file_open(const char *path, GError **error);

/** orch_file_open as a stream of the C library, which the caller closes; NULL on failure. */
FILE *orch_file_open_stream(const char *path, GError **error);

/** orch_file_open, mapped into memory. The caller unrefs; NULL on failure. */
GMappedFile *orch_file_map(const char *path, GError **error);

/** Reads a regular file of at most `max_bytes` and appends a NUL to `*out`. Caller frees. Fails
 * with ORCH_ERROR_IO, also for larger files, folders and pipes. `out_length` may be NULL. */
bool orch_file_read(const char *path, size_t max_bytes, char **out, size_t *out_length,
                    GError **error);

/** The same for an open file; `name` is used in messages. */
bool orch_file_read_fd(int fd, const char *name, size_t max_bytes, char **out, size_t *out_length,
                       GError **error);

/** Replaces a file atomically: writes to a temporary name beside it, then renames. With `durable`
 * the bytes are synced to disk (fsync) before the rename. Nobody but owner and group may write to
 * it, whatever the umask: what anyone may write to is not loaded. */
bool orch_file_write(const char *path, const void *bytes, size_t length, bool durable,
                     GError **error);
/** The same for a file whose bytes lie in several places, one behind the other. */
bool orch_file_write_parts(const char *path, const struct iovec *parts, size_t count, bool durable,
                           GError **error);

/** Copies a file to a new one with mode 0600, which must not exist; runs of zeros of one MiB become
 * holes. Fails with ORCH_ERROR_IO. */
bool orch_file_copy(const char *from, const char *to, GError **error);

/** mkdir -p with mode 0777 & ~umask. Fails if the path exists and is no folder. */
bool orch_dir_make(const char *path, GError **error);

/** Removes a file, or a folder with its contents, without following symbolic links. Succeeds if
 * there is nothing. */
bool orch_tree_remove(const char *path, GError **error);

/** SHA-256 of a file's contents. `out_bytes` receives its size and may be NULL. */
bool orch_file_sha256(const char *path, char out[ORCH_SHA256_CHARS], int64_t *out_bytes,
                      GError **error);

/** The same for an open regular file, from its current position; `name` is used in messages. */
bool orch_file_sha256_fd(int fd, const char *name, char out[ORCH_SHA256_CHARS], int64_t *out_bytes,
                         GError **error);

/** SHA-256 of bytes in memory. */
void orch_sha256(const void *bytes, size_t length, char out[ORCH_SHA256_CHARS]);

/** True for 64 lower-case hex digits. */
bool orch_sha256_is_valid(const char *text);

/** A path in UTF-8 for a folder whose own path is not: a link in the user's cache folder that leads
 * to it. Returns a copy of a path that is UTF-8. Fails with ORCH_ERROR_IO when the link cannot be
 * made. The caller frees. */
char *orch_path_utf8(const char *folder, GError **error);

/** Makes `path` absolute relative to `base` (NULL: current folder) and resolves '.' and '..'
 * textually. Caller frees. */
char *orch_path_absolute(const char *path, const char *base);
/** The absolute path of the folder of a file (relative to the current one), without symbolic links
 * unless it cannot be told or is not UTF-8 then. Caller frees. */
char *orch_path_folder(const char *path);

/** The part of an absolute path below `folder`; NULL for another path, and for the folder itself.
 * Borrowed from `path`. */
const char *orch_path_below(const char *path, const char *folder);
/** The same, but "" for the folder itself. */
const char *orch_path_within(const char *path, const char *folder);

#endif
