/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/zoo_sizes.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

#define LAYERS_MAX 512
#define WIDTH_MAX 65536
#define WORDS_MAX 24

/* What may follow the numbers: a word, or a word with a number. */
static bool read_word(const char *word, struct orch_net_sizes *s)
{
    const struct {
        const char *word;
        bool *flag;
        int64_t *number;
    } words[] = {{"tied", &s->is_tied, NULL},
                 {"bias", &s->is_biased, NULL},
                 {"bare", &s->is_bare, NULL},
                 {"head=", NULL, &s->head_width},
                 {"kinds=", NULL, &s->kinds},
                 {"pads=", NULL, &s->pads},
                 {"positions=", NULL, &s->positions},
                 {"headnorm", &s->has_head_norms, NULL},
                 {"experts=", NULL, &s->experts},
                 {"chosen=", NULL, &s->chosen},
                 {"expert=", NULL, &s->expert_inner},
                 {"shared=", NULL, &s->shared_inner},
                 {"dense=", NULL, &s->dense},
                 {"routerbias", &s->has_router_bias, NULL},
                 {"sharedgate", &s->has_shared_gate, NULL},
                 {"queryrank=", NULL, &s->query_rank},
                 {"keyrank=", NULL, &s->key_rank},
                 {"rotary=", NULL, &s->rotary},
                 {"values=", NULL, &s->value_width}};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (words[i].number && g_str_has_prefix(word, words[i].word))
            return orch_int_parse(word + strlen(words[i].word), words[i].number) &&
                   *words[i].number >= -(words[i].number == &s->kinds) &&
                   *words[i].number <= WIDTH_MAX;
        if (words[i].flag && strcmp(word, words[i].word) == 0)
            return *words[i].flag = true;
    }
    return false;
}

/* The first rule that the sizes break; NULL: none. `has_head`: the width of a head is given. */
static const char *broken_rule(const struct orch_net_sizes *s, bool has_head)
{
    const struct {
        bool is_kept;
        const char *rule;
    } rules[] = {
        {s->layers >= 1 && s->layers <= LAYERS_MAX, "LAYERS is from 1 to " G_STRINGIFY(LAYERS_MAX)},
        {s->width >= 1 && s->width <= WIDTH_MAX, "WIDTH is from 1 to " G_STRINGIFY(WIDTH_MAX)},
        {s->heads >= 1 && (has_head || s->width % s->heads == 0), "HEADS must divide WIDTH"},
        {s->head_width >= 1 && s->value_width >= 1 && s->head_width <= WIDTH_MAX,
         "a head's width is from 1 to " G_STRINGIFY(WIDTH_MAX)},
        {s->key_heads >= 1 && s->heads % s->key_heads == 0, "KEY_HEADS must divide HEADS"},
        {s->inner >= 1 && s->inner <= 4 * WIDTH_MAX, "FEED_FORWARD is from 1 to 262144"},
        {!s->experts || (s->chosen >= 1 && s->chosen <= s->experts),
         "each token has from 1 to all of the experts (chosen=N of experts=N)"},
        {!s->experts || s->dense < s->layers, "dense=N is less than LAYERS"},
        {s->experts || (!s->chosen && !s->expert_inner && !s->shared_inner && !s->dense),
         "chosen=, expert=, shared= and dense= need experts=N"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (!rules[i].is_kept)
            return rules[i].rule;
    return NULL;
}

bool orch_net_sizes_read(struct orch_net_builder *b, const char *argument, const char *form,
                         int64_t *fourth, int64_t *fifth, struct orch_net_sizes *s)
{
    g_auto(GStrv) words = g_strsplit(argument ? argument : "", ",", WORDS_MAX);
    int64_t *values[] = {&s->layers, &s->width, &s->heads, fourth, fifth, NULL};
    bool ok = g_strv_length(words) >= 3;
    int numbers = 0;
    for (int i = 0; ok && words[i]; i++) {
        bool is_number = g_ascii_isdigit(*words[i]) || *words[i] == '-';
        ok = is_number ? i == numbers && i < 5 && values[i] && orch_int_parse(words[i], values[i])
                       : i >= 3 && read_word(words[i], s);
        numbers += is_number;
    }
    s->key_heads = s->key_heads ? s->key_heads : s->heads;
    s->inner = s->inner ? s->inner : 4 * s->width;
    s->patch = s->patch ? s->patch : 16;
    bool has_head = s->head_width > 0 && (fourth == &s->key_heads || fifth == &s->head_width);
    s->head_width = s->head_width ? s->head_width : s->heads > 0 ? s->width / s->heads : 1;
    s->expert_inner = s->experts && !s->expert_inner ? s->inner : s->expert_inner;
    s->value_width = s->value_width ? s->value_width : s->head_width;
    const char *why = ok ? broken_rule(s, has_head) : "sizes are whole numbers with commas";
    if (!why)
        return true;
    if (!argument)
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, form, "network '%s' needs its sizes",
                       b->net->name);
    else
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, why, "network '%s': '%s' is not %s",
                       b->net->name, argument, form);
    return false;
}
