/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict`: the time and cost of a training before it runs. */
#include "core/cli/predict.h"

#include "core/cli/forecast_show.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

#define AT(member) offsetof(struct predict_options, member)

static const struct orch_option OPTIONS[] = {
    {"gpu", 'g', "NAME", ORCH_OPT_TEXT, AT(gpu),
     "the device: a GPU, 'all' to rank them, 'here', or PALEO's own as paleo:K80"},
    {"net", 'n', "NAME", ORCH_OPT_TEXT, AT(net), "the network: of the zoo, or a file"},
    {"dataset", 'd', "NAME|N", ORCH_OPT_TEXT, AT(dataset),
     "imagenet, cifar10, ..., or a number of training images"},
    {"input", 'i', "CxHxW", ORCH_OPT_TEXT, AT(input), "size of one image"},
    {"classes", 0, "N", ORCH_OPT_TEXT, AT(classes), "outputs of the classifier"},
    {"batch", 'b', "N,...", ORCH_OPT_TEXT, AT(batches),
     "images a worker (--scaling strong: of all workers)"},
    {"epochs", 'e', "N", ORCH_OPT_TEXT, AT(epochs), "epochs in all"},
    {"workers", 'w', "N,...", ORCH_OPT_TEXT, AT(workers), "devices that train together"},
    {"scaling", 0, "weak|strong", ORCH_OPT_TEXT, AT(scaling),
     "does each worker keep its batch (weak, the default), or do they share one?"},
    {"precision", 0, "NAME", ORCH_OPT_TEXT, AT(precision),
     "fp64, fp32 (tf32 on NVIDIA from Ampere on), tf32, fp16, bf16, auto"},
    {"optimizer", 0, "NAME", ORCH_OPT_TEXT, AT(optimizer), "sgd, momentum, adam"},
    {"forward-only", 0, NULL, ORCH_OPT_FLAG, AT(forward_only), "inference: no backward pass"},
    {"network", 0, "LINK", ORCH_OPT_TEXT, AT(network),
     "link between workers: ethernet10, infiniband-hdr, nvlink2, ... ('orch gpu links')"},
    {"per-node", 0, "N", ORCH_OPT_TEXT, AT(per_node_text),
     "workers of a node: within it they use its own link"},
    {"scheme", 0, "NAME", ORCH_OPT_TEXT, AT(scheme),
     "how gradients are summed: ring, tree, butterfly, one-to-all, hierarchical; with --model "
     "paleo "
     "OneToAll, TreeAllReduce, ButterflyAllReduce, ButterflyMixing"},
    {"price", 0, "USD", ORCH_OPT_TEXT, AT(price_text), "an hour of one device"},
    {"cloud", 0, "NAME", ORCH_OPT_TEXT, AT(cloud),
     "take the price of aws, azure, gcp, lambda, ..."},
    {"spot", 0, NULL, ORCH_OPT_FLAG, AT(spot), "take spot prices"},
    {"model", 'm', "NAME", ORCH_OPT_TEXT, AT(model),
     "auto (the default: the best tier that can tell), transferred, prior, paleo, roofline"},
    {"calibrate", 0, "RUN", ORCH_OPT_LIST, AT(calibrate),
     "shift the forecast by this run here, on any GPU; may be given again"},
    {"threads", 0, "N", ORCH_OPT_TEXT, AT(threads), "of a processor, as the store's runs had them"},
    {"explain", 0, NULL, ORCH_OPT_FLAG, AT(explain),
     "what the answer is made of: features, nearest records, white box and what was learned"},
    {"budget", 0, "USD", ORCH_OPT_TEXT, AT(budget),
     "mark what costs more, e.g. 5usd; with all: leave it out"},
    {"deadline", 0, "WHEN", ORCH_OPT_TEXT, AT(deadline),
     "mark what is not done by then, started now: 18:00, 36h, or a date and time; with all: leave "
     "it "
     "out"},
    {"pareto", 0, "FILE", ORCH_OPT_TEXT, AT(pareto),
     "with all: a chart of time and cost, as FILE.svg, FILE.png or FILE.pdf"},
    {"net-table", 0, "FILE.csv", ORCH_OPT_TEXT, AT(net_table),
     "paleo: the layers of --net NAME from a table"},
    {"ppp-comp", 0, "SHARE", ORCH_OPT_TEXT, AT(ppp_comp),
     "share of the peak that computing reaches, in (0, 1]"},
    {"ppp-comm", 0, "SHARE", ORCH_OPT_TEXT, AT(ppp_comm), "the same of the link"},
    {"pipeline", 0, NULL, ORCH_OPT_FLAG, AT(pipeline),
     "paleo: a layer takes the longer of computing and memory, not their sum"},
    {"algorithm", 0, "NAME", ORCH_OPT_TEXT, AT(algorithm),
     "paleo: of convolutions above 1x1: gemm (the default), fft, fft-tiling"},
    {"parallel", 0, "NAME", ORCH_OPT_TEXT, AT(parallel),
     "paleo: data (the default), model, or hybrid: the layers of --split are cut among workers"},
    {"split", 0, "LAYER", ORCH_OPT_LIST, AT(split),
     "paleo: a layer that is cut; may be given again"},
    {"overlap", 0, NULL, ORCH_OPT_FLAG, AT(overlap),
     "paleo, added: hide the exchange behind the backward pass"},
    {"all-layers", 0, NULL, ORCH_OPT_FLAG, AT(all_layers),
     "paleo, added: time of norms, activations and sums"},
    {"layers", 0, NULL, ORCH_OPT_FLAG, AT(layers), "roofline: by layer, with what bounds it"},
    {"score", 0, NULL, ORCH_OPT_FLAG, AT(score),
     "how good the forecasts of past runs were (alone, or with --json)"},
    {"curve", 0, NULL, ORCH_OPT_FLAG, AT(curve),
     "the loss curves of stored runs, and when they reach a target"},
    {"where", 0, "FILTER", ORCH_OPT_TEXT, AT(where), "curve: all runs that match (docs/where.md)"},
    {"metric", 0, "NAME", ORCH_OPT_TEXT, AT(metric),
     "curve: the loss (default: step_loss, train_loss or loss)"},
    {"accuracy-metric", 0, "NAME", ORCH_OPT_TEXT, AT(accuracy_metric),
     "curve: the accuracy (default: val_accuracy, test_accuracy, accuracy or train_accuracy)"},
    {"target-loss", 0, "X", ORCH_OPT_TEXT, AT(target_loss), "curve: when is the loss X?"},
    {"target-accuracy", 0, "X", ORCH_OPT_TEXT, AT(target_accuracy),
     "curve: when is the accuracy X (0.92 or 92%)?"},
    {"form", 0, "NAME", ORCH_OPT_TEXT, AT(form), "curve: auto (the default), optimus or power"},
    {"weights", 0, "NAME", ORCH_OPT_TEXT, AT(weights),
     "curve: equal (the default), or segments: later points count more, as Optimus' program has "
     "it"},
    {"outliers", 0, "N", ORCH_OPT_TEXT, AT(outliers),
     "curve: replace a loss outside the range of its N neighbours on each side"},
    {"normalised", 0, NULL, ORCH_OPT_FLAG, AT(normalised),
     "curve: divide losses by the run's largest"},
    {"format", 'f', "NAME", ORCH_OPT_TEXT, AT(format), "text, tsv, csv, markdown, latex"},
    {0}};

static bool is_model(const char *name, GError **error)
{
    static const char *const names[] = {"auto", "transferred", "prior", "paleo", "roofline", NULL};
    if (!name || g_strv_contains(names, name))
        return true;
    g_autofree char *near = orch_suggest_hint(name, names);
    orch_error_set(error, ORCH_ERROR_USAGE,
                   near ? near : "auto, transferred, prior, paleo, roofline",
                   "option '--model': unknown model '%s'", name);
    return false;
}

/* ---- valid combinations of options -------------------------------------------------------------
 */

enum { CURVE = 1, PRIOR = 2, PALEO = 4, ROOFLINE = 8, MODELS = PRIOR | PALEO | ROOFLINE };

/* Which models use an option. An option that is not listed is used by every model. */
static const struct {
    const char *option;
    int by;
} LOOKED_AT[] = {
    {"format", CURVE | MODELS},
    {"net", CURVE | MODELS},
    {"gpu", CURVE | MODELS},
    {"input", CURVE | MODELS},
    {"classes", CURVE | MODELS},
    {"epochs", CURVE | PRIOR},
    {"curve", CURVE},
    {"where", CURVE},
    {"metric", CURVE},
    {"accuracy-metric", CURVE},
    {"target-loss", CURVE},
    {"target-accuracy", CURVE},
    {"form", CURVE},
    {"weights", CURVE},
    {"outliers", CURVE},
    {"normalised", CURVE},
    {"calibrate", PRIOR},
    {"threads", PRIOR},
    {"explain", PRIOR},
    {"budget", PRIOR},
    {"deadline", PRIOR},
    {"pareto", PRIOR},
    {"workers", PRIOR | PALEO},
    {"scaling", PRIOR | PALEO},
    {"scheme", PRIOR | PALEO},
    {"network", PRIOR | PALEO},
    {"per-node", PRIOR | PALEO},
    {"price", PRIOR | PALEO},
    {"cloud", PRIOR | PALEO},
    {"spot", PRIOR | PALEO},
    {"dataset", PRIOR | PALEO},
    {"ppp-comm", PRIOR | PALEO},
    {"optimizer", PRIOR | ROOFLINE},
    {"layers", ROOFLINE},
    {"pipeline", PALEO},
    {"overlap", PALEO},
    {"all-layers", PALEO},
    {"algorithm", PALEO},
    {"parallel", PALEO},
    {"split", PALEO},
};

static int looked_at_by(const char *option)
{
    for (size_t i = 0; i < G_N_ELEMENTS(LOOKED_AT); i++)
        if (strcmp(LOOKED_AT[i].option, option) == 0)
            return LOOKED_AT[i].by;
    return MODELS;
}

static bool is_given(const struct predict_options *o, const struct orch_option *option)
{
    const char *at = (const char *)o + option->offset;
    return option->kind == ORCH_OPT_FLAG ? *(const bool *)at
                                         : *(const void *const *)(const void *)at != NULL;
}

/* Rejects options that the selected model does not use, so that none is silently ignored. */
static bool options_fit(const struct predict_options *o, GError **error)
{
    const char *name = o->model ? o->model : "auto";
    int model = strcmp(name, "paleo") == 0      ? PALEO
                : strcmp(name, "roofline") == 0 ? ROOFLINE
                                                : PRIOR;
    for (const struct orch_option *option = OPTIONS; option->name; option++) {
        int by = looked_at_by(option->name);
        if (is_given(o, option) && !(by & (o->curve ? CURVE : model))) {
            by &= MODELS;
            orch_error_set(error, ORCH_ERROR_USAGE,
                           by == PALEO      ? "--model paleo"
                           : by == ROOFLINE ? "--model roofline"
                           : by == PRIOR    ? "--model auto"
                                            : "another --model, or leave it away",
                           "option '--%s' does nothing with --model %s", option->name, name);
            return false;
        }
    }
    if (o->optimizer && o->forward_only) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave one of them out",
                       "option '--optimizer' does nothing with --forward-only: no weights are "
                       "updated");
        return false;
    }
    if (o->gpu && ((strcmp(o->gpu, "all") == 0 && model != PRIOR) ||
                   (g_str_has_prefix(o->gpu, "paleo:") && model != PALEO))) {
        orch_error_set(error, ORCH_ERROR_USAGE, model == PRIOR ? "--model paleo" : "--model auto",
                       "--gpu %s does not go with --model %s", o->gpu, name);
        return false;
    }
    return true;
}

/* Checks the arguments of --curve, which reads stored runs, and of the other models, which do not.
 */
static bool curve_fits(const struct predict_options *o, int arg_count, GError **error)
{
    if (o->curve && !o->net && (o->gpu || o->input || o->classes)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add --net NAME, the network that was not run",
                       "option '--%s' does nothing with --curve alone",
                       o->gpu     ? "gpu"
                       : o->input ? "input"
                                  : "classes");
        return false;
    }
    for (const struct orch_option *option = OPTIONS; option->name; option++) {
        if (!is_given(o, option) || (looked_at_by(option->name) & (o->curve ? CURVE : MODELS)))
            continue;
        orch_error_set(
            error, ORCH_ERROR_USAGE, o->curve ? "leave one of them out" : "add --curve RUN",
            "option '--%s' does nothing %s --curve", option->name, o->curve ? "with" : "without");
        return false;
    }
    if (!o->curve && arg_count) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "a network is named by --net, a GPU by --gpu; stored runs by --curve RUN",
                       "orch predict takes no arguments but with --curve");
        return false;
    }
    return true;
}

static int answer(struct orch_cli *cli, const struct predict_options *o,
                  struct orch_time_question *q, GError **error)
{
    bool is_paleo = o->model && strcmp(o->model, "paleo") == 0;
    if (is_paleo || g_strcmp0(o->gpu, "all") == 0)
        orch_time_question_assume_stem(q);
    if (is_paleo)
        return predict_paleo(cli, o, q, error);
    if (!o->gpu) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --gpu V100, or --gpu all",
                       "on which GPU?");
        return -1;
    }
    if (o->model && strcmp(o->model, "roofline") == 0)
        return predict_roofline(cli, o, q, error);
    if (strcmp(o->gpu, "all") == 0)
        return predict_rank(cli, o, q, error);
    if (o->pareto) {
        orch_error_set(error, ORCH_ERROR_USAGE, "--gpu all",
                       "option '--pareto' is a chart of several GPUs");
        return -1;
    }
    return predict_step(cli, o, q, error);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct predict_options *o = options;
    struct orch_time_question q = {0};
    if (o->score && !o->gpu && !o->net)
        return forecast_score(cli, error);
    if (o->score) {
        orch_error_set(error, ORCH_ERROR_USAGE, "orch predict --score",
                       "--score is about runs that ended: it takes no GPU and no network");
        return -1;
    }
    if (!is_model(o->model, error) || !orch_format_check(o->format, error) ||
        !curve_fits(o, cli->arg_count, error) || !options_fit(o, error))
        return -1;
    if (cli->json && o->format) {
        orch_error_set(error, ORCH_ERROR_USAGE, "one of them",
                       "--json and --format both say how to print");
        return -1;
    }
    if (o->curve)
        return predict_curve(cli, o, error);
    int status = predict_question(&q, o, error) ? answer(cli, o, &q, error) : -1;
    orch_time_question_release(&q);
    return status;
}

const struct orch_command ORCH_COMMAND_PREDICT = {
    .name = "predict",
    .group = "Networks and hardware",
    .summary = "time and cost of a training that has not run",
    .usage = "[--curve RUN...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct predict_options),
    .about =
        "Answers with the time of a step, an epoch and all, the cost, and an interval; it first "
        "says\n"
        "what it assumed and which option changes it. Each answer names its tier: measured (runs "
        "of\n"
        "this configuration are in the store), fitted (a predictor learned from the store's runs "
        "of\n"
        "this GPU), transferred (a white box distilled from public measurements of other GPUs, "
        "shifted\n"
        "by your runs where there are any), prior (a roofline by specification). The interval "
        "holds\n"
        "90 % of what was left out when it was made.\n"
        "\n"
        "--model paleo gives the numbers of PALEO (Qi et al. 2017), from a network of the zoo or "
        "a\n"
        "layer table; what is added to it (ring, hierarchical, --overlap, --all-layers) is named "
        "as\n"
        "such. --model roofline is the bound from below, by batch or, with --layers, by layer.\n"
        "\n"
        "--curve fits the loss of stored runs, by the stages of their learning rate, and says "
        "when\n"
        "they reach a loss or an accuracy at their own speed (docs/curves.md). With --net it also\n"
        "predicts the curve of a network that was not run, from those of the runs' networks; "
        "--gpu\n"
        "names one of their devices.",
    .examples =
        "orch predict --gpu V100 --net resnet50   # 90 epochs of ImageNet\n"
        "orch predict --gpu all --net resnet-cifar:44 --dataset cifar10 --epochs 100   # ranked\n"
        "orch predict --model paleo --net inception_v3 --gpu K80 --workers 1,2,4,8 --scaling "
        "strong "
        "--batch 128 --dataset 50000   # a scaling forecast\n"
        "orch predict --model roofline --net vgg16 --gpu T4 --batch 1,8,64,512   # will it fit?\n"
        "orch predict --curve @last --target-accuracy 92%   # how long until 92 %?\n"
        "orch predict --curve --where 'recipe=hw4' --net resnet-cifar:44   # a network not run",
    .run = run,
};
