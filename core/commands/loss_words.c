/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/loss_words.h"

#include "lib/base/text.h"

static const struct {
    const char *one, *many, *what, *hint;
} LOSSES[ORCH_TEXT_LOSSES] = {
    [ORCH_LOSS_UNREAD] = {"line held", "lines held", "numbers that were not understood", ""},
    [ORCH_LOSS_EXCESS] = {"value was", "values were",
                          "left out, because a trial has at most 1,000 metrics", ""},
    [ORCH_LOSS_REPLACED] = {"value was", "values were", "replaced by a later one of the same step",
                            "; print a step in each line to keep all"},
    [ORCH_LOSS_SINGLE] = {"value was", "values were",
                          "replaced by a later one, because the metric is declared without a step",
                          "; 'step: epoch' in the manifest keeps all"},
    [ORCH_LOSS_MERGED] = {"metric was", "metrics were",
                          "printed under names that differ only in signs",
                          "; they are recorded as one"},
    [ORCH_LOSS_UNHEARD] = {"line", "lines", "with numbers on standard error, which was not read",
                           "; '--metrics-from both' reads it"},
};

char *orch_cli_loss_said(enum orch_text_loss kind, const struct orch_text_losses *losses)
{
    int64_t count = losses->counts[kind];
    if (count <= 0)
        return NULL;
    const char *first = losses->first[kind];
    return g_strdup_printf("%" G_GINT64_FORMAT " %s %s%s%s%s", count,
                           count == 1 ? LOSSES[kind].one : LOSSES[kind].many, LOSSES[kind].what,
                           first ? ", first: " : "", first ? first : "", LOSSES[kind].hint);
}
