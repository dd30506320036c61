/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The structure and the cost of networks, without running them: tables from lib/net. */
#include "core/cli/cli.h"
#include "core/workspace/open_network.h"

#include "features/networks/network_counts.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- ls -------------------------------------------------------------------------------------- */

static void add_count(struct orch_table *table, bool is_known, int64_t count)
{
    g_autofree char *text = is_known ? orch_net_count_format(count) : g_strdup("-");
    orch_table_add(table, text, is_known ? json_integer(count) : json_null());
}

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    (void)error;
    static const char *const headers[] = {"name",    ">input",  ">classes",
                                          ">layers", ">params", ">multiply-adds",
                                          "trains",  "about",   NULL};
    struct orch_table *table = orch_table_new(headers);
    g_autoptr(GArray) networks = orch_known_networks();
    for (guint i = 0; i < networks->len; i++) {
        const struct orch_known_network *n = &g_array_index(networks, struct orch_known_network, i);
        g_autofree char *input = g_strdup_printf("%dx%dx%d", (int)n->c, (int)n->h, (int)n->w);
        orch_table_add(table, n->name, NULL);
        orch_table_add(table, input, NULL);
        orch_table_add_int(table, n->classes);
        add_count(table, n->has_counts, n->depth);
        add_count(table, n->has_counts, n->params);
        add_count(table, n->has_counts, n->macs);
        orch_table_add(table, n->trains ? "yes" : "no", json_boolean(n->trains));
        orch_table_add(table, n->about, NULL);
    }
    orch_cli_table_print(cli, table, "networks");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_NET_LS = {
    .name = "net ls",
    .group = "Networks and hardware",
    .pages = true,
    .family = "known networks: layers, operations, export to ONNX",
    .summary = "list the known networks",
    .usage = "",
    .max_args = 0,
    .run = run_ls,
};

/* ---- show ------------------------------------------------------------------------------------ */

struct show_options {
    const char *input, *precision, *optimizer, *format, *table_net, *batch, *classes;
    int per_mac;
    bool work, forward_only, brief;
};

static const struct orch_option SHOW_OPTIONS[] = {
    ORCH_OPTION(struct show_options, input, TEXT, "input", .letter = 'i', .value = "CxHxW",
                .help = "size of one input"),
    ORCH_OPTION(struct show_options, classes, TEXT, "classes", .value = "N",
                .help = "outputs of the classifier"),
    ORCH_OPTION(struct show_options, table_net, TEXT, "table-net", .value = "NAME",
                .help = "network to show, if NET is a file with several"),
    ORCH_OPTION(struct show_options, batch, TEXT, "batch", .letter = 'b', .value = "N",
                .help = "images per batch (default 1)"),
    ORCH_OPTION(struct show_options, per_mac, INT, "mac", .value = "1|2",
                .help = "operations per multiply-add (default 2)"),
    ORCH_OPTION(struct show_options, work, FLAG, "work",
                .help = "show how each number is computed"),
    ORCH_OPTION(struct show_options, brief, FLAG, "brief",
                .help = "only convolutions, pools and linear layers"),
    ORCH_OPTION(struct show_options, forward_only, FLAG, "forward-only",
                .help = "show the memory of inference instead of training"),
    ORCH_OPTION(struct show_options, optimizer, TEXT, "optimizer", .value = "NAME",
                .help = "sgd, momentum (default) or adam"),
    ORCH_OPTION(struct show_options, precision, TEXT, "precision", .value = "NAME",
                .help = "precision of activations and memory traffic: fp32 (default), fp16, bf16"),
    ORCH_OPTION(struct show_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

/* A network with its counts. */
struct showing {
    const struct show_options *o;
    struct orch_net *net;
    struct orch_network_counts *counts;
    struct orch_count_options how;
};

/* Opens a network, and warns of parts of a file that were counted as zero. */
static struct orch_net *open_net(struct orch_cli *cli, const struct orch_net_request *request,
                                 GError **error)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = orch_network_open(request, notes, error);
    orch_cli_warn_all(cli, notes);
    return net;
}

static int word_index(const char *word, const char *const *words, const char *option,
                      GError **error)
{
    for (int i = 0; words[i]; i++)
        if (!word || orch_name_is_same(words[i], word))
            return i;
    g_autofree char *known = g_strjoinv(", ", (char **)(uintptr_t)words);
    orch_error_set(error, ORCH_ERROR_USAGE, known, "option '%s': unknown value '%s'", option, word);
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
    if (optimizer < 0 || !orch_cli_format_check(s->o->format, error))
        return false;
    s->how.element_bytes = precision ? 2 : 4;
    s->how.optimizer_states = states[optimizer];
    return true;
}

static bool check_per_mac(int per_mac, GError **error)
{
    if (per_mac != 1 && per_mac != 2) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --mac 1 or --mac 2",
                       "option '--mac': a multiply-add is 1 or 2 operations, not %d", per_mac);
        return false;
    }
    return true;
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

static void add_shape(struct orch_table *table, int64_t c, int64_t h, int64_t w)
{
    g_autofree char *text =
        g_strdup_printf("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, c, h, w);
    orch_table_add(table, text, NULL);
}

static void add_field(struct orch_table *table, int h, int w)
{
    g_autofree char *text = h == w ? g_strdup_printf("%d", h) : g_strdup_printf("%dx%d", h, w);
    orch_table_add(table, text, NULL);
}

static struct orch_table *cost_table(const struct showing *s)
{
    static const char *const headers[] = {
        "layer",          "type", ">output", ">activations", ">memory", ">params", ">weights",
        ">multiply-adds", ">ops", ">read",   ">written",     ">field",  NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < s->counts->layers->len; i++) {
        const struct orch_layer_counts *layer = s->counts->layers->pdata[i];
        orch_table_add(table, layer->name, NULL);
        orch_table_add(table, layer->type, NULL);
        add_shape(table, layer->c, layer->h, layer->w);
        add_number(table, layer->activations);
        add_bytes(table, layer->activation_bytes);
        add_number(table, layer->params);
        add_number(table, layer->weights);
        add_number(table, layer->macs);
        add_number(table, layer->operations);
        add_bytes(table, layer->read_bytes);
        add_bytes(table, layer->written_bytes);
        add_field(table, (int)layer->field_h, (int)layer->field_w);
    }
    return table;
}

static struct orch_table *work_table(const struct showing *s)
{
    static const char *const headers[] = {
        "layer",   "type",    ">side",          ">activations", ">params, no bias",
        ">biases", ">params", ">multiply-adds", ">operations",  NULL};
    const struct orch_network_counts *counts = s->counts;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < counts->layers->len; i++) {
        const struct orch_layer_counts *layer = counts->layers->pdata[i];
        orch_table_add(table, layer->name, NULL);
        orch_table_add(table, layer->type, NULL);
        orch_table_add(table, layer->side_work, NULL);
        orch_table_add(table, layer->activations_work, NULL);
        orch_table_add(table, layer->params_work, NULL);
        add_number(table, layer->params - layer->weights);
        add_number(table, layer->params);
        orch_table_add(table, layer->macs_work, NULL);
        add_number(table, layer->image_operations);
    }
    orch_table_add(table, s->o->brief ? "TOTAL of these" : "TOTAL", NULL);
    orch_table_add(table, "", NULL);
    orch_table_add(table, "", NULL);
    add_number(table, counts->shown_activations);
    add_number(table, counts->weights);
    add_number(table, counts->params - counts->weights);
    add_number(table, counts->params);
    add_number(table, counts->macs);
    add_number(table, counts->shown_operations);
    return table;
}

static json_t *shares_json(const struct showing *s)
{
    json_t *shares = json_object();
    for (guint i = 0; i < s->counts->kinds->len; i++) {
        const struct orch_kind_operations *kind =
            &g_array_index(s->counts->kinds, struct orch_kind_operations, i);
        json_object_set_new(shares, kind->name,
                            json_pack("{s:I s:o}", "ops",
                                      (json_int_t)(kind->operations * s->how.batch), "share",
                                      orch_json_finite(kind->share)));
    }
    return shares;
}

static void print_line(const char *name, const char *value)
{
    orch_cli_print("%-16s %s", name, value);
}

static void print_count(const char *name, int64_t count, const char *behind)
{
    g_autofree char *number = orch_net_count_format(count);
    orch_cli_print("%-16s %s%s", name, number, behind);
}

static void print_memory(const struct showing *s)
{
    struct orch_net_memory m = s->counts->memory;
    g_autofree char *total = orch_bytes_format((int64_t)m.total);
    g_autofree char *weights = orch_bytes_format((int64_t)m.weights);
    g_autofree char *gradients = orch_bytes_format((int64_t)m.gradients);
    g_autofree char *optimizer = orch_bytes_format((int64_t)m.optimizer);
    g_autofree char *activations = orch_bytes_format((int64_t)m.activations);
    if (s->o->forward_only)
        orch_cli_print("%-16s %s: weights %s, the largest layer's input and output %s",
                       "memory, forward", total, weights, activations);
    else
        orch_cli_print("%-16s %s: weights %s, gradients %s, optimizer %s, activations %s; the "
                       "larger of gradients and activations counts",
                       "memory, training", total, weights, gradients, optimizer, activations);
}

static void print_totals(const struct showing *s)
{
    const struct orch_network_counts *sum = s->counts;
    printf("\n");
    g_autofree char *batch = g_strdup_printf(" (batch %" G_GINT64_FORMAT ")", s->how.batch);
    print_count("params", sum->params, "");
    if (orch_net_active_params(s->net) < sum->params)
        print_count("  active", orch_net_active_params(s->net), ": used by each token");
    print_count("  without biases", sum->weights,
                sum->has_norms ? " (includes the scales of norms)" : "");
    g_autofree char *outputs = g_strdup_printf("%s: outputs of all layers", batch);
    print_count("activations", sum->activations * s->how.batch, outputs);
    print_count("multiply-adds", sum->macs * s->how.batch, batch);
    g_autofree char *operations_label =
        g_strdup_printf("%s; a multiply-add counts as %d", batch, s->how.per_mac);
    print_count("operations", sum->operations * s->how.batch, operations_label);
    GString *shares = g_string_new(NULL);
    for (guint i = 0; i < sum->kinds->len; i++) {
        const struct orch_kind_operations *kind =
            &g_array_index(sum->kinds, struct orch_kind_operations, i);
        g_string_append_printf(shares, "%s%s %.2f %%", i ? ", " : "", kind->name,
                               100.0 * (double)kind->operations / (double)MAX(1, sum->operations));
    }
    print_line("  by kind", shares->str);
    g_string_free(shares, TRUE);
    if (sum->macs) {
        g_autofree char *number = orch_net_count_format(sum->conv_macs);
        g_autofree char *all = orch_net_count_format(sum->macs);
        g_autofree char *text = g_strdup_printf("%s of %s multiply-adds, %.2f %%", number, all,
                                                100.0 * (double)sum->conv_macs / (double)sum->macs);
        print_line("  convolutions", text);
    }
    print_memory(s);
}

static void print_show_json(const struct showing *s)
{
    const struct orch_network_counts *sum = s->counts;
    const struct orch_net_memory *m = &sum->memory;
    const struct orch_net *net = s->net;
    int64_t batch = s->how.batch;
    json_t *object = json_pack(
        "{s:s s:[I,I,I] s:I s:I s:I s:I s:I s:I s:I s:i s:I s:o}", "network", net->name, "input",
        (json_int_t)net->input.c, (json_int_t)net->input.h, (json_int_t)net->input.w, "classes",
        (json_int_t)net->classes, "batch", (json_int_t)batch, "params", (json_int_t)sum->params,
        "weights", (json_int_t)sum->weights, "activations", (json_int_t)(sum->activations * batch),
        "multiply_adds", (json_int_t)(sum->macs * batch), "conv_multiply_adds",
        (json_int_t)(sum->conv_macs * batch), "ops_per_multiply_add", s->how.per_mac, "ops",
        (json_int_t)(sum->operations * batch), "shares", shares_json(s));
    json_object_set_new(object, "active_params", json_integer(orch_net_active_params(net)));
    json_object_set_new(object, s->o->forward_only ? "memory_forward" : "memory_training",
                        json_pack("{s:o s:o s:o s:o s:o}", "weights", orch_json_finite(m->weights),
                                  "gradients", orch_json_finite(m->gradients), "optimizer",
                                  orch_json_finite(m->optimizer), "activations",
                                  orch_json_finite(m->activations), "total",
                                  orch_json_finite(m->total)));
    json_object_set_new(object, "layers",
                        orch_cli_table_to_json(s->o->work ? work_table(s) : cost_table(s)));
    orch_cli_print_json(object);
}

static int run_show(struct orch_cli *cli, const void *options, GError **error)
{
    const struct show_options *o = options;
    struct showing s = {.o = o,
                        .how = {.batch = 1,
                                .per_mac = o->per_mac ? o->per_mac : 2,
                                .forward_only = o->forward_only,
                                .brief = o->brief}};
    int64_t classes = 0;
    if (!settle(&s, error) || !check_per_mac(s.how.per_mac, error) ||
        !orch_cli_count(o->batch, "--batch", 1 << 24, &s.how.batch, error) ||
        !orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return -1;
    if (cli->json && o->format) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--json' excludes '--format'");
        return -1;
    }
    s.net = open_net(cli,
                     &(struct orch_net_request){.name = cli->args[0],
                                                .input = o->input,
                                                .classes = (int)classes,
                                                .table_net = o->table_net},
                     error);
    if (!s.net || !orch_net_counts_check(s.net, s.how.batch, error)) {
        orch_net_free(s.net);
        return -1;
    }
    s.counts = orch_network_counts_new(s.net, &s.how);
    if (cli->json) {
        print_show_json(&s);
    } else {
        orch_cli_table_print_as(cli, o->work ? work_table(&s) : cost_table(&s), "layers",
                                o->format);
        if (!o->format || strcmp(o->format, "text") == 0)
            print_totals(&s);
    }
    orch_network_counts_free(s.counts);
    orch_net_free(s.net);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_NET_SHOW = {
    .name = "net show",
    .group = "Networks and hardware",
    .pages = true,
    .summary = "show a network's layers: shapes, parameters, operations, memory",
    .usage = "NET",
    .min_args = 1,
    .max_args = 1,
    .options = SHOW_OPTIONS,
    .option_bytes = sizeof(struct show_options),
    .about = "Prints one row per layer: output (C x H x W), activations, parameters with and "
             "without biases, multiply-adds, operations, bytes read and written, and receptive "
             "field (the side of the input square on which one output value depends). After the "
             "layers come the totals and the memory that training takes.\n\n"
             "A multiply-add counts as two operations; with --mac 1, as one. Published tables "
             "differ by this factor of two.",
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
    ORCH_OPTION(struct compare_options, input, TEXT, "input", .letter = 'i', .value = "CxHxW",
                .help = "size of one input of both networks"),
    ORCH_OPTION(struct compare_options, classes, INT, "classes", .value = "N",
                .help = "outputs of both classifiers"),
    ORCH_OPTION(struct compare_options, per_mac, INT, "mac", .value = "1|2",
                .help = "operations per multiply-add (default 2)"),
    ORCH_OPTION(struct compare_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
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

static struct orch_table *compare_table(const struct orch_net *const nets[2],
                                        const struct orch_network_counts *const counts[2])
{
    const struct orch_network_counts *a = counts[0], *b = counts[1];
    const struct {
        const char *what;
        int64_t a, b;
    } rows[] = {{"params", a->params, b->params},
                {"params without biases", a->weights, b->weights},
                {"output values", a->output_values, b->output_values},
                {"activations", a->activations, b->activations},
                {"multiply-adds", a->macs, b->macs},
                {"operations", a->operations, b->operations}};
    g_autofree char *first = g_strconcat(">", nets[0]->name, NULL);
    g_autofree char *second = g_strconcat(">", nets[1]->name, NULL);
    const char *headers[] = {"what", first, second, ">ratio", NULL};
    struct orch_table *table = orch_table_new(headers);
    orch_table_add(table, "output, C x H x W", NULL);
    for (int i = 0; i < 2; i++)
        add_shape(table, counts[i]->output.c, counts[i]->output.h, counts[i]->output.w);
    orch_table_add(table, "", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        add_ratio(table, rows[i].what, (double)rows[i].a, (double)rows[i].b, false);
    add_ratio(table, "memory, training, batch 1", a->memory.total, b->memory.total, true);
    return table;
}

static int run_compare(struct orch_cli *cli, const void *options, GError **error)
{
    const struct compare_options *o = options;
    const struct orch_count_options how = {.batch = 1,
                                           .per_mac = o->per_mac ? o->per_mac : 2,
                                           .element_bytes = 4,
                                           .optimizer_states = 1};
    if (!check_per_mac(how.per_mac, error) || !orch_cli_format_check(o->format, error))
        return -1;
    struct orch_net *nets[2] = {NULL, NULL};
    struct orch_network_counts *counts[2] = {NULL, NULL};
    for (int i = 0; i < 2 && (!i || counts[0]); i++) {
        nets[i] = open_net(cli,
                           &(struct orch_net_request){
                               .name = cli->args[i], .input = o->input, .classes = o->classes},
                           error);
        counts[i] = nets[i] && orch_net_counts_check(nets[i], 1, error)
                        ? orch_network_counts_new(nets[i], &how)
                        : NULL;
    }
    bool ok = counts[1] != NULL;
    if (ok)
        orch_cli_table_print_as(cli,
                                compare_table((const struct orch_net *const *)nets,
                                              (const struct orch_network_counts *const *)counts),
                                "comparison", o->format);
    for (int i = 0; i < 2; i++) {
        orch_network_counts_free(counts[i]);
        orch_net_free(nets[i]);
    }
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_NET_COMPARE = {
    .name = "net compare",
    .group = "Networks and hardware",
    .summary = "compare two networks: parameters, operations, memory, and their ratios",
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
                                      orch_cli_table_to_json(table)));
        return ORCH_EXIT_OK;
    }
    orch_cli_table_print(cli, table, "layers");
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
    .summary = "compute the receptive field of a stack of convolutions or pools",
    .usage = "KERNEL[/STRIDE]...",
    .min_args = 1,
    .max_args = STACK_MAX,
    .examples = "  orch net field 5 5 5        # three 5x5 filters: 13x13\n"
                "  orch net field 7/2 3/2 3 3  # the beginning of a ResNet",
    .run = run_field,
};
