/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests of files that a program read, by which a later plan finds out whether they changed. */
#ifndef ORCH_CORE_INPUTS_READ_DIGEST_H
#define ORCH_CORE_INPUTS_READ_DIGEST_H

#include "lib/base/file_digests.h"

/** A file up to this size counts by its content, a larger one by its size and time. */
#define ORCH_READS_BYTES (INT64_C(2) << 30)

/** The digest of a file; or of the files directly in a folder (a name that ends with '/'), or of
 * the names of those with one suffix (a name whose last part is a star and the suffix), apart from
 * hidden ones, secrets, and those last written between the two times. False when there is no such
 * file. */
bool orch_reads_digest(struct orch_file_digests *digests, const char *absolute, int64_t from_ns,
                       int64_t to_ns, char out[65]);

#endif
