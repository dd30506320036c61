/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mark in the folder beside a store, and the id that it shares with the database. */
#ifndef ORCH_STORE_FOLDER_MARK_H
#define ORCH_STORE_FOLDER_MARK_H

#include "store/handle/handle.h"

/** The mark in an open folder, or NULL when it is missing or malformed. New reference. */
json_t *orch_store_mark_read(int fd);
bool orch_store_mark_write(json_t *mark, int fd, GError **error);
/** Adds this user on this machine, and the present place of the folder. False when both were there
 * already. */
bool orch_store_mark_add_me(json_t *mark, int fd);
/** True when the mark lists this user as an owner, for this machine or because the folder is in its
 * recorded place. With `is_shard`, the place alone is enough, for every user. */
bool orch_store_mark_names_me(const json_t *mark, int fd, bool is_shard);

/** Reads the store's id into `store`; "" when it has none. */
bool orch_store_read_id(struct orch_store *store, GError **error);
bool orch_store_set_id(struct orch_store *store, const char *id, GError **error);
/** Assigns an id to the store unless it has one. */
bool orch_store_give_id(struct orch_store *store, GError **error);

#endif
