/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/zoo_sizes.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#define LAYERS_MAX 512
#define WIDTH_MAX 65536

static bool is_possible(const struct orch_net_sizes *s)
{
    return s->layers >= 1 && s->layers <= LAYERS_MAX && s->width >= 1 && s->width <= WIDTH_MAX &&
           s->heads >= 1 && s->width % s->heads == 0 && s->key_heads >= 1 &&
           s->heads % s->key_heads == 0 && s->inner >= 1 && s->inner <= 4 * WIDTH_MAX &&
           s->head_width >= 1 && s->head_width <= WIDTH_MAX;
}

bool orch_net_sizes_read(struct orch_net_builder *b, const char *argument, const char *form,
                         int64_t *fourth, int64_t *fifth, struct orch_net_sizes *s)
{
    g_auto(GStrv) words = g_strsplit(argument ? argument : "", ",", 6);
    int64_t *values[] = {&s->layers, &s->width, &s->heads, fourth, fifth, NULL};
    bool ok = g_strv_length(words) >= 3;
    for (int i = 0; ok && words[i]; i++)
        ok = i < 5 && values[i] && orch_int_parse(words[i], values[i]);
    s->key_heads = s->key_heads ? s->key_heads : s->heads;
    s->inner = s->inner ? s->inner : 4 * s->width;
    s->patch = s->patch ? s->patch : 16;
    s->head_width = s->head_width ? s->head_width : s->heads > 0 ? s->width / s->heads : 1;
    if (ok && is_possible(s))
        return true;
    if (!argument)
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, form, "network '%s' needs its sizes",
                       b->net->name);
    else
        orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                       "the width is a multiple of the heads, and these of the heads of keys",
                       "network '%s': '%s' is not %s", b->net->name, argument, form);
    return false;
}
