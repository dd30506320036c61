/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views of the page that somebody has named: the page's state, as it stands behind '#' in its
 * address. They are notes of kind "view" whose target is no run but "view:NAME". Private ones stay
 * in this store; public ones travel with its runs, like other public notes. */
#ifndef ORCH_STORE_SAVED_VIEW_H
#define ORCH_STORE_SAVED_VIEW_H

#include "store/store.h"

struct orch_saved_view {
    char *name, *address, *who; /* address: "#/runs?where=lr%3C0.1"; who: NULL: unknown */
    bool is_public, is_pinned;
    int64_t made_ns;
};
void orch_saved_view_free(struct orch_saved_view *view);

/** The views by name: struct orch_saved_view *; the caller unrefs. Of a name that several people
 * use, the newest view counts. Notes whose address is none are left out. */
GPtrArray *orch_store_views(struct orch_store *store, GError **error);

/** Saves a view under a name, in place of an earlier one. `address` NULL removes it: for everybody
 * when it is public and one's own, else here. ORCH_ERROR_USAGE for a name of no or more than 100
 * bytes or an address that does not begin with "#/"; ORCH_ERROR_NOT_FOUND when there is none to
 * remove. */
bool orch_store_view_save(struct orch_store *store, const char *name, const char *address,
                          bool is_pinned, bool is_public, GError **error);

#endif
