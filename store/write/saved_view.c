/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/saved_view.h"

#include "store/handle/sql.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

#define TARGET "view:"
enum { NAME_MAX_BYTES = 100, ADDRESS_MAX_BYTES = 4000, VIEWS_MAX = 500, NOTES_MAX = 5000 };

/* SQL: the newest note of each name and author, an empty text for a view that was removed; ?1 is
 * the user, whose own notes come first where there are more than can be read. */
#define NEWEST                                                                                     \
    "SELECT n.target, n.text, n.who, n.public, " STORE_NOTE_TIME(                                  \
        "n") ", EXISTS (SELECT 1 FROM"                                                             \
             " note p WHERE p.target = n.target AND p.kind = 'view' AND p.who IS n.who AND "       \
             "p.public = 1)"                                                                       \
             " FROM note n WHERE n.kind = 'view' AND NOT EXISTS (SELECT 1 FROM note u WHERE"       \
             " u.target = n.target AND u.kind = 'view' AND u.who IS n.who "                        \
             "AND " STORE_NOTE_IS_LATER(                                                           \
                 "u", "n") ") ORDER BY n.who IS ?1 DESC, n.public, n.target, n.who LIMIT ?2"

static void saved_view_free(struct orch_saved_view *view)
{
    if (!view)
        return;
    g_free(view->name);
    g_free(view->address);
    g_free(view->who);
    g_free(view);
}

/* Addresses come from other people's stores, too: only a place within the page is one. */
static bool is_address(const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length < 2 || length > ADDRESS_MAX_BYTES || !g_str_has_prefix(text, "#/"))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!g_ascii_isgraph(text[i]) || strchr("<>\"'`\\", text[i]))
            return false;
    return true;
}

static bool is_name(const char *text)
{
    bool is_good =
        text && *text && strlen(text) <= NAME_MAX_BYTES && g_utf8_validate(text, -1, NULL);
    for (const char *at = text; is_good && *at; at = g_utf8_next_char(at))
        is_good = g_unichar_isprint(g_utf8_get_char(at));
    return is_good;
}

/* Reads a row of NEWEST. The address is NULL for a view that was removed; NULL when the note is no
 * view. */
static struct orch_saved_view *read_view(sqlite3_stmt *s)
{
    const char *target = orch_store_text(s, 0), *text = orch_store_text(s, 1);
    g_autoptr(json_t) state = text ? json_loads(text, 0, NULL) : NULL;
    const char *address = json_string_value(json_object_get(state, "address"));
    if (!target || !g_str_has_prefix(target, TARGET) || !is_name(target + strlen(TARGET)) ||
        (*text && !is_address(address)))
        return NULL;
    struct orch_saved_view *view = g_new0(struct orch_saved_view, 1);
    view->name = g_strdup(target + strlen(TARGET));
    view->address = g_strdup(address);
    view->who = orch_store_column_text(s, 2);
    view->is_mine = view->who && orch_who_is_same(view->who, orch_user_name());
    view->is_public = sqlite3_column_int(s, 3) || (!view->is_mine && sqlite3_column_int(s, 5));
    view->made_ns = sqlite3_column_int64(s, 4);
    view->is_pinned = json_is_true(json_object_get(state, "pinned"));
    return view;
}

/* By name; one's own first, and of those under several of one's names the newest. */
static int compare_views(gconstpointer a, gconstpointer b)
{
    const struct orch_saved_view *x = *(struct orch_saved_view *const *)a,
                                 *y = *(struct orch_saved_view *const *)b;
    const int by_name = strcmp(x->name, y->name);
    if (by_name || x->is_mine != y->is_mine)
        return by_name ? by_name : y->is_mine - x->is_mine;
    return x->is_mine ? (x->made_ns < y->made_ns) - (x->made_ns > y->made_ns)
                      : g_strcmp0(x->who, y->who);
}

/* Leaves out what was removed, and own views under an older name of the user. */
static GPtrArray *in_effect(GPtrArray *all)
{
    GPtrArray *views = g_ptr_array_new_with_free_func((GDestroyNotify)saved_view_free);
    const struct orch_saved_view *own = NULL;
    g_ptr_array_sort(all, compare_views);
    for (guint i = 0; i < all->len && views->len < VIEWS_MAX; i++) {
        struct orch_saved_view *view = all->pdata[i];
        const bool is_older = view->is_mine && own && strcmp(own->name, view->name) == 0;
        if (view->is_mine && !is_older)
            own = view;
        if (is_older || !view->address)
            continue;
        g_ptr_array_add(views, view);
        all->pdata[i] = NULL;
    }
    return views;
}

GPtrArray *orch_store_views(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, NEWEST, error);
    if (!s)
        return NULL;
    orch_store_bind(s, "ti", orch_user_name(), (int64_t)NOTES_MAX);
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)saved_view_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_saved_view *view = read_view(s);
        if (view)
            g_ptr_array_add(all, view);
    }
    return more == 0 ? in_effect(all) : NULL;
}

/* ---- changes ----------------------------------------------------------------------------------
 */

static bool are_sound(const char *name, const char *address, GError **error)
{
    const bool has_name = is_name(name);
    if (!has_name)
        orch_error_set(error, ORCH_ERROR_USAGE, "use 1 to 100 bytes of printable text",
                       "'%.110s' cannot be the name of a view", name ? name : "");
    else if (address && !is_address(address))
        orch_error_set(error, ORCH_ERROR_USAGE, "copy the address from the browser, from '#/' on",
                       "'%.60s' is not the address of a view of the web page", address);
    return has_name && (!address || is_address(address));
}

/* Writes the note that is the newest of its name and author from now on. */
static bool insert(struct orch_store *store, const char *name, const char *who, const char *text,
                   bool is_public, GError **error)
{
    char key[ORCH_KEY_CHARS];
    g_autofree char *target = g_strconcat(TARGET, name, NULL);
    int64_t last = 0, now = orch_now_ns();
    orch_key_make(key);
    return orch_store_get_int(
               store, &last, 0, error,
               "SELECT max(" STORE_NOTE_TIME("n") ") FROM note n WHERE"
                                                  " n.target = ? AND n.kind = 'view'",
               "t", target) &&
           orch_store_run_statement(store, error,
                                    "INSERT INTO note(key, target, kind, public, text, who, made)"
                                    " VALUES(?, ?, 'view', ?, ?, ?, ?)",
                                    "ttitti", key, target, (int64_t)is_public, text, who,
                                    MAX(now, last + 1));
}

static bool is_of(const struct orch_saved_view *view, const char *of, bool is_exact)
{
    const char *who = view->who ? view->who : "";
    return !of || (is_exact ? strcmp(who, of) == 0 : *of && orch_who_matches(who, of));
}

/* The view that is meant, or NULL; `*out_others`: views of that name by others. Own views come
 * first (orch_store_views). */
static const struct orch_saved_view *find(const GPtrArray *views, const char *name, const char *of,
                                          guint *out_others)
{
    const struct orch_saved_view *found = NULL;
    *out_others = 0;
    for (int is_exact = 1; !found && is_exact >= 0; is_exact--)
        for (guint i = 0; i < views->len; i++) {
            const struct orch_saved_view *view = views->pdata[i];
            if (strcmp(view->name, name) != 0 || !is_of(view, of, is_exact))
                continue;
            *out_others += !view->is_mine;
            found = found ? found : view;
        }
    return found;
}

/* The view to pin, share or remove; NULL with an error. */
static const struct orch_saved_view *wanted(const GPtrArray *views,
                                            const struct orch_view_change *change, GError **error)
{
    guint others;
    const struct orch_saved_view *view = find(views, change->name, change->of, &others);
    if (view && (view->is_mine || others == 1))
        return view;
    if (view)
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "name the author with --of; 'orch view' lists views",
                       "%u people have a view '%s'", others, change->name);
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch view' lists the saved views",
                       "there is no view '%s'%s%s", change->name, change->of ? " of " : "",
                       change->of ? change->of : "");
    return NULL;
}

static bool remove_view(struct orch_store *store, const struct orch_saved_view *view,
                        GError **error)
{
    static const char shared[] = "SELECT count(*) FROM note WHERE target = '" TARGET "' || ?1 AND"
                                 " kind = 'view' AND public = 1 AND who IS ?2 AND text <> ''";
    int64_t count = 0;
    return orch_store_get_int(store, &count, 0, error, shared, "tt", view->name, view->who) &&
           insert(store, view->name, view->who, "", view->is_mine && count, error);
}

static bool write_view(struct orch_store *store, const struct orch_saved_view *before,
                       const struct orch_view_change *change, GError **error)
{
    const bool stays_theirs = before && !before->is_mine && !change->shares,
               was_shared = before && before->is_mine && before->is_public,
               is_pinned = change->pins || (before && before->is_pinned && !change->unpins);
    g_autoptr(json_t) state =
        json_pack("{s:s s:b}", "address", change->address ? change->address : before->address,
                  "pinned", (int)is_pinned);
    g_autofree char *text = orch_json_canonical(state);
    return insert(store, change->name, stays_theirs ? before->who : orch_user_name(), text,
                  change->shares || was_shared, error);
}

/* Whether the view still is what the user saw. */
static bool is_as_seen(const struct orch_saved_view *before, const struct orch_view_change *change,
                       GError **error)
{
    const char *seen = change->instead_of, *is = before ? before->address : "";
    if (!seen || strcmp(seen, is) == 0)
        return true;
    if (*is)
        orch_error_set(
            error, ORCH_ERROR_USAGE, "to replace the new version, open it first, then save yours",
            "view '%s' was changed since you opened it: its address is now '%s'", change->name, is);
    else
        orch_error_set(error, ORCH_ERROR_USAGE, "to restore the view, save again",
                       "view '%s' was removed since you opened it", change->name);
    return false;
}

static bool carry_out(struct orch_store *store, const struct orch_view_change *change,
                      char **out_before, GError **error)
{
    g_autoptr(GPtrArray) views = orch_store_views(store, error);
    if (!views)
        return false;
    guint others;
    const struct orch_saved_view *before;
    if (!change->address) {
        before = wanted(views, change, error);
        if (!before)
            return false;
    } else {
        before = find(views, change->name, NULL, &others);
        before = before && before->is_mine ? before : NULL;
    }
    if (!is_as_seen(before, change, error) ||
        !(change->removes ? remove_view(store, before, error)
                          : write_view(store, before, change, error)))
        return false;
    *out_before = before ? g_strdup(before->address) : NULL;
    return true;
}

bool orch_store_view_change(struct orch_store *store, const struct orch_view_change *change,
                            char **out_before, GError **error)
{
    if (!are_sound(change->name, change->address, error) ||
        !orch_store_transaction_begin(store, error))
        return false;
    g_autofree char *before = NULL;
    if (!carry_out(store, change, &before, error)) {
        orch_store_transaction_rollback(store);
        return false;
    }
    if (!orch_store_transaction_commit(store, error))
        return false;
    *out_before = g_steal_pointer(&before);
    return true;
}
