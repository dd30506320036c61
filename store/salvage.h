/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A readable copy of a damaged file; what repair.c reads. */
#ifndef ORCH_STORE_SALVAGE_H
#define ORCH_STORE_SALVAGE_H

#include "store/internal.h"

/** How the copy is made. */
enum store_salvage_way {
    STORE_SALVAGE_WHOLE,   /* with its journal or log, which SQLite then plays back */
    STORE_SALVAGE_ALONE,   /* the file alone */
    STORE_SALVAGE_GRAFTED, /* its first pages from a fresh store */
};

/** A copy of the file at `path` in a scratch folder beside `near`, opened. NULL: it cannot be read
 * this way (ORCH_ERROR_STORE), or not at all (ORCH_ERROR_IO). */
struct orch_store *store_salvage_open(const char *path, const char *near,
                                      enum store_salvage_way way, GError **error);
/** Closes it and removes the copy. */
void store_salvage_close(struct orch_store *copy);

/** Is there a journal or log with anything in it? */
bool store_salvage_has_journal(const char *path);

#endif
