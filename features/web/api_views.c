/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers for saved views of the page: the list, and {"do": "view-save", "name": NAME, "address":
 * "#/..."}. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "store/write/saved_view.h"

#include <string.h>

bool orch_web_api_views(struct web_call *call, GError **error)
{
    g_autoptr(GPtrArray) views = orch_store_views(call->store, error);
    json_t *rows = json_array();
    for (guint i = 0; views && i < views->len; i++) {
        const struct orch_saved_view *v = views->pdata[i];
        json_array_append_new(rows, json_pack("{s:s s:s s:s? s:b s:b s:b}", "name", v->name,
                                              "address", v->address, "who", v->who, "is_mine",
                                              (int)v->is_mine, "is_public", (int)v->is_public,
                                              "is_pinned", (int)v->is_pinned));
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
    static const char *const verbs[] = {"view-save",  "view-share",  "view-pin",
                                        "view-unpin", "view-remove", NULL};
    const struct orch_web_options *o = &call->web->options;
    const struct orch_web_view view = {json_string_value(json_object_get(change, "do")),
                                       json_string_value(json_object_get(change, "name")),
                                       json_string_value(json_object_get(change, "address")),
                                       json_string_value(json_object_get(change, "of")),
                                       json_string_value(json_object_get(change, "instead_of"))};
    const bool saves = strcmp(view.verb, "view-save") == 0,
               removes = strcmp(view.verb, "view-remove") == 0;
    const char *wrong = !g_strv_contains(verbs, view.verb) ? "'do' is nothing that views know"
                        : !view.name || !*view.name        ? "'name' is missing"
                        : saves != (view.address != NULL)  ? "'address' belongs to view-save"
                        : saves && view.of                 ? "'of' does not belong to view-save"
                        : view.instead_of && !saves && !removes
                            ? "'instead_of' belongs to view-save and view-remove"
                        : !o->view ? "this server saves no views"
                                   : NULL;
    if (wrong) {
        orch_error_set(error, ORCH_ERROR_USAGE, "see 'orch help page'", "the change is refused: %s",
                       wrong);
        return false;
    }
    if (!o->view(o->ctx, &view, error))
        return false;
    orch_web_answer_json(call, json_pack("{s:[s]}", "done", view.name), 15);
    return true;
}
