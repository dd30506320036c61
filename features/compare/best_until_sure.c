/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/best_until_sure.h"

#include "features/compare/until_sure_show.h"
#include "lib/base/json.h"

#include <math.h>

struct contest {
    struct orch_cli *cli;
    const struct orch_ranking *ranking;
    const struct orch_ranking_request *ranked_by;
    const struct orch_sure_request *request;
    const struct orch_group *best; /* so far */
    unsigned verdicts[ORCH_ANYTIME_ALIKE + 1];
    enum orch_sure_stop stop; /* of the last pair */
    json_t *pairs;
};

static void on_repeat(void *ctx, const struct orch_sure *so_far)
{
    const struct contest *c = ctx;
    g_autofree char *text = orch_sure_text(so_far, c->request->least);
    orch_cli_info(c->cli, "%s", text);
}

/* "lr=0.1 and mode=full", as the side of a comparison is written. The caller frees. */
static char *side_of(const struct orch_ranking *ranking, const struct orch_group *group)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; ranking->by[i]; i++)
        g_string_append_printf(text, "%s%s=%s", i ? " and " : "", ranking->by[i], group->values[i]);
    return g_string_free(text, FALSE);
}

static void note_pair(struct contest *c, const struct orch_group *other,
                      const struct orch_sure *sure, bool is_other_better)
{
    static const char *const words[] = {"open", "different", "alike"};
    g_autofree char *runs = orch_sure_text(sure, c->request->least);
    orch_cli_info(c->cli, "A: %s, B: %s: %s", c->best->label, other->label, runs);
    json_array_append_new(c->pairs,
                          json_pack("{s:s s:s s:s s:s? s:i}", "a", c->best->label, "b",
                                    other->label, "verdict", words[sure->verdict], "better",
                                    sure->verdict != ORCH_ANYTIME_DIFFERENT ? NULL
                                    : is_other_better                       ? other->label
                                                                            : c->best->label,
                                    "runs", (int)sure->runs));
    c->verdicts[sure->verdict]++;
    c->stop = sure->stop;
}

/* Runs the best setting and another one; the better one is the best then. */
static bool meet(struct contest *c, const struct orch_group *other, GError **error)
{
    g_autofree char *a = side_of(c->ranking, c->best), *b = side_of(c->ranking, other);
    const char *const names[2] = {a, b};
    const struct orch_compare_listener listener = orch_cli_compare_listener(c->cli);
    struct orch_workspace *workspace = orch_cli_workspace(c->cli, NULL, error);
    struct orch_sure sure = {0};
    bool ok = workspace && orch_compare_until_sure(workspace, c->cli->plugin_paths, c->request,
                                                   names, &listener, on_repeat, c, &sure, error);
    if (ok) {
        bool is_other_better = sure.verdict == ORCH_ANYTIME_DIFFERENT &&
                               (sure.so_far.mean > 0) == c->ranked_by->larger_wins;
        note_pair(c, other, &sure, is_other_better);
        c->best = is_other_better ? other : c->best;
    }
    orch_sure_clear(&sure);
    return ok;
}

static void show(const struct contest *c)
{
    if (c->cli->json) {
        orch_cli_print_json(json_pack("{s:s s:s s:O}", "metric", c->ranked_by->metric, "best",
                                      c->best->label, "pairs", c->pairs));
        return;
    }
    orch_cli_print("best: %s by %s; pairs that differ: %u, alike: %u, open: %u", c->best->label,
                   c->ranked_by->metric, c->verdicts[ORCH_ANYTIME_DIFFERENT],
                   c->verdicts[ORCH_ANYTIME_ALIKE], c->verdicts[ORCH_ANYTIME_OPEN]);
    orch_cli_info(c->cli, "a verdict is wrong with a probability of at most 5 %%");
}

int orch_best_until_sure(struct orch_cli *cli, const struct orch_ranking *ranking,
                         const struct orch_ranking_request *ranked_by,
                         const struct orch_sure_request *request, guint limit, GError **error)
{
    g_autoptr(json_t) pairs = json_array();
    const guint count = limit ? MIN(limit, ranking->groups->len) : ranking->groups->len;
    struct contest c = {.cli = cli,
                        .ranking = ranking,
                        .ranked_by = ranked_by,
                        .request = request,
                        .best = ranking->groups->pdata[0],
                        .stop = ORCH_SURE_VERDICT,
                        .pairs = pairs};
    for (guint i = 1; i < count && orch_cli_sure_status(c.stop) == ORCH_EXIT_OK; i++)
        if (!meet(&c, ranking->groups->pdata[i], error))
            return -1;
    show(&c);
    return orch_cli_sure_status(c.stop);
}
