/* SPDX-License-Identifier: MIT */
/* Tells whether two trials of this machine record the same file. Each host claims a file that it
 * reads; the claim is a socket without a place in the file system, and ends with its process. */
#ifndef ORCH_LOGGERS_FILE_CLAIM_H
#define ORCH_LOGGERS_FILE_CLAIM_H

#include <stdbool.h>
#include <sys/stat.h>

/** Claims a file. Returns a descriptor that the caller closes; -1 when another trial has claimed
 * it, which then learns of this one; -2 when claims are not possible here. */
int orch_file_claim(const struct stat *file);
/** True when another trial has wanted the file of this claim. */
bool orch_file_claim_is_disputed(int claim);

#endif
