/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a store according to its layout: one file, or a file for each host (shards_layout.c). */
#include "store/handle/open.h"
#include "store/place/shards.h"

#include "lib/base/file.h"

struct orch_store *orch_store_open(const char *path, enum orch_store_mode mode, GError **error)
{
    const struct store_options options = {.migrations = &store_migrations};
    g_autofree char *absolute = orch_path_absolute(path, NULL);
    switch (orch_store_layout_of(absolute)) {
    case STORE_SHARDED:
        return orch_store_shards_open(absolute, mode, error);
    case STORE_TO_FOLD:
        return orch_store_shards_fold(absolute, mode, error);
    default:
        return orch_store_open_with(path, mode, &options, error);
    }
}
