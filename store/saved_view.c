/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/saved_view.h"

#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

#define TARGET "view:"
enum { NAME_MAX_BYTES = 100, ADDRESS_MAX_BYTES = 4000, VIEWS_MAX = 500 };

/* SQL: whether the view `n` is in effect. It is unless there is a later view of that name, or its
 * removal (an empty text) that is private (made in this store) or has the same author. */
#define IN_EFFECT                                                                                  \
    "n.kind = 'view' AND NOT EXISTS (SELECT 1 FROM note u WHERE u.target = n.target AND"           \
    " u.kind = 'view' AND (u.public = 0 OR u.who IS n.who OR u.text <> '') AND"                    \
    " (u.made, u.key) > (n.made, n.key))"

void orch_saved_view_free(struct orch_saved_view *view)
{
    if (!view)
        return;
    g_free(view->name);
    g_free(view->address);
    g_free(view->who);
    g_free(view);
}

static void free_view(gpointer view)
{
    orch_saved_view_free(view);
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

/* Reads a row of the columns target, text, who, public, made; NULL when it is no view. */
static struct orch_saved_view *read_view(sqlite3_stmt *s)
{
    const char *target = orch_store_text(s, 0), *text = orch_store_text(s, 1);
    g_autoptr(json_t) state = text ? json_loads(text, 0, NULL) : NULL;
    const char *address = json_string_value(json_object_get(state, "address"));
    if (!target || !g_str_has_prefix(target, TARGET) || !is_name(target + strlen(TARGET)) ||
        !is_address(address))
        return NULL;
    struct orch_saved_view *view = g_new0(struct orch_saved_view, 1);
    view->name = g_strdup(target + strlen(TARGET));
    view->address = g_strdup(address);
    view->who = orch_store_column_text(s, 2);
    view->is_public = sqlite3_column_int(s, 3);
    view->made_ns = sqlite3_column_int64(s, 4);
    view->is_pinned = json_is_true(json_object_get(state, "pinned"));
    return view;
}

GPtrArray *orch_store_views(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT n.target, n.text, n.who, n.public, n.made FROM note n WHERE " IN_EFFECT
        " AND n.text <> '' ORDER BY n.target LIMIT ?",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", (int64_t)VIEWS_MAX);
    GPtrArray *views = g_ptr_array_new_with_free_func(free_view);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_saved_view *view = read_view(s);
        if (view)
            g_ptr_array_add(views, view);
    }
    if (more == 0)
        return views;
    g_ptr_array_unref(views);
    return NULL;
}

static bool are_sound(const char *name, const char *address, GError **error)
{
    const bool has_name = is_name(name);
    if (!has_name)
        orch_error_set(error, ORCH_ERROR_USAGE, "1 to 100 bytes of printable text",
                       "'%.110s' is no name of a view", name ? name : "");
    else if (address && !is_address(address))
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "copy what stands behind the page's address, from '#/' on",
                       "'%.60s' is no state of the page", address);
    return has_name && (!address || is_address(address));
}

static bool insert(struct orch_store *store, const char *target, const char *text, bool is_public,
                   GError **error)
{
    char key[ORCH_KEY_CHARS];
    int64_t last = 0, now = orch_now_ns();
    orch_key_make(key);
    if (!orch_store_get_int(store, &last, 0, error,
                            "SELECT max(made) FROM note WHERE target = ? AND kind = 'view'", "t",
                            target))
        return false;
    if (last == INT64_MAX) {
        orch_error_set(error, ORCH_ERROR_STORE, "'orch db check' looks at the store",
                       "a note of view '%s' has the last date that there is",
                       target + strlen(TARGET));
        return false;
    }
    return orch_store_run_statement(store, error,
                                    "INSERT INTO note(key, target, kind, public, text, who, made)"
                                    " VALUES(?, ?, 'view', ?, ?, ?, ?)",
                                    "ttitti", key, target, (int64_t)is_public, text,
                                    orch_user_name(), MAX(now, last < now ? now : last + 1));
}

/* Removes a view: the user's public notes for everybody, and whatever is then left here. */
static bool remove_view(struct orch_store *store, const char *target, GError **error)
{
    static const char holds[] =
        "SELECT count(*) FROM note n WHERE n.target = ?1 AND " IN_EFFECT " AND n.text <> ''";
    static const char own[] = "SELECT count(*) FROM note n WHERE n.target = ?1 AND n.kind = 'view'"
                              " AND n.public = 1 AND n.who IS ?2 AND n.text <> ''";
    int64_t held = 0, shared = 0;
    if (!orch_store_get_int(store, &held, 0, error, holds, "t", target) ||
        !orch_store_get_int(store, &shared, 0, error, own, "tt", target, orch_user_name()))
        return false;
    if (!held) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch view' lists the saved views",
                       "there is no view '%s'", target + strlen(TARGET));
        return false;
    }
    if (shared && !insert(store, target, "", true, error))
        return false;
    return orch_store_get_int(store, &held, 0, error, holds, "t", target) &&
           (!held || insert(store, target, "", false, error));
}

bool orch_store_view_save(struct orch_store *store, const char *name, const char *address,
                          bool is_pinned, bool is_public, GError **error)
{
    if (!are_sound(name, address, error) || !orch_store_transaction_begin(store, error))
        return false;
    g_autofree char *target = g_strconcat(TARGET, name, NULL);
    g_autoptr(json_t) state = json_pack("{s:s? s:b}", "address", address, "pinned", (int)is_pinned);
    g_autofree char *text = orch_json_canonical(state);
    const bool ok =
        address ? insert(store, target, text, is_public, error) : remove_view(store, target, error);
    if (ok)
        return orch_store_transaction_commit(store, error);
    orch_store_transaction_rollback(store);
    return false;
}
