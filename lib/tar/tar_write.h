/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a tar.gz of plain files, reproducibly: equal contents give equal bytes (no times, no
 * users). */
#ifndef ORCH_TAR_WRITE_H
#define ORCH_TAR_WRITE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_tar_writer;
/** Begins an archive that replaces `path` when it is finished. */
struct orch_tar_writer *orch_tar_create(const char *path, GError **error);
/** Adds a file. `name` is relative, at most 4,095 bytes. */
bool orch_tar_add(struct orch_tar_writer *writer, const char *name, const void *bytes,
                  size_t length, GError **error);
/** Adds the first `length` bytes of the file at `path`, at most 8 GiB. */
bool orch_tar_add_file(struct orch_tar_writer *writer, const char *name, const char *path,
                       int64_t length, GError **error);
/** Finishes the archive, syncs and renames it, and frees the writer. With `keep` false discards it
 * and returns false. `out_bytes` (may be NULL) receives its size. */
bool orch_tar_finish(struct orch_tar_writer *writer, bool keep, int64_t *out_bytes, GError **error);

#endif
