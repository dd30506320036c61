/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The structure and the cost of networks, without running them: tables from lib/net. */
#include "core/cli/cli.h"
#include "core/cli/nets.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- ls -------------------------------------------------------------------------------------- */

/* Builds the network of a row of the zoo; NULL for a family that requires an argument. */
static struct orch_net *own_network(const struct orch_net_family *family)
{
    g_autofree char *name = g_strndup(family->pattern, strcspn(family->pattern, ":"));
    return orch_cli_net(&(struct orch_net_request){.name = name}, NULL);
}

static void add_count(struct orch_table *table, const struct orch_net *net, int64_t count)
{
    g_autofree char *text = net ? orch_net_count_format(count) : g_strdup("-");
    orch_table_add(table, text, net ? json_integer(count) : json_null());
}

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    (void)error;
    static const char *const headers[] = {"name",    ">input",  ">classes",
                                          ">layers", ">params", ">multiply-adds",
                                          "trains",  "about",   NULL};
    struct orch_table *table = orch_table_new(headers);
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        struct orch_net *net = own_network(f);
        g_autofree char *input =
            g_strdup_printf("%dx%dx%d", (int)f->input.c, (int)f->input.h, (int)f->input.w);
        orch_table_add(table, f->pattern, NULL);
        orch_table_add(table, input, NULL);
        orch_table_add_int(table, f->classes);
        add_count(table, net, net ? orch_net_depth(net) : 0);
        add_count(table, net, net ? orch_net_params(net) : 0);
        add_count(table, net, net ? orch_net_macs(net) : 0);
        orch_table_add(table, f->is_classifier ? "yes" : "no", json_boolean(f->is_classifier));
        orch_table_add(table, f->about, NULL);
        orch_net_free(net);
    }
    orch_table_print(cli, table, "networks");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_NET_LS = {
    .name = "net ls",
    .group = "Networks and hardware",
    .summary = "list the known networks",
    .usage = "",
    .max_args = 0,
    .run = run_ls,
};

/* ---- show ------------------------------------------------------------------------------------ */

struct show_options {
    const char *input, *precision, *optimizer, *format, *table_net, *batch, *classes;
    int per_mac;
    bool work, training, forward_only, brief;
};

static const struct orch_option SHOW_OPTIONS[] = {
    {"input", 'i', "CxHxW", ORCH_OPT_TEXT, offsetof(struct show_options, input),
     "size of one input (default: the network's own)"},
    {"classes", 0, "N", ORCH_OPT_TEXT, offsetof(struct show_options, classes),
     "outputs of the classifier (default: the network's own)"},
    {"table-net", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct show_options, table_net),
     "use this network of a layer table with several"},
    {"batch", 'b', "N", ORCH_OPT_TEXT, offsetof(struct show_options, batch),
     "images per batch, for activations, operations and memory (default 1)"},
    {"mac", 0, "1|2", ORCH_OPT_INT, offsetof(struct show_options, per_mac),
     "operations per multiply-add (default 2)"},
    {"work", 0, NULL, ORCH_OPT_FLAG, offsetof(struct show_options, work),
     "show how each number is computed"},
    {"brief", 0, NULL, ORCH_OPT_FLAG, offsetof(struct show_options, brief),
     "only convolutions, pools and linear layers"},
    {"training", 0, NULL, ORCH_OPT_FLAG, offsetof(struct show_options, training),
     "memory of training: weights, gradients, optimizer, activations (the default)"},
    {"forward-only", 0, NULL, ORCH_OPT_FLAG, offsetof(struct show_options, forward_only),
     "memory of inference: weights and the widest layer"},
    {"optimizer", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct show_options, optimizer),
     "sgd, momentum (default), adam: 0, 1, 2 values per weight"},
    {"precision", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct show_options, precision),
     "fp32 (default), fp16, bf16: of activations and moved values"},
    {"format", 'f', "NAME", ORCH_OPT_TEXT, offsetof(struct show_options, format),
     "text, tsv, csv, markdown, latex"},
    {0}};

/* The settings that follow from the options. */
struct showing {
    const struct show_options *o;
    struct orch_net *net;
    struct orch_net_cost *costs;
    int64_t batch;
    int per_mac, element_bytes, states;
};

static int word_index(const char *word, const char *const *words, const char *option,
                      GError **error)
{
    for (int i = 0; words[i]; i++)
        if (!word || orch_name_is_same(words[i], word))
            return i;
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)words);
    orch_error_set(error, ORCH_ERROR_USAGE, known, "option '%s': unknown word '%s'", option, word);
    return -1;
}

static bool settle(struct showing *s, GError **error)
{
    static const char *const precisions[] = {"fp32", "fp16", "bf16", NULL};
    static const char *const optimizers[] = {"momentum", "sgd", "adam", NULL};
    static const int states[] = {1, 0, 2};
    int precision = word_index(s->o->precision, precisions, "--precision", error);
    int optimizer =
        precision < 0 ? -1 : word_index(s->o->optimizer, optimizers, "--optimizer", error);
    if (optimizer < 0 || !orch_format_check(s->o->format, error))
        return false;
    s->element_bytes = precision ? 2 : 4;
    s->states = states[optimizer];
    return true;
}

static bool numbers_fit(const struct showing *s, GError **error)
{
    if (s->per_mac != 1 && s->per_mac != 2) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "1 (Lu et al. 2017) or 2 (PALEO, and most hardware tables)",
                       "option '--mac': a multiply-add is 1 or 2 operations, not %d", s->per_mac);
        return false;
    }
    return true;
}

static bool is_shown(const struct showing *s, const struct orch_net_node *node)
{
    enum orch_net_kind kind = orch_net_kind_of(node->op);
    bool works =
        orch_net_operations(&s->costs[node->id], 1) > 0; /* not for a pool to its own size */
    return !s->o->brief || node->op == ORCH_NET_INPUT || (kind <= ORCH_NET_KIND_POOL && works) ||
           kind == ORCH_NET_KIND_ATTENTION;
}

static void add_number(struct orch_table *table, int64_t count)
{
    g_autofree char *text = orch_net_count_format(count);
    orch_table_add(table, text, json_integer(count));
}

static void add_bytes(struct orch_table *table, int64_t bytes)
{
    g_autofree char *text = orch_bytes_format(bytes);
    orch_table_add(table, text, json_integer(bytes));
}

static void add_shape(struct orch_table *table, const struct orch_net_shape *shape)
{
    g_autofree char *text =
        g_strdup_printf("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, shape->c,
                        shape->h, shape->w);
    orch_table_add(table, text, NULL);
}

/* Formats an operation: "conv2d 3x3/2". */
static char *type_text(const struct orch_net_node *node)
{
    GString *text = g_string_new(orch_net_op_name(node->op));
    if (node->kernel_w)
        g_string_append_printf(text, " %dx%d", node->kernel_h, node->kernel_w);
    if (node->kernel_w && (node->stride_h > 1 || node->stride_w > 1))
        g_string_append_printf(text, "/%d", node->stride_h);
    if (node->groups > 1)
        g_string_append_printf(text, " in %d groups", node->groups);
    if (node->is_auxiliary)
        g_string_append(text, " (auxiliary)");
    return g_string_free(text, FALSE);
}

static void add_name_and_type(struct orch_table *table, const struct orch_net_node *node)
{
    g_autofree char *type = type_text(node);
    orch_table_add(table, node->name, NULL);
    orch_table_add(table, type, NULL);
}

static void add_costs(const struct showing *s, struct orch_table *table,
                      const struct orch_net_cost *cost)
{
    add_number(table, cost->activations * s->batch);
    add_bytes(table, cost->activations * s->batch * s->element_bytes);
    add_number(table, cost->params);
    add_number(table, cost->weights);
    add_number(table, cost->macs * s->batch);
    add_number(table, orch_net_operations(cost, s->per_mac) * s->batch);
    int64_t moved = cost->read - cost->params; /* weights are read once per batch */
    add_bytes(table, (MAX(moved, 0) * s->batch + MIN(cost->params, cost->read)) * s->element_bytes);
    add_bytes(table, cost->written * s->batch * s->element_bytes);
}

static struct orch_table *cost_table(const struct showing *s)
{
    static const char *const headers[] = {
        "layer",          "type", ">output", ">activations", ">memory", ">params", ">weights",
        ">multiply-adds", ">ops", ">read",   ">written",     ">field",  NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < s->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(s->net, (int)i);
        const struct orch_net_cost *cost = &s->costs[i];
        if (!is_shown(s, node))
            continue;
        add_name_and_type(table, node);
        add_shape(table, &node->out);
        add_costs(s, table, cost);
        g_autofree char *field =
            cost->field_h == cost->field_w
                ? g_strdup_printf("%d", (int)cost->field_h)
                : g_strdup_printf("%dx%d", (int)cost->field_h, (int)cost->field_w);
        orch_table_add(table, field, NULL);
    }
    return table;
}

/* Formats how a window's output height is computed: "(227-11+2*0)/4+1 = 55". */
static char *side_work(const struct orch_net *net, const struct orch_net_node *node)
{
    if (!node->kernel_h || !node->stride_h || !node->input_count)
        return g_strdup_printf("%d", (int)node->out.h);
    const struct orch_net_node *in = orch_net_node(net, node->inputs[0]);
    int kernel = MAX(node->dilation, 1) * (node->kernel_h - 1) + 1;
    int room = (int)in->out.h - kernel + 2 * node->pad_h;
    return g_strdup_printf("(%d-%d+2*%d)/%d%s+1 = %d", (int)in->out.h, kernel, node->pad_h,
                           node->stride_h,
                           room % node->stride_h == 0 ? ""
                           : node->ceil_mode          ? ", rounded up,"
                                                      : ", rounded down,",
                           (int)node->out.h);
}

static struct orch_table *work_table(const struct showing *s)
{
    static const char *const headers[] = {
        "layer",   "type",    ">side",          ">activations", ">params, no bias",
        ">biases", ">params", ">multiply-adds", ">operations",  NULL};
    struct orch_table *table = orch_table_new(headers);
    int64_t total_activations = 0, total_operations = 0;
    for (guint i = 0; i < s->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(s->net, (int)i);
        if (!is_shown(s, node))
            continue;
        total_activations += s->costs[i].activations;
        g_autofree char *activations = orch_net_activations_work(node);
        g_autofree char *params = orch_net_params_work(s->net, node);
        g_autofree char *macs = orch_net_macs_work(s->net, node);
        g_autofree char *side = side_work(s->net, node);
        int64_t operations = orch_net_operations(&s->costs[i], s->per_mac);
        total_operations += operations;
        add_name_and_type(table, node);
        orch_table_add(table, side, NULL);
        orch_table_add(table, activations, NULL);
        orch_table_add(table, params, NULL);
        add_number(table, s->costs[i].params - s->costs[i].weights);
        add_number(table, s->costs[i].params);
        orch_table_add(table, macs, NULL);
        add_number(table, operations);
    }
    struct orch_net_cost sum = orch_net_cost_sum(s->net, s->costs);
    orch_table_add(table, s->o->brief ? "TOTAL of these" : "TOTAL", NULL);
    orch_table_add(table, "", NULL);
    orch_table_add(table, "", NULL);
    add_number(table, total_activations);
    add_number(table, sum.weights);
    add_number(table, sum.params - sum.weights);
    add_number(table, sum.params);
    add_number(table, sum.macs);
    add_number(table, total_operations);
    return table;
}

static json_t *shares_json(const struct showing *s, int64_t *out_sums)
{
    json_t *shares = json_object();
    int64_t total = 0;
    for (guint i = 0; i < s->net->nodes->len; i++) {
        enum orch_net_kind kind = orch_net_kind_of(orch_net_node(s->net, (int)i)->op);
        int64_t operations = orch_net_operations(&s->costs[i], s->per_mac);
        out_sums[kind] += operations;
        total += operations;
    }
    for (int kind = 0; kind < ORCH_NET_KIND_COUNT; kind++)
        if (out_sums[kind])
            json_object_set_new(
                shares, orch_net_kind_name((enum orch_net_kind)kind),
                json_pack("{s:I s:o}", "ops", (json_int_t)(out_sums[kind] * s->batch), "share",
                          orch_json_finite((double)out_sums[kind] / (double)MAX(1, total))));
    return shares;
}

static int64_t macs_of(const struct showing *s, enum orch_net_kind kind)
{
    int64_t sum = 0;
    for (guint i = 0; i < s->net->nodes->len; i++)
        if (orch_net_kind_of(orch_net_node(s->net, (int)i)->op) == kind)
            sum += s->costs[i].macs;
    return sum;
}

static struct orch_net_memory memory_of(const struct showing *s)
{
    return orch_net_memory(s->net, s->costs, s->batch, s->element_bytes, s->states,
                           !s->o->forward_only);
}

static void print_line(const char *name, const char *value)
{
    printf("%-16s %s\n", name, value);
}

static void print_count(const char *name, int64_t count, const char *behind)
{
    g_autofree char *number = orch_net_count_format(count);
    printf("%-16s %s%s\n", name, number, behind);
}

static void print_memory(const struct showing *s)
{
    struct orch_net_memory m = memory_of(s);
    g_autofree char *total = orch_bytes_format((int64_t)m.total);
    g_autofree char *weights = orch_bytes_format((int64_t)m.weights);
    g_autofree char *gradients = orch_bytes_format((int64_t)m.gradients);
    g_autofree char *optimizer = orch_bytes_format((int64_t)m.optimizer);
    g_autofree char *activations = orch_bytes_format((int64_t)m.activations);
    if (s->o->forward_only)
        printf("%-16s %s: weights %s, widest layer %s\n", "memory, forward", total, weights,
               activations);
    else
        printf("%-16s %s: weights %s, gradients %s, optimizer %s, activations %s "
               "(what the backward pass needs; ReLU works in place)\n",
               "memory, training", total, weights, gradients, optimizer, activations);
}

static bool has_norms(const struct orch_net *net)
{
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_kind_of(orch_net_node(net, (int)i)->op) == ORCH_NET_KIND_NORM)
            return true;
    return false;
}

static void print_totals(const struct showing *s)
{
    struct orch_net_cost sum = orch_net_cost_sum(s->net, s->costs);
    int64_t sums[ORCH_NET_KIND_COUNT] = {0};
    json_decref(shares_json(s, sums));
    int64_t operations = orch_net_operations(&sum, s->per_mac);
    printf("\n");
    g_autofree char *batch = g_strdup_printf(" (batch %" G_GINT64_FORMAT ")", s->batch);
    print_count("params", sum.params, "");
    print_count("  without biases", sum.weights,
                has_norms(s->net) ? " (scales of norms are among them)" : "");
    g_autofree char *outputs =
        g_strdup_printf("%s: every layer's output, activations among them", batch);
    print_count("activations", sum.activations * s->batch, outputs);
    print_count("multiply-adds", sum.macs * s->batch, batch);
    g_autofree char *said = g_strdup_printf(
        "%s; a multiply-add is %d (--mac %d: the other way), biases, norms, activations and pools "
        "are in it",
        batch, s->per_mac, 3 - s->per_mac);
    print_count("operations", operations * s->batch, said);
    GString *shares = g_string_new(NULL);
    for (int kind = 0; kind < ORCH_NET_KIND_COUNT; kind++)
        if (sums[kind])
            g_string_append_printf(shares, "%s%s %.2f %%", shares->len ? ", " : "",
                                   orch_net_kind_name((enum orch_net_kind)kind),
                                   100.0 * (double)sums[kind] / (double)MAX(1, operations));
    print_line("  share of them", shares->str);
    g_string_free(shares, TRUE);
    int64_t conv = macs_of(s, ORCH_NET_KIND_CONV);
    if (sum.macs) {
        g_autofree char *number = orch_net_count_format(conv);
        g_autofree char *all = orch_net_count_format(sum.macs);
        g_autofree char *text = g_strdup_printf("%s of %s multiply-adds, %.2f %%", number, all,
                                                100.0 * (double)conv / (double)sum.macs);
        print_line("  convolutions", text);
    }
    print_memory(s);
}

static void print_show_json(const struct showing *s)
{
    struct orch_net_cost sum = orch_net_cost_sum(s->net, s->costs);
    struct orch_net_memory m = memory_of(s);
    int64_t sums[ORCH_NET_KIND_COUNT] = {0};
    json_t *shares = shares_json(s, sums);
    const struct orch_net *net = s->net;
    json_t *object = json_pack(
        "{s:s s:[I,I,I] s:I s:I s:I s:I s:I s:I s:I s:i s:I s:o}", "network", net->name, "input",
        (json_int_t)net->input.c, (json_int_t)net->input.h, (json_int_t)net->input.w, "classes",
        (json_int_t)net->classes, "batch", (json_int_t)s->batch, "params", (json_int_t)sum.params,
        "weights", (json_int_t)sum.weights, "activations", (json_int_t)(sum.activations * s->batch),
        "multiply_adds", (json_int_t)(sum.macs * s->batch), "conv_multiply_adds",
        (json_int_t)(macs_of(s, ORCH_NET_KIND_CONV) * s->batch), "ops_per_multiply_add", s->per_mac,
        "ops", (json_int_t)(orch_net_operations(&sum, s->per_mac) * s->batch), "shares", shares);
    json_object_set_new(object, s->o->forward_only ? "memory_forward" : "memory_training",
                        json_pack("{s:o s:o s:o s:o s:o}", "weights", orch_json_finite(m.weights),
                                  "gradients", orch_json_finite(m.gradients), "optimizer",
                                  orch_json_finite(m.optimizer), "activations",
                                  orch_json_finite(m.activations), "total",
                                  orch_json_finite(m.total)));
    json_object_set_new(object, "layers",
                        orch_table_to_json(s->o->work ? work_table(s) : cost_table(s)));
    orch_cli_print_json(object);
}

static int run_show(struct orch_cli *cli, const void *options, GError **error)
{
    const struct show_options *o = options;
    struct showing s = {.o = o, .batch = 1, .per_mac = o->per_mac ? o->per_mac : 2};
    int64_t classes = 0;
    if (!settle(&s, error) || !numbers_fit(&s, error) ||
        !orch_cli_count(o->batch, "--batch", 1 << 24, &s.batch, error) ||
        !orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return -1;
    if (cli->json && o->format) {
        orch_error_set(error, ORCH_ERROR_USAGE, "one of them",
                       "--json and --format both say how to print");
        return -1;
    }
    s.net = orch_cli_net(
        &(struct orch_net_request){cli->args[0], o->input, (int)classes, o->table_net}, error);
    if (!s.net)
        return -1;
    s.costs = orch_net_costs(s.net);
    if (cli->json) {
        print_show_json(&s);
    } else {
        orch_table_print_as(cli, o->work ? work_table(&s) : cost_table(&s), "layers", o->format);
        if (!o->format || strcmp(o->format, "text") == 0)
            print_totals(&s);
    }
    g_free(s.costs);
    orch_net_free(s.net);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_NET_SHOW = {
    .name = "net show",
    .group = "Networks and hardware",
    .summary = "show a network's layers: shapes, parameters, operations, memory",
    .usage = "NET",
    .min_args = 1,
    .max_args = 1,
    .options = SHOW_OPTIONS,
    .option_bytes = sizeof(struct show_options),
    .about =
        "Prints one row per layer: its output (C x H x W), activations (number, and memory), "
        "parameters with and without biases, multiply-adds, operations, bytes read and "
        "written, and the side of the input that one output sees. Then the totals, the share "
        "of each kind of layer, and the memory that training takes.\n"
        "\n"
        "A multiply-add is two operations, or one with --mac 1 (Lu et al. 2017): tables that "
        "count differently are a factor of two apart. --work shows how each number is computed.",
    .examples = "  orch net show vgg19 --work --brief     # the table of homework 3\n"
                "  orch net show resnet50 --batch 64 --optimizer adam\n"
                "  orch net show inception-reduced --input 256x32x32\n"
                "  orch net show resnet50 --format latex > table.tex",
    .run = run_show,
};

/* ---- compare --------------------------------------------------------------------------------- */

struct compare_options {
    const char *input, *format;
    int classes, per_mac;
};

static const struct orch_option COMPARE_OPTIONS[] = {
    {"input", 'i', "CxHxW", ORCH_OPT_TEXT, offsetof(struct compare_options, input),
     "the same input for both (default: each its own)"},
    {"classes", 0, "N", ORCH_OPT_INT, offsetof(struct compare_options, classes),
     "the same number of classes for both"},
    {"mac", 0, "1|2", ORCH_OPT_INT, offsetof(struct compare_options, per_mac),
     "operations per multiply-add (default 2)"},
    {"format", 'f', "NAME", ORCH_OPT_TEXT, offsetof(struct compare_options, format),
     "text, tsv, csv, markdown, latex"},
    {0}};

static void add_ratio(struct orch_table *table, const char *what, double a, double b, bool bytes)
{
    g_autofree char *x = bytes ? orch_bytes_format((int64_t)a) : orch_net_count_format((int64_t)a);
    g_autofree char *y = bytes ? orch_bytes_format((int64_t)b) : orch_net_count_format((int64_t)b);
    g_autofree char *ratio = b != 0 ? g_strdup_printf("%.3f", a / b) : g_strdup("-");
    orch_table_add(table, what, NULL);
    orch_table_add(table, x, orch_json_finite(a));
    orch_table_add(table, y, orch_json_finite(b));
    orch_table_add(table, ratio, b != 0 ? orch_json_finite(a / b) : json_null());
}

static int run_compare(struct orch_cli *cli, const void *options, GError **error)
{
    const struct compare_options *o = options;
    struct show_options as_shown = {.per_mac = o->per_mac};
    struct showing s = {.o = &as_shown, .batch = 1, .per_mac = o->per_mac ? o->per_mac : 2};
    if (!numbers_fit(&s, error) || !orch_format_check(o->format, error))
        return -1;
    struct orch_net *nets[2] = {NULL, NULL};
    struct orch_net_cost sums[2];
    double memory[2], outputs[2];
    for (int i = 0; i < 2; i++) {
        nets[i] = orch_cli_net(&(struct orch_net_request){cli->args[i], o->input, o->classes, NULL},
                               error);
        if (!nets[i]) {
            orch_net_free(nets[0]);
            return -1;
        }
        g_autofree struct orch_net_cost *costs = orch_net_costs(nets[i]);
        sums[i] = orch_net_cost_sum(nets[i], costs);
        memory[i] = orch_net_memory(nets[i], costs, 1, 4, 1, true).total;
        outputs[i] = (double)costs[nets[i]->nodes->len - 1].activations;
    }
    g_autofree char *first = g_strconcat(">", nets[0]->name, NULL);
    g_autofree char *second = g_strconcat(">", nets[1]->name, NULL);
    const char *headers[] = {"what", first, second, ">ratio", NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_add(table, "output, C x H x W", NULL);
    for (int i = 0; i < 2; i++)
        add_shape(table, &orch_net_node(nets[i], (int)nets[i]->nodes->len - 1)->out);
    orch_table_add(table, "", NULL);
    add_ratio(table, "params", (double)sums[0].params, (double)sums[1].params, false);
    add_ratio(table, "params without biases", (double)sums[0].weights, (double)sums[1].weights,
              false);
    add_ratio(table, "output values", outputs[0], outputs[1], false);
    add_ratio(table, "activations", (double)sums[0].activations, (double)sums[1].activations,
              false);
    add_ratio(table, "multiply-adds", (double)sums[0].macs, (double)sums[1].macs, false);
    add_ratio(table, "operations", (double)orch_net_operations(&sums[0], s.per_mac),
              (double)orch_net_operations(&sums[1], s.per_mac), false);
    add_ratio(table, "memory, training, batch 1", memory[0], memory[1], true);
    orch_table_print_as(cli, table, "comparison", o->format);
    orch_net_free(nets[0]);
    orch_net_free(nets[1]);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_NET_COMPARE = {
    .name = "net compare",
    .group = "Networks and hardware",
    .summary = "compare two networks side by side, with their ratio",
    .usage = "A B",
    .min_args = 2,
    .max_args = 2,
    .options = COMPARE_OPTIONS,
    .option_bytes = sizeof(struct compare_options),
    .examples = "  orch net compare inception-naive inception-reduced --input 256x32x32",
    .run = run_compare,
};

/* ---- field ----------------------------------------------------------------------------------- */

enum { STACK_MAX = 64 };

static bool read_window(const char *text, int *out_kernel, int *out_stride, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, "/", -1);
    int64_t kernel = 0, stride = 1;
    bool ok = words[0] && orch_int_parse(words[0], &kernel) && kernel >= 1 && kernel <= 1024;
    ok = ok && (!words[1] ||
                (orch_int_parse(words[1], &stride) && stride >= 1 && stride <= 1024 && !words[2]));
    if (!ok) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example 5, or 3/2 for stride 2",
                       "'%s' is not a window KERNEL[/STRIDE] of 1 to 1024", text);
        return false;
    }
    *out_kernel = (int)kernel;
    *out_stride = (int)stride;
    return true;
}

static int run_field(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    int kernels[STACK_MAX], strides[STACK_MAX], count = cli->arg_count;
    bool uniform = true;
    for (int i = 0; i < count; i++) {
        if (!read_window(cli->args[i], &kernels[i], &strides[i], error))
            return -1;
        uniform = uniform && strides[i] == 1 && kernels[i] == kernels[0];
    }
    static const char *const headers[] = {">layer", ">kernel", ">stride",
                                          ">field", "working", NULL};
    struct orch_table *table = orch_table_new(headers);
    int64_t before = 1, jump = 1;
    for (int i = 0; i < count; i++) {
        int64_t field = orch_net_stack_field(kernels, strides, i + 1);
        g_autofree char *work = g_strdup_printf("%" G_GINT64_FORMAT " + (%d - 1)*%" G_GINT64_FORMAT
                                                " = %" G_GINT64_FORMAT,
                                                before, kernels[i], jump, field);
        orch_table_add_int(table, i + 1);
        orch_table_add_int(table, kernels[i]);
        orch_table_add_int(table, strides[i]);
        orch_table_add_int(table, field);
        orch_table_add(table, work, NULL);
        before = field;
        jump *= strides[i];
    }
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:I s:o}", "field", (json_int_t)before, "layers",
                                      orch_table_to_json(table)));
        return ORCH_EXIT_OK;
    }
    orch_table_print(cli, table, "layers");
    printf("\nr(i) = r(i-1) + (k(i) - 1) * s(1) * ... * s(i-1), r(0) = 1\n");
    if (uniform)
        printf("%d layers of %dx%d, stride 1: N*F - N + 1 = %d*%d - %d + 1 = %" G_GINT64_FORMAT
               "\n",
               count, kernels[0], kernels[0], count, kernels[0], count, before);
    printf("one output sees %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT " of the input\n", before,
           before);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_NET_FIELD = {
    .name = "net field",
    .group = "Networks and hardware",
    .summary = "compute the receptive field of a stack of windows",
    .usage = "KERNEL[/STRIDE]...",
    .min_args = 1,
    .max_args = STACK_MAX,
    .examples = "  orch net field 5 5 5        # three 5x5 filters: 13x13\n"
                "  orch net field 7/2 3/2 3 3  # the beginning of a ResNet",
    .run = run_field,
};
