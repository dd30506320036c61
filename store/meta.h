/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a store remembers for itself, by name: how far it has been exchanged, what its owner was
 * told. Local: never part of a digest, never joined. */
#ifndef ORCH_STORE_META_H
#define ORCH_STORE_META_H

#include "store/store.h"

/** The text under `name` ("exchange.commit"); NULL without error: none. The caller frees. */
char *orch_store_remembered(struct orch_store *store, const char *name, GError **error);
/** Remembers a text under a name, in place of what was there. */
bool orch_store_remember(struct orch_store *store, const char *name, const char *text,
                         GError **error);

/** Number of private notes, which never leave this store; -1 on failure. */
int64_t orch_store_private_notes(struct orch_store *store, GError **error);

/** Is there an ended run that was made from this source tree? False also on failure. */
bool orch_store_has_source(struct orch_store *store, const char *tree, GError **error);

#endif
