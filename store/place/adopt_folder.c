/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes this user an owner of a store that was copied from elsewhere. */
#include "store/handle/folder_mark.h"
#include "store/handle/owner.h"
#include "store/handle/store_dir.h"

#include "lib/base/error.h"
#include "lib/base/files_below.h"
#include "lib/base/json.h"

/* Removes files that orch would execute or load although this user did not create them. */
static bool clean(int fd, GError **error)
{
    static const char *const unsafe[] = {"work", "try", "exchange.git"};
    for (size_t i = 0; i < G_N_ELEMENTS(unsafe); i++)
        if (!orch_below_remove(fd, unsafe[i], error))
            return false;
    return true;
}

bool orch_store_adopt_folder(const char *path, GError **error)
{
    struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, error);
    if (!store)
        return false;
    json_t *mark = NULL;
    bool is_shard = orch_store_is_shared(store);
    enum store_owner owner = orch_store_owner_look(store, is_shard, &mark);
    bool ok = owner != STORE_OWNER_UNMARKED || orch_store_owner_refuse(store, owner, error);
    if (ok && mark)
        ok = clean(store->folder_fd, error) &&
             (orch_store_mark_add_me(mark, store->folder_fd), true) &&
             orch_store_mark_write(mark, store->folder_fd, error);
    g_autofree char *id = g_strdup(mark ? orch_json_text(mark, "store", "") : "");
    json_decref(mark);
    if (!ok && mark)
        g_prefix_error(error, "in '%s': ", store->folder);
    orch_store_close(store);
    if (!ok || !*id || is_shard)
        return ok;
    const struct store_options alone = {.migrations = &store_migrations, .is_alone = true};
    store = orch_store_open_with(path, ORCH_STORE_WRITE, &alone, error);
    ok = store && orch_store_set_id(store, id, error);
    orch_store_close(store);
    return ok;
}
