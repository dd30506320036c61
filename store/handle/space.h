/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failures for want of disk space. */
#ifndef ORCH_STORE_SPACE_H
#define ORCH_STORE_SPACE_H

#include "store/handle/handle.h"

/** True for a result code of SQLite, or an errno, of a full disk or an exhausted quota. */
bool orch_store_is_space_fault(int code, int system_errno);
/** Sets the error of a full disk, whose hint names the largest parts of the store. Returns
 * false. */
bool orch_store_fail_space(const struct orch_store *store, GError **error, const char *doing);

#endif
