/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights against a network: by name, then by shape. */
#include "plugins/common/weights/weights.h"

#include "lib/base/error.h"

#include <string.h>

/* Named in a message; the rest is counted. */
#define NAMES_SHOWN 5

static bool has_shape(const struct orch_weight *weight, const struct orch_net_tensor *tensor)
{
    if (weight->rank != tensor->rank)
        return false;
    for (int i = 0; i < tensor->rank; i++)
        if (weight->shape[i] != tensor->shape[i])
            return false;
    return true;
}

static void match_tensor(struct orch_weights_match *match, const struct orch_weights *weights,
                         const struct orch_net_tensor *tensor, bool is_optional)
{
    const struct orch_weight *weight = orch_weights_find(weights, tensor->name);
    if (weight && has_shape(weight, tensor)) {
        match->matched_count += !is_optional;
    } else if (is_optional) {
        return;
    } else if (!weight) {
        g_ptr_array_add(match->missing, g_strdup(tensor->name));
    } else {
        g_autofree char *found = orch_weight_shape_format(weight->rank, weight->shape);
        g_autofree char *expected = orch_weight_shape_format(tensor->rank, tensor->shape);
        g_ptr_array_add(match->mismatched,
                        g_strdup_printf("%s: %s for %s", tensor->name, found, expected));
    }
}

struct orch_weights_match *orch_weights_match(const struct orch_weights *weights,
                                              const struct orch_net *net, bool except_head)
{
    struct orch_weights_match *match = g_new0(struct orch_weights_match, 1);
    match->missing = g_ptr_array_new_with_free_func(g_free);
    match->extra = g_ptr_array_new_with_free_func(g_free);
    match->mismatched = g_ptr_array_new_with_free_func(g_free);
    const struct orch_net_node *head = orch_net_head(net);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(net, (int)i);
        g_hash_table_add(known, tensor->name);
        match_tensor(match, weights, tensor, except_head && head && tensor->node == head->id);
    }
    for (guint i = 0; i < weights->items->len; i++) {
        const struct orch_weight *weight = weights->items->pdata[i];
        if (!g_hash_table_contains(known, weight->name) &&
            !g_str_has_suffix(weight->name, ".num_batches_tracked"))
            g_ptr_array_add(match->extra, g_strdup(weight->name));
    }
    return match;
}

void orch_weights_match_free(struct orch_weights_match *match)
{
    if (!match)
        return;
    g_ptr_array_unref(match->missing);
    g_ptr_array_unref(match->extra);
    g_ptr_array_unref(match->mismatched);
    g_free(match);
}

/* "; missing: 'a', 'b' and 3 more" */
static void append_names(GString *text, const char *word, const GPtrArray *names)
{
    for (guint i = 0; i < MIN(names->len, NAMES_SHOWN); i++)
        g_string_append_printf(text, "%s'%s'", i ? ", " : word, (const char *)names->pdata[i]);
    if (names->len > NAMES_SHOWN)
        g_string_append_printf(text, " and %u more", names->len - NAMES_SHOWN);
}

bool orch_weights_match_to_error(const struct orch_weights_match *match, const char *net_name,
                                 GError **error)
{
    if (!match->missing->len && !match->extra->len && !match->mismatched->len)
        return true;
    g_autoptr(GString) text = g_string_new(NULL);
    append_names(text, "; missing: ", match->missing);
    append_names(text, "; extra: ", match->extra);
    append_names(text, "; of another shape: ", match->mismatched);
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   match->matched_count ? "are they of a variant of it, or for another number of "
                                          "classes?"
                                        : "are they of another network?",
                   "weights do not fit network '%s' (%d tensors do)%s", net_name,
                   match->matched_count, text->str);
    return false;
}
