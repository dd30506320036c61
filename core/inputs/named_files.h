/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests of files and folders that a trial names and that git does not capture: ignored data sets,
 * and files outside of the repository. */
#ifndef ORCH_CORE_INPUTS_NAMED_FILES_H
#define ORCH_CORE_INPUTS_NAMED_FILES_H

#include "core/inputs/run_spans.h"
#include "lib/base/file_digests.h"

/** A file up to this size counts by its content, a larger one by its size and modification time. */
#define ORCH_NAMED_FILE_BYTES (INT64_C(16) << 30)
/** A folder counts by the names and contents of its files up to these bounds, above them by names,
 * sizes and modification times, and above ORCH_NAMED_ENTRIES by those of the first so many. */
#define ORCH_NAMED_FOLDER_FILES 10000
#define ORCH_NAMED_FOLDER_BYTES (INT64_C(4) << 30)
#define ORCH_NAMED_ENTRIES 100000

/** How much of a file or folder a digest covers. */
enum orch_named_extent {
    ORCH_NAMED_WHOLE, /* the content */
    ORCH_NAMED_TIMES, /* names, sizes and times */
    ORCH_NAMED_PART,  /* the same of a part of the folder */
};

/** True for a path that is no input wherever it is named: of the system, of git, of orch or of an
 * interpreter; also `root`, the repository's, and the folders that hold it. */
bool orch_named_is_outside_of_inputs(const char *absolute, const char *root);

/** Digest of what lies at `absolute`, a regular file or a folder. In a folder, files of `captured`
 * (a set of paths relative to `root`; NULL: none), version control, hidden environments and files
 * that the runs of `spans` wrote do not count. Returns 64 hex digits that the caller frees; NULL
 * when there is nothing, or nothing that counts. */
char *orch_named_digest(const char *absolute, const char *root, GHashTable *captured,
                        struct orch_run_spans *spans, struct orch_file_digests *digests,
                        enum orch_named_extent *out_extent);

#endif
