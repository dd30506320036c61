/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a file so that reading it leaves nothing beside it. */
#ifndef ORCH_STORE_OPEN_TO_READ_H
#define ORCH_STORE_OPEN_TO_READ_H

#include "store/handle/handle.h"

enum store_read_mode {
    STORE_READ_PLAIN,
    STORE_READ_IMMUTABLE, /* no process has it open: opened as a file that does not change */
    STORE_READ_COPY,      /* it has a log that cannot be read in place, so a copy is read */
};
/** Opens a file so that reading it creates no files beside it. */
bool orch_store_open_to_read(struct orch_store *store, GError **error);
/** Copies the file, journal and log of a closed store into a temporary folder, from which it is
 * then opened. The copy is removed with the handle. */
bool orch_store_copy_aside(struct orch_store *store, GError **error);

#endif
