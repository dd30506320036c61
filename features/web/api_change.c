/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for changes: {"do": VERB, "runs": [KEY...], "text": TEXT}. The guard has let only
 * requests with the token pass (access.c). Each run is changed by itself, and the answer says which
 * were. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

enum { RUNS_MAX = 200, TEXT_MAX = 4000 };

const char *const ORCH_WEB_VERBS[] = {"tag",  "untag", "note",   "name",
                                      "hide", "show",  "cancel", NULL};

/* Verbs that cannot do without a text. */
static const char *const WORDY[] = {"tag", "untag", "note", "name", NULL};

/* Checks the whole request before anything is changed. */
static bool is_sound(const json_t *change, const char **out_verb, const char **out_text,
                     GError **error)
{
    const char *verb = json_string_value(json_object_get(change, "do"));
    const char *text = json_string_value(json_object_get(change, "text"));
    const json_t *runs = json_object_get(change, "runs");
    const size_t count = json_array_size(runs);
    const char *wrong = NULL;
    if (!verb || !g_strv_contains(ORCH_WEB_VERBS, verb))
        wrong = "'do' is none of tag, untag, note, name, hide, show and cancel";
    else if (!count || count > RUNS_MAX)
        wrong = "'runs' is no list of 1 to 200 keys";
    else if (text && (strlen(text) > TEXT_MAX || !g_utf8_validate(text, -1, NULL)))
        wrong = "'text' is longer than 4000 bytes";
    else if (g_strv_contains(WORDY, verb) && (!text || !*text))
        wrong = "'text' is missing";
    else if (text && *text && !g_strv_contains(WORDY, verb) && strcmp(verb, "hide") != 0)
        wrong = "'text' says nothing to this 'do'";
    for (size_t i = 0; !wrong && i < count; i++)
        if (!orch_web_is_key(json_string_value(json_array_get(runs, i))))
            wrong = "'runs' has something that is no key of a run";
    *out_verb = verb;
    *out_text = text && *text ? text : NULL;
    if (wrong)
        orch_error_set(error, ORCH_ERROR_USAGE, "see 'orch help page'", "the change is refused: %s",
                       wrong);
    return !wrong;
}

static json_t *failure_json(const char *run, const GError *why)
{
    g_autofree char *message = NULL, *hint = NULL;
    orch_web_error_split(why, &message, &hint);
    return json_pack("{s:s s:s s:s?}", "run", run, "message", message, "hint", hint);
}

/* On the page of a group only one's own runs are changed. What is no ended run of this store is
 * left to the command: running trials are this user's. */
static bool is_own(struct web_call *call, const char *key, GError **error)
{
    const struct orch_web_options *o = &call->web->options;
    struct orch_run *run = o->group ? orch_store_run(call->store, key, NULL) : NULL;
    const bool is_others = run && !(run->who && o->who && orch_who_is_same(run->who, o->who));
    g_autofree char *who = is_others ? orch_who_name(run->who ? run->who : "nobody") : NULL;
    orch_run_free(run);
    if (is_others)
        orch_error_set(
            error, ORCH_ERROR_USAGE, "to change it here, start 'orch serve' without --group",
            "the run belongs to %s, and the page of a group changes only your own runs", who);
    return !is_others;
}

bool orch_web_api_change(struct web_call *call, GError **error)
{
    const struct orch_web_options *o = &call->web->options;
    gsize length = 0;
    const char *bytes = g_bytes_get_data(call->body, &length);
    g_autoptr(json_t) change = orch_json_parse(bytes ? bytes : "", length, WEB_CHANGE_MAX, NULL);
    const char *verb, *text;
    if (orch_web_is_view_change(change))
        return orch_web_change_view(call, change, error);
    if (!is_sound(change, &verb, &text, error)) /* what is no JSON has no verb */
        return false;
    const json_t *runs = json_object_get(change, "runs");
    json_t *done = json_array(), *failed = json_array();
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const char *run = json_string_value(json_array_get(runs, i));
        g_autoptr(GError) why = NULL;
        if (is_own(call, run, &why) && o->change(o->ctx, verb, run, text, &why))
            json_array_append_new(done, json_string(run));
        else
            json_array_append_new(failed, failure_json(run, why));
    }
    orch_web_answer_json(call, json_pack("{s:o s:o}", "done", done, "failed", failed), 15);
    return true;
}
