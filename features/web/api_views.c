/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers for saved views of the page: the list, and {"do": "view-save", "name": NAME, "address":
 * "#/..."}. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "store/saved_view.h"

#include <string.h>

bool orch_web_api_views(struct web_call *call, GError **error)
{
    const char *me = call->web->options.who;
    g_autoptr(GPtrArray) views = orch_store_views(call->store, error);
    json_t *rows = json_array();
    for (guint i = 0; views && i < views->len; i++) {
        const struct orch_saved_view *v = views->pdata[i];
        json_array_append_new(
            rows, json_pack("{s:s s:s s:s? s:b s:b s:b}", "name", v->name, "address", v->address,
                            "who", v->who, "is_mine", v->who && me && orch_who_is_same(v->who, me),
                            "is_public", (int)v->is_public, "is_pinned", (int)v->is_pinned));
    }
    if (views)
        orch_web_answer_json(call, json_pack("{s:O}", "views", rows), 15);
    json_decref(rows);
    return views != NULL;
}

bool orch_web_is_view_change(const json_t *change)
{
    const char *verb = json_string_value(json_object_get(change, "do"));
    return verb && g_str_has_prefix(verb, "view-");
}

bool orch_web_change_view(struct web_call *call, const json_t *change, GError **error)
{
    static const char *const saving[] = {"view-save", "view-share", NULL};
    static const char *const others[] = {"view-pin", "view-unpin", "view-remove", NULL};
    const struct orch_web_options *o = &call->web->options;
    const char *verb = json_string_value(json_object_get(change, "do"));
    const char *name = json_string_value(json_object_get(change, "name"));
    const char *address = json_string_value(json_object_get(change, "address"));
    const bool saves = g_strv_contains(saving, verb);
    const char *wrong = !saves && !g_strv_contains(others, verb) ? "'do' is nothing that views know"
                        : !name || !*name                        ? "'name' is missing"
                        : saves != (address != NULL)
                            ? "'address' belongs to view-save and view-share"
                        : !o->view ? "this server saves no views"
                                   : NULL;
    if (wrong) {
        orch_error_set(error, ORCH_ERROR_USAGE, "see docs/serve.md", "the change is refused: %s",
                       wrong);
        return false;
    }
    if (!o->view(o->ctx, verb, name, address, error))
        return false;
    orch_web_answer_json(call, json_pack("{s:[s]}", "done", name), 15);
    return true;
}
