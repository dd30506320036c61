/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `best`: the setting that wins, by how much, and whether that is more than noise. */
#include "core/answer/items.h"

#include "core/report/numbers.h"

#include <math.h>

bool orch_answer_best(struct orch_asked *a, GError **error)
{
    struct orch_answer_grid *g = orch_answer_grid(a, "by", NULL, error);
    if (!g)
        return false;
    struct orch_winner winner = orch_grid_winner(g->grid);
    if (winner.first) {
        g_autofree char *axes = orch_names_joined(g->rows);
        g_autofree char *text = orch_grid_text(g->grid, winner.first);
        orch_section_text(a->section, "winner by %s: %s with %s (n = %u)", axes, winner.first->row,
                          text, winner.first->done);
    }
    if (winner.second) {
        g_autofree char *margin = orch_number_format(fabs(winner.margin.mean));
        g_autofree char *noise = orch_difference_text(&winner.margin, NULL);
        orch_section_text(a->section, "margin over %s: %s; %s", winner.second->row, margin, noise);
    }
    if (winner.first && winner.missing)
        orch_section_note(a->section, "(%u setting%s missing)", winner.missing,
                          winner.missing == 1 ? " is" : "s are");
    orch_answer_say_missing(a, g->trials);
    if (!winner.first && a->section->done)
        orch_section_missing(a->section, NULL, "no setting has a number to win by");
    orch_answer_grid_free(g);
    return true;
}
