/* SPDX-License-Identifier: MIT */
#ifndef ORCH_BASE_LABEL_FROM_H
#define ORCH_BASE_LABEL_FROM_H

/** Turns a name from another program into a valid label (orch_label_is_valid) of at most 180 bytes:
 * what a label cannot contain becomes '_'. The caller frees. */
char *orch_label_from(const char *name);

#endif
