/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch paleo`: the step time by PALEO's formulas, and the roofline bound. */
#include "features/paleo/paleo_show.h"

#include "lib/base/error.h"

#include <string.h>

#define AT(member) offsetof(struct paleo_options, member)

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct paleo_options, time.gpu, TEXT, "gpu", .letter = 'g', .value = "NAME",
                .help = "the GPU, or a device of PALEO's own table (default: paleo:K80)"),
    TIME_NETWORK_OPTIONS(AT(time.net), AT(time.net_table), AT(time.input), AT(time.classes)),
    TIME_WORK_OPTIONS(AT(time.dataset), AT(time.batches), AT(time.workers), AT(time.scaling)),
    ORCH_OPTION(struct paleo_options, time.precision, TEXT, "precision", .value = "NAME",
                .help = TIME_PRECISION_HELP),
    ORCH_OPTION(struct paleo_options, time.forward_only, FLAG, "forward-only",
                .help = "inference: no backward pass"),
    TIME_LINK_OPTIONS(AT(time.network), AT(time.per_node)),
    ORCH_OPTION(
        struct paleo_options, time.scheme, TEXT, "scheme", .value = "NAME",
        .help =
            "OneToAll, TreeAllReduce, ButterflyAllReduce, ButterflyMixing, ring or hierarchical"),
    TIME_PRICE_OPTIONS(AT(time.price), AT(time.cloud), AT(time.spot)),
    TIME_SHARE_OPTIONS(AT(time.ppp_comp), AT(time.ppp_comm), ""),
    ORCH_OPTION(struct paleo_options, pipeline, FLAG, "pipeline",
                .help = "a layer's time is the longer of its computing and memory times"),
    ORCH_OPTION(struct paleo_options, algorithm, TEXT, "algorithm", .value = "NAME",
                .help = "algorithm of convolutions: gemm (default), fft or fft-tiling"),
    ORCH_OPTION(struct paleo_options, parallel, TEXT, "parallel", .value = "NAME",
                .help = "parallelism: data (the default), model or hybrid"),
    ORCH_OPTION(struct paleo_options, split, LIST, "split", .value = "LAYER",
                .help = "layer to split among the workers (repeatable)"),
    ORCH_OPTION(struct paleo_options, overlap, FLAG, "overlap",
                .help = "not in PALEO: exchange gradients during the backward pass"),
    ORCH_OPTION(struct paleo_options, all_layers, FLAG, "all-layers",
                .help = "not in PALEO: include norms, activations and sums"),
    ORCH_OPTION(struct paleo_options, roofline, FLAG, "roofline",
                .help = "compute the least time on one GPU (roofline) instead"),
    ORCH_OPTION(struct paleo_options, layers, FLAG, "layers",
                .help = "with --roofline: show each layer"),
    ORCH_OPTION(struct paleo_options, chart, TEXT, "chart", .value = "FILE",
                .help = "with --roofline: draw the roofline (.svg, .png, .pdf)"),
    ORCH_OPTION(struct paleo_options, time.optimizer, TEXT, "optimizer", .value = "NAME",
                .help = "with --roofline: sgd, momentum or adam"),
    ORCH_OPTION(struct paleo_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

static bool refuse(const char *option, const char *why, const char *hint, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--%s' %s", option, why);
    return false;
}

/* Returns the first option of which the roofline makes no use; NULL: none is given. */
static const char *unused_by_roofline(const struct paleo_options *o)
{
    const struct time_options *t = &o->time;
    const struct {
        bool is_given;
        const char *name;
    } table[] = {
        {t->dataset, "dataset"},      {t->workers, "workers"},   {t->scaling, "scaling"},
        {t->network, "network"},      {t->per_node, "per-node"}, {t->scheme, "scheme"},
        {t->price, "price"},          {t->cloud, "cloud"},       {t->spot, "spot"},
        {t->ppp_comm, "ppp-comm"},    {o->pipeline, "pipeline"}, {o->algorithm, "algorithm"},
        {o->parallel, "parallel"},    {o->split, "split"},       {o->overlap, "overlap"},
        {o->all_layers, "all-layers"}};
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (table[i].is_given)
            return table[i].name;
    return NULL;
}

static bool roofline_fits(const struct paleo_options *o, GError **error)
{
    const char *unused = unused_by_roofline(o);
    if (unused)
        return refuse(unused, "excludes '--roofline'", "leave out one of the two", error);
    if (!o->time.gpu || g_str_has_prefix(o->time.gpu, "paleo:"))
        return refuse("roofline", "needs one of the GPUs that 'orch gpu ls' lists",
                      "for example --gpu V100", error);
    if (o->time.optimizer && o->time.forward_only)
        return refuse("optimizer", "excludes '--forward-only'", "leave out one of the two", error);
    return true;
}

static bool options_fit(const struct orch_cli *cli, const struct paleo_options *o, GError **error)
{
    if (!orch_cli_format_check(o->format, error))
        return false;
    if (cli->json && o->format)
        return refuse("format", "excludes '--json'", "leave out one of the two", error);
    if (g_strcmp0(o->time.gpu, "all") == 0)
        return refuse("gpu", "takes a single device here",
                      "'orch predict --gpu all' ranks all GPUs", error);
    if (o->roofline)
        return roofline_fits(o, error);
    if (o->layers || o->time.optimizer || o->chart)
        return refuse(o->layers  ? "layers"
                      : o->chart ? "chart"
                                 : "optimizer",
                      "needs '--roofline'", "add --roofline", error);
    return true;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct paleo_options *o = options;
    struct orch_time_question q = {0};
    int status = -1;
    if (!options_fit(cli, o, error))
        return -1;
    if (orch_cli_time_options_read(cli, &q, &o->time, !o->roofline, error)) {
        if (!o->roofline)
            orch_time_question_assume_stem(&q);
        status = (o->roofline ? orch_cli_roofline_show : orch_cli_paleo_show)(cli, o, &q, error);
    }
    orch_time_question_release(&q);
    return status;
}

static const struct orch_option_group GROUPS[] = {
    {"the training", "net -net-table input -classes dataset batch precision -forward-only"},
    {"the machine", "gpu workers scaling network -per-node -scheme -price -cloud -spot"},
    {"PALEO's model", "ppp-comp ppp-comm -pipeline -algorithm parallel split -overlap -all-layers"},
    {"roofline", "roofline layers chart optimizer"},
    {0}};

const struct orch_command ORCH_COMMAND_PALEO = {
    .name = "paleo",
    .group = "Decide",
    .summary = "compute a step's time by PALEO's formulas, or its least time (roofline)",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct paleo_options),
    .groups = GROUPS,
    .about =
        "PALEO (Qi, Sparks, Talwalkar 2017) is an analytical model of training time. This command "
        "computes what PALEO's program computes, for a network of 'orch net ls', a network of "
        "PALEO (paleo:inception_v3, paleo:resnet50) or a table of layers. The output marks what "
        "orch adds to PALEO, such as the all-reduce schemes 'ring' and 'hierarchical'.\n\n"
        "--roofline prints the least time that a step can take at the GPU's peak speed, one row "
        "for each batch size. --chart draws each layer's least time. It also draws the layers' "
        "times if plugin layerbench measured them on this device (parameter by_layer).",
    .examples =
        "orch paleo --net inception_v3 --gpu K80 --workers 1,2,4,8 --scaling strong "
        "--batch 128 --dataset 50000\n"
        "orch paleo --net paleo:inception_v3 --workers 1,2,4,8 --scaling strong --batch "
        "128 --network pcie3\n"
        "orch paleo --net alexnet --workers 4 --parallel hybrid --split classifier.1\n"
        "orch paleo --roofline --net vgg16 --gpu T4 --batch 1,8,64,512   # which batches fit?\n"
        "orch paleo --roofline --net resnet18 --gpu here --batch 16 --chart roofline.svg",
    .run = run,
};
