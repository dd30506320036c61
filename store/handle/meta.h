/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named local settings of a store, such as how far it has been exchanged. Never part of a digest,
 * never joined. */
#ifndef ORCH_STORE_META_H
#define ORCH_STORE_META_H

#include "store/store.h"

/** The text stored under `name` ("exchange.commit"), or NULL without error when there is none. The
 * caller frees. */
char *orch_store_remembered(struct orch_store *store, const char *name, GError **error);
/** Stores a text under a name and replaces an earlier one. */
bool orch_store_remember(struct orch_store *store, const char *name, const char *text,
                         GError **error);

/** Number of private notes, which never leave this store; -1 on failure. */
int64_t orch_store_private_notes(struct orch_store *store, GError **error);

/** True when an ended run was made from this source tree. False also on failure. */
bool orch_store_has_source(struct orch_store *store, const char *tree, GError **error);

#endif
