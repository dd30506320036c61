/* SPDX-License-Identifier: MIT */
#include "lib/wire/text_losses.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

const struct orch_loss_facts ORCH_LOSS_FACTS[ORCH_TEXT_LOSSES] = {
    [ORCH_LOSS_UNREAD] = {"unread_lines", "unread_first"},
    [ORCH_LOSS_EXCESS] = {"excess_values", "excess_first"},
    [ORCH_LOSS_REPLACED] = {"replaced_points", "replaced_first"},
    [ORCH_LOSS_SINGLE] = {"single_values", "single_first"},
    [ORCH_LOSS_MERGED] = {"merged_names", "merged_first"},
    [ORCH_LOSS_UNHEARD] = {"unheard_lines", NULL},
};

void orch_text_losses_clear(struct orch_text_losses *losses)
{
    for (int i = 0; i < ORCH_TEXT_LOSSES; i++)
        g_clear_pointer(&losses->first[i], g_free);
}

void orch_text_losses_save(const struct orch_text_losses *losses, json_t *facts)
{
    for (int i = 0; i < ORCH_TEXT_LOSSES; i++) {
        if (losses->counts[i] > 0)
            json_object_set_new(facts, ORCH_LOSS_FACTS[i].count, json_integer(losses->counts[i]));
        if (losses->first[i])
            json_object_set_new(facts, ORCH_LOSS_FACTS[i].first, json_string(losses->first[i]));
    }
}

void orch_text_losses_add(struct orch_text_losses *losses, const json_t *facts)
{
    for (int i = 0; i < ORCH_TEXT_LOSSES; i++) {
        int64_t count = orch_json_int(facts, ORCH_LOSS_FACTS[i].count, 0);
        if (count <= 0)
            continue;
        losses->counts[i] += count;
        if (ORCH_LOSS_FACTS[i].first && !losses->first[i])
            losses->first[i] =
                orch_text_line(g_strdup(orch_json_text(facts, ORCH_LOSS_FACTS[i].first, "?")));
    }
}
