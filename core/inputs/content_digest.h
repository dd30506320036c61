/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests of files and folders by their content: of those that a trial names and git does not
 * capture, and of those that a trial has read. */
#ifndef ORCH_CORE_INPUTS_CONTENT_DIGEST_H
#define ORCH_CORE_INPUTS_CONTENT_DIGEST_H

#include "core/inputs/own_outputs.h"
#include "lib/base/file_digests.h"

/** How much of a file or folder a digest covers. */
enum orch_digest_extent {
    ORCH_DIGEST_WHOLE, /* the content */
    ORCH_DIGEST_TIMES, /* names, sizes and times: it is too large to be read */
    ORCH_DIGEST_PART,  /* the same of the first ORCH_DIGEST_ENTRIES files of a folder */
};
#define ORCH_DIGEST_ENTRIES 100000

/** True for a path that is no input wherever it is named: of the system, of git, of orch or of an
 * interpreter; also `root`, the repository's, and the folders that hold it. */
bool orch_input_is_excluded(const char *absolute, const char *root);

/** Digest of what a trial names at `absolute`: a regular file, or a folder with all below it. In a
 * folder, files of `captured` (a set of paths relative to `root`; NULL: none), version control,
 * environments and the trial's `outputs` do not count. Returns 64 hex digits that the caller frees;
 * NULL when there is nothing, or nothing that counts. */
char *orch_named_digest(const char *absolute, const char *root, GHashTable *captured,
                        struct orch_own_outputs *outputs, struct orch_file_digests *digests,
                        enum orch_digest_extent *out_extent);

/** The names (char *, borrowed) directly in `folder`, which ends with a slash, of a set of paths:
 * what a trial has written there itself. NULL for none. The caller unrefs. */
GHashTable *orch_own_in_folder(const char *folder, GHashTable *paths);

/** Digest of what a trial has read at `absolute`: a file; the files directly in a folder (a path
 * that ends with a slash); or the names of those with one suffix (a path whose last part is a star
 * and the suffix). Hidden files, secrets and the names of the set `own` (NULL: none) do not count
 * in a folder. `out_extent` may be NULL. False when there is no such file. */
bool orch_reads_digest(struct orch_file_digests *digests, const char *absolute, GHashTable *own,
                       char out[65], enum orch_digest_extent *out_extent);

#endif
