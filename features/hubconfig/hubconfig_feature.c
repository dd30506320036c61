/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transformers by the config.json that Hugging Face's hub keeps beside their weights: the file, or
 * the folder that it was downloaded to. */
#include "core/feature/feature.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/net/open_net.h"

#include <string.h>

#define CONFIG "config.json"
#define CONFIG_BYTES_MAX (1 << 20)
#define WORDS_MAX 6

/* A value that must be so, because the network of the zoo has no other. */
struct expected {
    const char *key;
    const char *text; /* of a string */
    int value;        /* of a boolean or a number; of a list: how many it has */
};

/* A word of the pattern with a number: `key`, times `other` where that is given. A key that begins
 * with '?' may be absent or null. */
struct pair {
    const char *word, *key, *other;
};

/* How a type's config is a network of the zoo. Sizes in the order of the zoo's pattern; a key that
 * begins with '?' may be absent, and ends the list then. */
struct type {
    const char *name; /* model_type */
    const char *family;
    const char *sizes[WORDS_MAX];
    const char *words; /* of the pattern, always */
    const char *length, *vocabulary;
    struct expected expected[4];
    const struct pair *pairs; /* ended by a NULL word; or NULL */
};

static const struct pair MIXTRAL[] = {
    {"experts=", "num_local_experts", NULL}, {"chosen=", "num_experts_per_tok", NULL}, {0}};
static const struct pair QWEN_MOE[] = {{"experts=", "num_experts", NULL},
                                       {"chosen=", "num_experts_per_tok", NULL},
                                       {"expert=", "moe_intermediate_size", NULL},
                                       {0}};
static const struct pair QWEN2_MOE[] = {{"experts=", "num_experts", NULL},
                                        {"chosen=", "num_experts_per_tok", NULL},
                                        {"expert=", "moe_intermediate_size", NULL},
                                        {"shared=", "shared_expert_intermediate_size", NULL},
                                        {0}};
static const struct pair DEEPSEEK[] = {{"experts=", "n_routed_experts", NULL},
                                       {"chosen=", "num_experts_per_tok", NULL},
                                       {"expert=", "moe_intermediate_size", NULL},
                                       {"shared=", "?n_shared_experts", "moe_intermediate_size"},
                                       {"dense=", "?first_k_dense_replace", NULL},
                                       {"queryrank=", "?q_lora_rank", NULL},
                                       {"keyrank=", "kv_lora_rank", NULL},
                                       {"rotary=", "qk_rope_head_dim", NULL},
                                       {"head=", "qk_nope_head_dim", NULL},
                                       {"values=", "v_head_dim", NULL},
                                       {0}};

/* clang-format off */
static const struct type TYPES[] = {
    {"bert", "bert", {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size"}, NULL,
     "max_position_embeddings", "vocab_size", {{"hidden_act", "gelu", 0}}, NULL},
    {"roberta", "bert", {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size"},
     "kinds=1,pads=2", "max_position_embeddings", "vocab_size", {{NULL}}, NULL},
    {"xlm-roberta", "bert", {"num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size"},
     "kinds=1,pads=2", "max_position_embeddings", "vocab_size", {{NULL}}, NULL},
    {"distilbert", "bert", {"n_layers", "dim", "n_heads", "hidden_dim"}, "kinds=-1,bare",
     "max_position_embeddings", "vocab_size", {{NULL}}, NULL},
    {"gpt2", "gpt", {"n_layer", "n_embd", "n_head", "?n_inner"}, NULL, "n_positions", "vocab_size", {{NULL}}, NULL},
    {"opt", "opt", {"num_hidden_layers", "hidden_size", "num_attention_heads", "ffn_dim"}, NULL,
     "max_position_embeddings", "vocab_size", {{"do_layer_norm_before", NULL, 1}}, NULL},
    {"mpt", "mpt", {"n_layers", "d_model", "n_heads"}, NULL, "max_seq_len", "vocab_size", {{NULL}}, NULL},
    {"llama", "llama", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     NULL, "max_position_embeddings", "vocab_size", {{"attention_bias", NULL, 0}, {"mlp_bias", NULL, 0}}, NULL},
    {"mistral", "llama", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     NULL, "max_position_embeddings", "vocab_size", {{NULL}}, NULL},
    {"qwen2", "llama", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     "bias", "max_position_embeddings", "vocab_size", {{NULL}}, NULL},
    {"qwen3", "llama", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     "headnorm", "max_position_embeddings", "vocab_size", {{"attention_bias", NULL, 0}}, NULL},
    {"mixtral", "moe", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     NULL, "max_position_embeddings", "vocab_size", {{NULL}}, MIXTRAL},
    {"qwen2_moe", "moe", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     "bias,sharedgate", "max_position_embeddings", "vocab_size",
     {{"decoder_sparse_step", NULL, 1}, {"mlp_only_layers", NULL, 0}}, QWEN2_MOE},
    {"qwen3_moe", "moe", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     "headnorm", "max_position_embeddings", "vocab_size",
     {{"attention_bias", NULL, 0}, {"decoder_sparse_step", NULL, 1}, {"mlp_only_layers", NULL, 0}}, QWEN_MOE},
    {"deepseek_v2", "moe", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     NULL, "max_position_embeddings", "vocab_size", {{"attention_bias", NULL, 0}, {"moe_layer_freq", NULL, 1}}, DEEPSEEK},
    {"deepseek_v3", "moe", {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size"},
     "routerbias", "max_position_embeddings", "vocab_size", {{"attention_bias", NULL, 0}, {"moe_layer_freq", NULL, 1}}, DEEPSEEK},
    {"t5", "t5", {"num_layers", "d_model", "num_heads", "d_ff", "d_kv"}, NULL, "n_positions", "vocab_size",
     {{"feed_forward_proj", "relu", 0}, {"tie_word_embeddings", NULL, 1}}, NULL},
    {"vit", "vit", {"num_hidden_layers", "hidden_size", "num_attention_heads", "patch_size", "intermediate_size"}, NULL,
     "image_size", NULL, {{NULL}}, NULL},
};
/* clang-format on */

static bool refuse(const char *path, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "export the model itself: orch.export_ops(model, inputs, \"model.jsonl\") in "
                   "Python",
                   "'%s': %s", path, what);
    return false;
}

static const struct type *type_of(const json_t *config, const char *path, GError **error)
{
    const char *name = orch_json_text(config, "model_type", "");
    g_autoptr(GString) known = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(TYPES); i++) {
        if (strcmp(TYPES[i].name, name) == 0)
            return &TYPES[i];
        g_string_append_printf(known, "%s%s", i ? ", " : "", TYPES[i].name);
    }
    g_autofree char *what = g_strdup_printf("model_type '%s' is not one of %s", name, known->str);
    refuse(path, what, error);
    return NULL;
}

/* Whether the config says what the zoo's network has. An absent key has the usual value. */
static bool is_expected(const struct type *type, const json_t *config, const char *path,
                        GError **error)
{
    for (const struct expected *e = type->expected; e->key; e++) {
        const json_t *value = json_object_get(config, e->key);
        bool is_text = e->text && json_is_string(value);
        bool fits =
            !value || json_is_null(value) ||
            (is_text && strcmp(json_string_value(value), e->text) == 0) ||
            (!e->text && json_is_boolean(value) && json_is_true(value) == (e->value == 1)) ||
            (!e->text && json_is_integer(value) && json_integer_value(value) == e->value) ||
            (!e->text && json_is_array(value) && json_array_size(value) == (size_t)e->value);
        if (fits)
            continue;
        g_autofree char *shown = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        g_autofree char *what =
            g_strdup_printf("%s %s is not supported for '%s'", e->key, shown, type->name);
        return refuse(path, what, error);
    }
    return true;
}

/* An integer, or one of a list ("image_size": [224, 224]). */
static int64_t int_at(const json_t *config, const char *key, size_t at, int64_t otherwise)
{
    const json_t *list = json_object_get(config, key);
    return json_is_array(list) ? json_integer_value(json_array_get(list, at))
                               : orch_json_int(config, key, otherwise);
}

static bool add_sizes(const struct type *type, const json_t *config, GString *name,
                      const char *path, GError **error)
{
    for (int i = 0; i < WORDS_MAX && type->sizes[i]; i++) {
        const char *key = type->sizes[i] + (*type->sizes[i] == '?');
        int64_t value = int_at(config, key, 0, 0);
        value = int_at(config, key, 1, value) == value ? value : 0;
        if (strcmp(key, "num_key_value_heads") == 0 && !value)
            value = orch_json_int(config, "num_attention_heads", 0);
        if (!value && *type->sizes[i] == '?')
            return true;
        if (value < 1) {
            g_autofree char *what = g_strdup_printf("'%s' is missing, or is not a number", key);
            return refuse(path, what, error);
        }
        g_string_append_printf(name, "%c%" G_GINT64_FORMAT, i ? ',' : ':', value);
    }
    return true;
}

static bool add_pairs(const struct pair *pair, const json_t *config, GString *name,
                      const char *path, GError **error)
{
    for (; pair && pair->word; pair++) {
        bool is_optional = *pair->key == '?';
        int64_t value = orch_json_int(config, pair->key + is_optional, 0);
        int64_t other = pair->other ? orch_json_int(config, pair->other, 0) : 1;
        if (value < 1 && is_optional)
            continue;
        if (value < 1 || value > 1 << 24 || other < 1 || other > 1 << 24) {
            g_autofree char *what =
                g_strdup_printf("'%s' is missing, or is not a number", pair->key);
            return refuse(path, what, error);
        }
        g_string_append_printf(name, ",%s%" G_GINT64_FORMAT, pair->word, value * other);
    }
    return true;
}

/* Tokens that the model was made for; 0: the config does not say it, or it takes images. */
static int64_t positions_of(const struct type *type, const json_t *config)
{
    int64_t rows = type->vocabulary ? orch_json_int(config, type->length, 0) : 0;
    return MAX(0, rows - (type->words && strstr(type->words, "pads=2") ? 2 : 0));
}

/* Adds the size of a learned table of positions where it is not the family's usual one. */
static void add_positions(const struct type *type, const json_t *config, GString *name)
{
    static const char *const learned[] = {"bert", "gpt", "opt", NULL};
    int64_t own = positions_of(type, config);
    g_autofree char *begin = g_strconcat(type->family, ":", NULL);
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++)
        if (g_strv_contains(learned, type->family) && g_str_has_prefix(f->pattern, begin) && own &&
            own != f->positions)
            g_string_append_printf(name, ",positions=%" G_GINT64_FORMAT, own);
}

/* "llama:24,896,14,2,4864,tied,bias". NULL with an error. Caller frees. */
static char *name_of(const struct type *type, const json_t *config, const char *path,
                     GError **error)
{
    const char *architecture =
        json_string_value(json_array_get(json_object_get(config, "architectures"), 0));
    bool is_masked = architecture && strcmp(type->family, "bert") == 0 &&
                     g_str_has_suffix(architecture, "ForMaskedLM");
    g_autoptr(GString) name = g_string_new(is_masked ? "bert-mlm" : type->family);
    if (!is_expected(type, config, path, error) || !add_sizes(type, config, name, path, error) ||
        !add_pairs(type->pairs, config, name, path, error))
        return NULL;
    if (type->words)
        g_string_append_printf(name, ",%s", type->words);
    add_positions(type, config, name);
    bool is_llama = strcmp(type->family, "llama") == 0 || type->pairs;
    if (is_llama && json_is_true(json_object_get(config, "tie_word_embeddings")))
        g_string_append(name, ",tied");
    int64_t head = orch_json_int(config, "head_dim", 0);
    if (is_llama && head > 0 && !strstr(name->str, ",head="))
        g_string_append_printf(name, ",head=%" G_GINT64_FORMAT, head);
    return g_strdup(name->str);
}

/* Bits of a quantized model's weights; 0: they are not quantized. */
static int held_bits(const json_t *config)
{
    const json_t *how = json_object_get(config, "quantization_config");
    if (!json_is_object(how))
        return 0;
    const json_t *group = json_object_get(json_object_get(how, "config_groups"), "group_0");
    const char *method = orch_json_text(how, "quant_method", "");
    int64_t bits = orch_json_int(how, "bits", 0);
    bits = bits ? bits : orch_json_int(json_object_get(group, "weights"), "num_bits", 0);
    bool is_4 = json_is_true(json_object_get(how, "load_in_4bit")) || strstr(method, "fp4");
    bits = bits ? bits : is_4 ? 4 : 8;
    return bits > 4 ? 8 : 4;
}

/* The input of the question; else the side of an image, or the usual length of a sequence. */
static void set_input(const struct type *type, const json_t *config, struct orch_net_shape input,
                      struct orch_net_options *o)
{
    const bool is_image = !type->vocabulary;
    int64_t tokens = positions_of(type, config);
    o->channels = is_image ? orch_json_int(config, "num_channels", 3) : 1;
    o->height = is_image ? int_at(config, type->length, 0, 224)
                         : MIN(tokens ? tokens : 512, ORCH_NET_TOKENS_USUAL);
    o->width = is_image ? int_at(config, type->length, 1, 224) : 1;
    if (input.h > 0) {
        o->channels = input.c;
        o->height = input.h;
        o->width = input.w;
    }
}

/* Says that attention within a window is counted as attention to all tokens. */
static void note_window(const json_t *config, int64_t tokens, GPtrArray *notes)
{
    int64_t window = orch_json_int(config, "sliding_window", 0);
    if (notes && window > 0 && window < tokens &&
        !json_is_false(json_object_get(config, "use_sliding_window")))
        g_ptr_array_add(notes, g_strdup_printf("attention is counted among all %d tokens, not in "
                                               "the config's sliding_window of %d",
                                               (int)tokens, (int)window));
}

static struct orch_net *make(const char *path, const json_t *config, struct orch_net_shape input,
                             GPtrArray *notes, GError **error)
{
    const struct type *type = type_of(config, path, error);
    g_autofree char *name = type ? name_of(type, config, path, error) : NULL;
    if (!name)
        return NULL;
    size_t labels = json_object_size(json_object_get(config, "id2label"));
    struct orch_net_options o = {.name = name};
    o.classes = type->vocabulary ? orch_json_int(config, type->vocabulary, 0)
                                 : (int64_t)(labels ? labels : 1000);
    if (o.classes < 1) {
        refuse(path, "'vocab_size' is missing, or is not a number", error);
        return NULL;
    }
    set_input(type, config, input, &o);
    struct orch_net *net = orch_net_make(&o, error);
    if (!net)
        return NULL;
    net->positions = positions_of(type, config);
    net->held_bits = held_bits(config);
    note_window(config, net->input.w == 1 ? net->input.h : 0, notes);
    return net;
}

static struct orch_net *read_file(const struct orch_net_request *request,
                                  struct orch_net_shape input, GPtrArray *notes, GError **error)
{
    bool is_folder = g_file_test(request->name, G_FILE_TEST_IS_DIR);
    g_autofree char *path =
        is_folder ? g_build_filename(request->name, CONFIG, NULL) : g_strdup(request->name);
    g_autofree char *text = NULL;
    if (!orch_file_read(path, CONFIG_BYTES_MAX, &text, NULL, error))
        return NULL;
    json_error_t where;
    json_t *config = json_loads(text, 0, &where);
    struct orch_net *net = NULL;
    if (json_is_object(config)) {
        net = make(path, config, input, notes, error);
    } else {
        g_autofree char *what = g_strdup_printf("line %d is not JSON: %s", where.line, where.text);
        refuse(path, config ? "the file is not a JSON object" : what, error);
    }
    json_decref(config);
    return net;
}

static const struct orch_net_reader READER = {.ending = CONFIG, .read = read_file};
static const struct orch_net_reader *const READERS[] = {&READER, NULL};

const struct orch_feature ORCH_FEATURE_HUBCONFIG = {.net_readers = READERS};
