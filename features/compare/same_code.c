/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/same_code.h"

#include "core/inputs/inputs.h"
#include "lib/wire/verdict.h"

#include <string.h>

/* Maximum number of runs of the trial that are looked at. */
enum { RUNS_MAX = 50 };

static const char *tree_of(const struct orch_plan *plan)
{
    const struct orch_source *source = plan->workspace->source;
    return source ? source->tree : NULL;
}

static bool is_watched(const struct orch_run *run)
{
    return run->facts && strstr(run->facts, "\"" ORCH_FACT_WATCHED "\"");
}

/* Whether all that the run read is known. A file that it has also written is not compared. */
static bool is_known_whole(const struct orch_run *run)
{
    g_autofree char *gaps = orch_read_not_compared(run);
    return !gaps;
}

/* A command or plugin of the user's, whose files are noted while it runs. */
static bool is_program(const struct orch_plan_item *item)
{
    return !orch_plugin_is_ours(item->cell->experiment->manifest);
}

/* Whether the files that a run read have changed in the plan's copy since. */
static bool has_changed(const struct orch_plan *plan, const struct orch_plan_item *item,
                        const struct orch_run *run)
{
    g_autofree char *why = orch_inputs_since(plan->inputs, &item->inputs, run, NULL);
    return why != NULL;
}

/* What a run tells that was made of the fingerprint of both sides: one that fits one side only has
 * read what differs between them, and one that fits none is of a third version. One that fits both
 * shows that they are the same only if all that it read is known. */
static enum orch_same_code told_by(const struct orch_run *run, const struct orch_plan *a,
                                   const struct orch_plan_item *x, const struct orch_plan *b,
                                   const struct orch_plan_item *y)
{
    if (!is_watched(run))
        return ORCH_SAME_CODE_UNKNOWN;
    bool fits_a = !has_changed(a, x, run), fits_b = !has_changed(b, y, run);
    if (fits_a && fits_b)
        return is_known_whole(run) ? ORCH_SAME_CODE_YES : ORCH_SAME_CODE_UNKNOWN;
    return fits_a || fits_b ? ORCH_SAME_CODE_NO : ORCH_SAME_CODE_UNKNOWN;
}

enum orch_same_code orch_same_code_of(const struct orch_plan *a, const struct orch_plan_item *x,
                                      const struct orch_plan *b, const struct orch_plan_item *y)
{
    if (!*x->fingerprint || strcmp(x->fingerprint, y->fingerprint) != 0)
        return ORCH_SAME_CODE_NO;
    if (!is_program(x) || g_strcmp0(tree_of(a), tree_of(b)) == 0)
        return ORCH_SAME_CODE_YES;
    enum orch_same_code same = ORCH_SAME_CODE_UNKNOWN;
    for (unsigned nth = 0; same == ORCH_SAME_CODE_UNKNOWN && nth < RUNS_MAX; nth++) {
        struct orch_run *run = orch_store_find_reusable(a->store, x->fingerprint, NULL, nth, NULL);
        if (!run)
            break;
        same = told_by(run, a, x, b, y);
        orch_run_free(run);
    }
    return same;
}
