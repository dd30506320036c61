/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/name_groups.h"

#include <string.h>

char *orch_net_block_name(const char *name, bool *has_number)
{
    g_auto(GStrv) parts = g_strsplit(name, ".", -1);
    GString *out = g_string_new(NULL);
    bool is_number = false;
    for (int i = 0; parts[i] && !is_number; i++) {
        is_number = *parts[i] && strspn(parts[i], "0123456789") == strlen(parts[i]);
        g_string_append_printf(out, "%s%s", i ? "." : "", parts[i]);
    }
    if (has_number)
        *has_number = is_number;
    return g_string_free(out, FALSE);
}

void orch_net_group_by_names(struct orch_net *net)
{
    guint count = net->nodes->len;
    g_autofree int *groups = g_new0(int, count);
    g_autofree char *last = NULL;
    int inner = 0;
    bool is_behind = false; /* what has parameters and no number, behind the blocks */
    for (guint i = 0; i < count && net->group_count < 3; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        bool has_number = false;
        g_autofree char *own =
            node->tensor_count ? orch_net_block_name(node->name, &has_number) : NULL;
        if (has_number && g_strcmp0(own, last) != 0) {
            inner++;
            g_free(last);
            last = g_steal_pointer(&own);
        }
        is_behind = node->tensor_count ? inner && !has_number : is_behind;
        groups[i] = is_behind ? -1 : inner;
    }
    if (!inner)
        return;
    net->group_count = inner + 2;
    for (guint i = 0; i < count; i++)
        ((struct orch_net_node *)net->nodes->pdata[i])->group =
            groups[i] < 0 ? inner + 1 : groups[i];
}
