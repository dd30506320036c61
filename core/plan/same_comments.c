/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digests without comments are kept with the runs, so that the old text need not be kept: scripts
 * lie in folders that are no repository, too, and git ignores some. */
#include "core/plan/same_comments.h"

#include "core/plan/reuse.h"
#include "lib/base/json.h"
#include "lib/wire/verdict.h"

#include <string.h>

void orch_code_fingerprint(struct orch_plan *plan, const struct orch_plan_item *item,
                           const struct orch_fingerprint_ref *refs, size_t ref_count, char out[65])
{
    g_autoptr(GPtrArray) inputs = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; item->inputs.list && i < item->inputs.list->len; i++) {
        const struct orch_checked_input *input = item->inputs.list->pdata[i];
        struct orch_checked_input *code = g_memdup2(input, sizeof *input);
        g_strlcpy(code->sha256, orch_inputs_code_digest(plan->inputs, input), sizeof code->sha256);
        g_ptr_array_add(inputs, code);
    }
    orch_fingerprint(item->cell, item->seed, inputs, item->no_effect,
                     orch_inputs_code_id_of(plan->inputs, item->inputs.id ? item->inputs.id : ""),
                     plan->workspace->root, refs, ref_count, out);
}

/* Gives the item the fingerprint of a run that can be reused; else leaves it alone. */
static bool take(struct orch_plan *plan, struct orch_plan_item *item, const char *fingerprint)
{
    g_autofree char *own = g_strdup(item->fingerprint);
    g_strlcpy(item->fingerprint, fingerprint, sizeof item->fingerprint);
    struct orch_run *run = orch_reuse_find(plan, item, NULL, NULL);
    if (!run)
        g_strlcpy(item->fingerprint, own, sizeof item->fingerprint);
    orch_run_free(run);
    return run != NULL;
}

static bool take_row(struct orch_plan *plan, struct orch_plan_item *item,
                     const struct orch_history_row *row)
{
    g_autoptr(json_t) facts = row->facts ? json_loads(row->facts, 0, NULL) : NULL;
    const char *then = facts ? orch_json_text(facts, ORCH_FACT_CODE_FINGERPRINT, "") : "";
    return strcmp(then, item->code_fingerprint) == 0 &&
           strcmp(row->fingerprint, item->fingerprint) != 0 &&
           orch_verdict_facts(orch_verdict_parse(row->state))->is_reused &&
           take(plan, item, row->fingerprint);
}

bool orch_adopt_same_code(struct orch_plan *plan, struct orch_plan_item *item,
                          const GPtrArray *history)
{
    for (guint i = 0; i < history->len; i++)
        if (take_row(plan, item, history->pdata[i]))
            return true;
    return false;
}
