/* SPDX-License-Identifier: MIT */
/* Files: bounded reads, whole writes, digests, trees of folders. */
#ifndef ORCH_BASE_FILE_H
#define ORCH_BASE_FILE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_SHA256_CHARS 65 /* 64 hex digits and a NUL */

/** Reads a regular file of at most `max_bytes`. `*out` gets a NUL behind its last byte; the caller
 * frees. Larger files, folders and pipes are errors (ORCH_ERROR_IO). `out_length` may be NULL. */
bool orch_file_read(const char *path, size_t max_bytes, char **out, size_t *out_length,
                    GError **error);

/** The same for an open file; `name` is for messages. */
bool orch_file_read_fd(int fd, const char *name, size_t max_bytes, char **out, size_t *out_length,
                       GError **error);

/** Writes a file as a whole: a temporary name beside it, then rename. With `durable`, its bytes are
 * on disk (fsync) before the rename. */
bool orch_file_write(const char *path, const void *bytes, size_t length, bool durable,
                     GError **error);

/** Copies a file into a new one, 0600, which must not exist; a whole MiB of zeros becomes a hole.
 * ORCH_ERROR_IO. */
bool orch_file_copy(const char *from, const char *to, GError **error);

/** mkdir -p with mode 0777 & ~umask. */
bool orch_dir_make(const char *path, GError **error);

/** Removes a file or a folder with all in it (symbolic links are not followed). Nothing there is
 * success. */
bool orch_tree_remove(const char *path, GError **error);

/** SHA-256 of a file's bytes. `out_bytes` (its size) may be NULL. */
bool orch_file_sha256(const char *path, char out[ORCH_SHA256_CHARS], int64_t *out_bytes,
                      GError **error);

/** The same of an open regular file, from where it stands; `name` is for messages. */
bool orch_file_sha256_fd(int fd, const char *name, char out[ORCH_SHA256_CHARS], int64_t *out_bytes,
                         GError **error);

/** SHA-256 of bytes in memory. */
void orch_sha256(const void *bytes, size_t length, char out[ORCH_SHA256_CHARS]);

/** True for 64 lower-case hex digits. */
bool orch_sha256_is_valid(const char *text);

/** `path` made absolute against folder `base` (NULL: the current folder), '.' and '..' resolved
 * as text. The caller frees. */
char *orch_path_absolute(const char *path, const char *base);

/** Where a part of this program lies, built or installed: "orch-host" (program), "plugins"
 * (folder), "share" (folder of data files: skeletons, python helper; in the source tree while not
 * installed). NULL with ORCH_ERROR_IO when it is not found. The caller frees. */
char *orch_program_path(const char *part, GError **error);

#endif
