/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the commands that make runs again. */
#include "features/web/internal.h"

#include "lib/base/error.h"

enum { RUNS_MAX = 60 };

static bool are_sound(char *const *runs, GError **error)
{
    size_t count = 0;
    bool is_sound = true;
    for (; is_sound && runs[count]; count++)
        is_sound = orch_web_is_key(runs[count]) && *runs[count] != '-'; /* no option */
    is_sound = is_sound && count && count <= RUNS_MAX;
    if (!is_sound)
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "'runs' must be a list of 1 to %d keys",
                       RUNS_MAX);
    return is_sound;
}

bool orch_web_api_reruns(struct web_call *call, GError **error)
{
    const struct orch_web_options *o = &call->web->options;
    g_auto(GStrv) runs = orch_web_query_list(call, "runs", "");
    if (!o->reruns) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "this server cannot show the commands that run trials again");
        return false;
    }
    json_t *reruns = are_sound(runs, error) ? o->reruns(o->ctx, runs, error) : NULL;
    if (reruns)
        orch_web_answer_json(call, reruns, 15);
    return reruns != NULL;
}
