/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a network with its weights as an ONNX file. */
#include "core/cli/cli.h"

#include "core/results/run_named.h"
#include "features/onnx/export_source.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/net/open_net.h"

#include <string.h>

struct export_options {
    const char *onnx, *opset, *input, *classes, *weights, *seed, *batch;
    bool folds_norms, external;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct export_options, onnx, TEXT, "output", .letter = 'o', .value = "FILE",
                .help = "file to write, for example model.onnx"),
    ORCH_OPTION(struct export_options, onnx, TEXT, "onnx", .value = "FILE",
                .help = "the same as --output"),
    ORCH_OPTION(struct export_options, opset, TEXT, "opset", .value = "N",
                .help = "version of ONNX's operators, 13 to 21 (default 17)"),
    ORCH_OPTION(struct export_options, weights, TEXT, "weights", .value = "FILE",
                .help = "weights of a network: a .safetensors or .pth file"),
    ORCH_OPTION(struct export_options, seed, TEXT, "seed", .value = "N",
                .help = "seed of the initial weights (default 1)"),
    ORCH_OPTION(struct export_options, input, TEXT, "input", .letter = 'i', .value = "CxHxW",
                .help = "size of one input"),
    ORCH_OPTION(struct export_options, classes, TEXT, "classes", .value = "N",
                .help = "outputs of the classifier"),
    ORCH_OPTION(struct export_options, batch, TEXT, "batch", .letter = 'b', .value = "N",
                .help = "accept only this batch size (default: any)"),
    ORCH_OPTION(struct export_options, folds_norms, FLAG, "fold-norms",
                .help = "make batch norms a part of the convolutions before them"),
    ORCH_OPTION(struct export_options, external, FLAG, "external-data",
                .help = "write the weights to a second file, FILE.data"),
    {0}};

static bool read_opset(const char *text, int *out, GError **error)
{
    int64_t opset = ONNX_OPSET_DEFAULT;
    if (text &&
        (!orch_int_parse(text, &opset) || opset < ONNX_OPSET_MIN || opset > ONNX_OPSET_MAX)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use --opset 17",
                       "option '--opset': '%s' is not a version from %d to %d", text,
                       ONNX_OPSET_MIN, ONNX_OPSET_MAX);
        return false;
    }
    *out = (int)opset;
    return true;
}

static bool read_seed(const char *text, uint64_t *out, GError **error)
{
    *out = 1;
    if (!text || g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, out, NULL))
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "'orch show RUN' prints a run's seed64",
                   "option '--seed': '%s' is not a whole number of at most 64 bits", text);
    return false;
}

static bool read_net(const struct orch_cli *cli, const struct export_options *o,
                     struct orch_net_options *out, GError **error)
{
    *out = (struct orch_net_options){.name = cli->args[0]};
    if (o->input && !orch_net_input_read(o->input, out, error))
        return false;
    return orch_cli_count(o->classes, "--classes", 1 << 24, &out->classes, error);
}

/* Replaces the error of a word that is no run by one that also says that it is no network. */
static void neither(const char *word, GError **error)
{
    if (error && *error && !g_error_matches(*error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND))
        return;
    if (*word == '@' || strspn(word, "0123456789abcdefABCDEF-") == strlen(word))
        return; /* a key: the store's error says more */
    g_autoptr(GError) unknown = NULL;
    orch_net_free(orch_net_make(&(struct orch_net_options){.name = word}, &unknown));
    g_clear_error(error);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   unknown && orch_error_hint(unknown)
                       ? orch_error_hint(unknown)
                       : "'orch net ls' lists the networks, 'orch ls' the runs",
                   "'%s' is neither a network nor a run", word);
}

static bool open_run(struct orch_cli *cli, const struct export_options *o,
                     const struct orch_net_options *net, struct onnx_export_source *out,
                     GError **error)
{
    if (o->weights || o->seed) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out this option",
                       "option '%s' is for networks: a run already has weights",
                       o->weights ? "--weights" : "--seed");
        return false;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_named_run named = {0};
    bool ok = store && orch_named_run_find(store, cli->args[0], false, &named, error);
    if (!ok)
        neither(cli->args[0], error);
    if (ok && named.trial) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "wait until the run ends",
                       "run '%s' has not ended, so it has no weights yet", cli->args[0]);
        ok = false;
    }
    ok = ok && orch_onnx_export_source_of_run(store, named.run, net, out, error);
    orch_named_run_clear(&named);
    return ok;
}

/* The word is a network's name, else a run's. */
static bool open_source(struct orch_cli *cli, const struct export_options *o,
                        struct onnx_export_source *out, GError **error)
{
    struct onnx_export_request request = {.weights = o->weights};
    *out = (struct onnx_export_source){0};
    if (!read_net(cli, o, &request.net, error) || !read_seed(o->seed, &request.seed, error))
        return false;
    g_autofree char *name = orch_net_canonical_name(cli->args[0]);
    if (!name)
        return open_run(cli, o, &request.net, out, error);
    if (o->weights && o->seed) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--weights' excludes '--seed'");
        return false;
    }
    return orch_onnx_export_source_open(&request, out, error);
}

static json_t *names_of(const GPtrArray *values)
{
    json_t *names = json_array();
    for (guint i = 0; i < values->len; i++) {
        const Onnx__ValueInfoProto *value = values->pdata[i];
        json_array_append_new(names, orch_json_text_or_null(value->name));
    }
    return names;
}

static void print_written(struct orch_cli *cli, const struct export_options *o,
                          const struct onnx_export_source *s, const struct onnx_model *m,
                          const struct onnx_written *written)
{
    g_autofree char *size = orch_bytes_format(written->bytes + written->data_bytes);
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:s s:o s:s s:s s:i s:I s:I s:o s:o}", "file", o->onnx,
                                      "data_file", orch_json_text_or_null(written->data), "network",
                                      s->net->name, "weights", s->weights, "opset", m->opset,
                                      "bytes", (json_int_t)written->bytes, "data_bytes",
                                      (json_int_t)written->data_bytes, "inputs",
                                      names_of(m->inputs), "outputs", names_of(m->outputs)));
        return;
    }
    orch_cli_info(cli, "wrote '%s': %s, %s, opset %d, %s", o->onnx, s->net->name, s->weights,
                  m->opset, size);
    if (written->data)
        orch_cli_info(cli,
                      "the weights of the model are in '%s', which must stay in the same folder",
                      written->data);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct export_options *o = options;
    struct onnx_export e = {.folds_norms = o->folds_norms};
    struct onnx_export_source source = {0};
    if (!o->onnx) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --onnx model.onnx",
                       "option '--onnx' is missing");
        return -1;
    }
    if (!read_opset(o->opset, &e.opset, error) ||
        !orch_cli_count(o->batch, "--batch", 1 << 24, &e.batch, error))
        return -1;
    bool ok = open_source(cli, o, &source, error);
    struct onnx_model model = {0};
    struct onnx_written written = {0};
    ok = ok && orch_onnx_export_source_model(&source, &e, &model, error) &&
         orch_onnx_model_write(&model, o->onnx, o->external, &written, error);
    if (ok)
        print_written(cli, o, &source, &model, &written);
    g_free(written.data);
    orch_onnx_model_clear(&model);
    orch_onnx_export_source_clear(&source);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_NET_EXPORT = {
    .name = "net export",
    .group = "Networks and hardware",
    .summary = "write a network with its weights as an ONNX file",
    .usage = "NET|RUN",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct export_options),
    .about = "Exports a run's network with its trained weights, or a network of 'orch net ls' with "
             "the weights of a file (--weights) or with initial weights (--seed). The model is in "
             "evaluation mode, without dropout and auxiliary heads.\n\n"
             "The input is called 'input' (N x C x H x W, or N x T tokens), the output 'output'; "
             "several outputs have the names of their layers in 'orch net show'. Each weight keeps "
             "its name. The file's metadata contain the network, its input and classes, and a "
             "run's key and parameters.\n\n"
             "An existing FILE is replaced only when the new one is complete. The weights of a "
             "model of more than 2 GiB are written to FILE.data. If the existing FILE uses that, "
             "they are written to FILE.1.data, and FILE.data is removed.",
    .examples =
        "  orch net export @last --onnx model.onnx\n"
        "  orch net export resnet50 --weights resnet50.pth --onnx resnet50.onnx --opset 13\n"
        "  orch net export resnet20 --onnx fresh.onnx --seed 7 --fold-norms",
    .run = run,
};
