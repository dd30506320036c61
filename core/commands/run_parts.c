/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/run_parts.h"

#include "core/cli/parts.h"

/* A part that has begun. */
struct begun {
    const struct orch_run_part *part;
    void *state;
};

struct orch_run_parts {
    GArray *all; /* struct begun */
};

static const struct begun *at(const struct orch_run_parts *parts, guint i)
{
    return &g_array_index(parts->all, struct begun, i);
}

struct orch_run_parts *orch_run_parts_begin(struct orch_cli *cli,
                                            const struct orch_expansion *expansion, bool only_plans,
                                            GError **error)
{
    struct orch_run_parts *parts = g_new0(struct orch_run_parts, 1);
    parts->all = g_array_new(FALSE, FALSE, sizeof(struct begun));
    for (guint i = 0; i < cli->parts->len; i++) {
        const struct orch_cli_part *p = &g_array_index(cli->parts, struct orch_cli_part, i);
        struct begun begun = {.part = p->part->run};
        if (!begun.part)
            continue;
        if (!begun.part->begin(cli, p->options, expansion, only_plans, &begun.state, error)) {
            orch_run_parts_free(parts);
            return NULL;
        }
        if (begun.state)
            g_array_append_val(parts->all, begun);
    }
    return parts;
}

void orch_run_parts_free(struct orch_run_parts *parts)
{
    for (guint i = 0; parts && i < parts->all->len; i++)
        at(parts, i)->part->close(at(parts, i)->state);
    if (parts)
        g_array_unref(parts->all);
    g_free(parts);
}

void orch_run_parts_mark(const struct orch_run_parts *parts, struct orch_plan *plan)
{
    for (guint i = 0; i < parts->all->len; i++)
        if (at(parts, i)->part->mark)
            at(parts, i)->part->mark(at(parts, i)->state, plan);
}

bool orch_run_parts_limit(const struct orch_run_parts *parts,
                          const struct orch_run_outlook *outlook, GError **error)
{
    bool ok = true;
    for (guint i = 0; ok && i < parts->all->len; i++)
        if (at(parts, i)->part->limit)
            ok = at(parts, i)->part->limit(at(parts, i)->state, outlook, error);
    return ok;
}

bool orch_run_parts_share(const struct orch_run_parts *parts, struct orch_plan *plan,
                          const struct orch_listener *listener, struct orch_sharing *out)
{
    bool shares = false;
    for (guint i = 0; !shares && i < parts->all->len; i++)
        if (at(parts, i)->part->share)
            shares = at(parts, i)->part->share(at(parts, i)->state, plan, listener, out);
    return shares;
}

bool orch_run_parts_choose(const struct orch_run_parts *parts, struct orch_plan *plan,
                           const struct orch_listener *listener, struct orch_chooser *out)
{
    bool chooses = false;
    for (guint i = 0; !chooses && i < parts->all->len; i++)
        if (at(parts, i)->part->choose)
            chooses = at(parts, i)->part->choose(at(parts, i)->state, plan, listener, out);
    return chooses;
}

/* The parts are ended even if an earlier one fails, because they release what others wait for. */
bool orch_run_parts_ended(const struct orch_run_parts *parts, struct orch_plan *plan,
                          const struct orch_totals *totals, GError **error)
{
    bool ok = true;
    for (guint i = 0; i < parts->all->len; i++)
        if (at(parts, i)->part->ended &&
            !at(parts, i)->part->ended(at(parts, i)->state, plan, totals, ok ? error : NULL))
            ok = false;
    return ok;
}

bool orch_run_parts_print_held(const struct orch_run_parts *parts, const struct orch_plan *plan)
{
    bool is_known = false;
    for (guint i = 0; !is_known && i < parts->all->len; i++)
        if (at(parts, i)->part->print_held)
            is_known = at(parts, i)->part->print_held(at(parts, i)->state, plan);
    return is_known;
}
