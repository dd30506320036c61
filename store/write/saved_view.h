/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views of the page that somebody has named: the page's state, as it stands behind '#' in its
 * address. They are notes of kind "view" whose target is no run but "view:NAME". A view is known by
 * its name and its author, so that nobody's view hides that of another. Private notes stay in this
 * store; public ones travel with its runs, like other public notes. What this store makes of a
 * colleague's view (pinned, removed) is a private note with the colleague's name. */
#ifndef ORCH_STORE_SAVED_VIEW_H
#define ORCH_STORE_SAVED_VIEW_H

#include "store/store.h"

struct orch_saved_view {
    char *name, *address, *who; /* address: "#/runs?where=lr%3C0.1"; who: NULL: unknown */
    bool is_public, is_pinned, is_mine;
    int64_t made_ns;
};

/** The views by name, the user's own before those of others: struct orch_saved_view *; the caller
 * unrefs. Notes whose address is none are left out. */
GPtrArray *orch_store_views(struct orch_store *store, GError **error);

/** What is to become of a view. */
struct orch_view_change {
    const char *name;
    /** Author of the view to change, or a part of the name; NULL: the user's own view, or else the
     * only one of that name. */
    const char *of;
    /** The new address of the user's own view; NULL: it keeps the one it has. */
    const char *address;
    /** The address that the view must still have, "" when there must be none; NULL: any. */
    const char *instead_of;
    bool pins, unpins, shares, removes;
};

/** Changes a view in one transaction. What `change` does not say stays as it was. A removal is for
 * everybody when the view is public and one's own, else here. `*out_before`: the address that was
 * replaced, or NULL; the caller frees. ORCH_ERROR_USAGE for a name of no or more than 100 bytes,
 * for an address that does not begin with "#/", and when the view has another address than
 * `instead_of`; ORCH_ERROR_NOT_FOUND when there is no view to change. */
bool orch_store_view_change(struct orch_store *store, const struct orch_view_change *change,
                            char **out_before, GError **error);

#endif
