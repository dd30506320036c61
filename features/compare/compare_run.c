/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The number of turns is fixed beforehand, because stopping as soon as a difference shows would
 * turn noise into differences. until_sure.c has a test for which it does not. */
#include "features/compare/compare_run.h"

#include "features/compare/interleave.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

void orch_compare_side_clear(struct orch_compare_side *side)
{
    g_free(side->name);
    g_free(side->what);
    g_clear_pointer(&side->runs, g_ptr_array_unref);
    memset(side, 0, sizeof *side);
}

static bool run_turns(struct orch_compare_arm arms[2], struct orch_interleave *interleave,
                      GError **error)
{
    g_autofree char *argv = arms[0].listener->argv_json(arms[0].listener->ctx, arms[1].expansion);
    struct orch_run_options options = {
        .slots = 1, .on_change = ORCH_ON_CHANGE_FROZEN, .argv_json = argv};
    struct orch_listener listeners[2];
    for (int i = 0; i < 2; i++)
        listeners[i] = orch_compare_arm_listener(&arms[i]);
    struct orch_interleave_end end;
    if (!orch_interleave_run(interleave, &options, listeners, &end, error))
        return false;
    if (end.failed)
        orch_error_set(error, ORCH_ERROR_TRIAL, "'orch log @last' prints its output",
                       "%s failed, so nothing was compared", end.failed);
    else if (end.interrupted || end.terminated)
        orch_error_set(error, ORCH_ERROR_INTERRUPTED,
                       "the finished runs are kept: compare them with 'orch compare' without --run",
                       "stopped");
    bool ok = !end.failed && !end.interrupted && !end.terminated;
    g_free(end.failed);
    return ok;
}

/* Reads the runs of a side, newest first like store queries. */
static bool read_side(const struct orch_compare_arm *arm, const struct orch_interleave *interleave,
                      int which, struct orch_compare_side *out, GError **error)
{
    out->name = g_strdup(arm->name);
    out->what = orch_compare_arm_what(arm);
    out->runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    for (guint i = interleave->pairs->len; i > 0; i--) {
        unsigned index =
            g_array_index(interleave->pairs, struct orch_interleave_pair, i - 1).index[which];
        struct orch_run *run =
            orch_store_run(arm->base->store, arm->plan->items[index].run_key, error);
        if (!run)
            return false;
        g_ptr_array_add(out->runs, run);
    }
    return true;
}

bool orch_compare_run_both(struct orch_workspace *workspace, const char *const *plugin_paths,
                           const struct orch_compare_run *request, const char *const names[2],
                           const struct orch_compare_listener *listener,
                           struct orch_compare_side sides[2], GError **error)
{
    struct orch_compare_arm arms[2];
    struct orch_interleave interleave = {0};
    bool ok =
        orch_compare_arms_make(workspace, plugin_paths, request, names, listener, arms, error) &&
        orch_compare_arms_pair(arms, &interleave, error);
    if (ok) {
        orch_compare_say(listener->on_message, listener->ctx,
                         "%u trial%s of each side, in turns: A B B A", interleave.pairs->len,
                         orch_plural(interleave.pairs->len));
        ok = run_turns(arms, &interleave, error);
    }
    for (int i = 0; ok && i < 2; i++)
        ok = read_side(&arms[i], &interleave, i, &sides[i], error);
    orch_interleave_clear(&interleave);
    orch_compare_arms_clear(arms);
    return ok;
}
