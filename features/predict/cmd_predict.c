/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict`: the time and cost of a training before it runs. */
#include "features/predict/step_show.h"

#include "core/schedule/limit_options.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#define AT(member) offsetof(struct predict_options, member)

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct predict_options, time.gpu, TEXT, "gpu", .letter = 'g', .value = "NAME",
                .help = "V100, 8xH100, a list (V100,A100), all GPUs (all), or this CPU (here)"),
    TIME_NETWORK_OPTIONS(AT(time.net), AT(time.net_table), AT(time.input), AT(time.classes)),
    ORCH_OPTION(struct predict_options, time.tokens, TEXT, "tokens", .value = "N",
                .help = "length of a sequence"),
    TIME_WORK_OPTIONS(AT(time.dataset), AT(time.batches), AT(time.workers), AT(time.scaling)),
    ORCH_OPTION(struct predict_options, time.epochs, TEXT, "epochs", .letter = 'e', .value = "N",
                .help = "number of epochs"),
    ORCH_OPTION(struct predict_options, time.precision, TEXT, "precision", .value = "NAME",
                .help = "fp32, fp32-ieee, tf32, fp16, bf16, fp8, fp4, fp64 or auto"),
    ORCH_OPTION(struct predict_options, time.optimizer, TEXT, "optimizer", .value = "NAME",
                .help = "sgd, momentum (default), adam, adamw (default for transformers)"),
    ORCH_OPTION(struct predict_options, time.forward_only, FLAG, "forward-only",
                .help = "inference: no backward pass"),
    ORCH_OPTION(struct predict_options, time.attention, TEXT, "attention", .value = "KIND",
                .help = "fused (default) or eager"),
    ORCH_OPTION(struct predict_options, time.compiled, FLAG, "compile",
                .help = "transformer under torch.compile"),
    ORCH_OPTION(struct predict_options, time.loss, TEXT, "loss", .value = "KIND",
                .help = "loss of a language model: plain, or fused (less memory)"),
    ORCH_OPTION(struct predict_options, time.checkpointing, FLAG, "checkpointing",
                .help = "compute activations again: less memory, more time"),
    ORCH_OPTION(struct predict_options, time.trainable, TEXT, "trainable", .value = "SHARE|BLOCKS",
                .help = "train only the last 2 blocks (2) or 0.1 of the parameters (0.1)"),
    ORCH_OPTION(struct predict_options, time.lora_rank, TEXT, "lora-rank", .value = "R",
                .help = "train only adapters of rank R (LoRA)"),
    ORCH_OPTION(struct predict_options, time.base_bits, TEXT, "base-bits", .value = "8|4",
                .help = "with --lora-rank: bits of each frozen weight (QLoRA)"),
    ORCH_OPTION(struct predict_options, time.watts, TEXT, "watts", .value = "N",
                .help = "power limit of the GPU, in watts"),
    ORCH_OPTION(struct predict_options, time.threads, TEXT, "threads", .value = "N",
                .help = "with --gpu here: threads of the training"),
    TIME_LINK_OPTIONS(AT(time.network), AT(time.per_node)),
    ORCH_OPTION(struct predict_options, time.parallel, TEXT, "parallel", .value = "WAY=N,...",
                .help = "dp=8, fsdp=8 (data), tp=2 (tensor), pp=4 (pipeline), ep=8 (expert), best"),
    ORCH_OPTION(struct predict_options, time.scheme, TEXT, "scheme", .value = "NAME",
                .help = "gradient exchange: ring, tree, butterfly, one-to-all or hierarchical"),
    TIME_PRICE_OPTIONS(AT(time.price), AT(time.cloud), AT(time.spot)),
    ORCH_OPTION(struct predict_options, time.price_kwh, TEXT, "price-kwh", .value = "USD",
                .help = "price of electricity, for the cost of the GPUs' energy"),
    ORCH_OPTION(struct predict_options, time.grid, TEXT, "grid", .value = "COUNTRY|N",
                .help = "CO2 of the GPUs' energy: FR, DE, US, ..., or grams per kWh"),
    ORCH_OPTION(struct predict_options, budget, TEXT, "budget", .value = "USD",
                .help = "mark trainings that cost over USD (5usd); --gpu all leaves them out"),
    ORCH_OPTION(struct predict_options, deadline, TEXT, "deadline", .value = "WHEN",
                .help = "mark trainings that end after WHEN (18:00); --gpu all leaves them out"),
    ORCH_OPTION(struct predict_options, pareto, TEXT, "pareto", .value = "FILE",
                .help = "with --gpu all: draw time against cost (.svg, .png, .pdf)"),
    ORCH_OPTION(struct predict_options, explain, FLAG, "explain",
                .help = "show what the forecast is computed from"),
    ORCH_OPTION(struct predict_options, time.model, TEXT, "model", .letter = 'm', .value = "NAME",
                .help = "method: auto (the default), transferred or prior"),
    ORCH_OPTION(struct predict_options, time.without, LIST, "without", .value = "SOURCE",
                .help = "ignore measurements of this source: timm, lambda, ..."),
    ORCH_OPTION(struct predict_options, time.calibrate, LIST, "calibrate", .value = "RUN",
                .help = "correct the forecast by its error for this finished run"),
    TIME_SHARE_OPTIONS(AT(time.ppp_comp), AT(time.ppp_comm), ", or 'measured'"),
    ORCH_OPTION(struct predict_options, experiment, TEXT, "experiment", .value = "NAME",
                .help = "forecast a run of this experiment"),
    ORCH_OPTION(struct predict_options, sweeps, LIST, "sweep", .letter = 'x',
                .value = "PARAM=A,B,...",
                .help = "with --experiment: its parameters (n=100,200,batch=64)"),
    ORCH_OPTION(struct predict_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

static bool is_given(const struct predict_options *o, const struct orch_option *option)
{
    const char *at = (const char *)o + option->offset;
    return option->kind == ORCH_OPT_FLAG ? *(const bool *)at
                                         : *(const void *const *)(const void *)at != NULL;
}

/* With --experiment only its own options may be given, so that none is silently ignored. */
static bool experiment_fits(const struct predict_options *o, GError **error)
{
    static const char *const own[] = {"experiment", "sweep", "format", NULL};
    for (const struct orch_option *option = OPTIONS; option->name; option++) {
        if (g_strv_contains(own, option->name) || !is_given(o, option))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '--%s' excludes '--experiment'", option->name);
        return false;
    }
    return true;
}

static bool is_model(const char *name, GError **error)
{
    static const char *const names[] = {"auto", "transferred", "prior", NULL};
    if (!name || g_strv_contains(names, name))
        return true;
    g_autofree char *near = orch_suggest_hint(name, names);
    orch_error_set(error, ORCH_ERROR_USAGE, near ? near : "use auto, transferred or prior",
                   "option '--model': unknown value '%s'", name);
    return false;
}

static bool refuse(const char *hint, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "%s", what);
    return false;
}

/* Whether an argument, or the network, is a server of language models. */
static bool asks_for_serving(const struct orch_cli *cli, const struct time_options *t)
{
    static const char *const words[] = {"serving",  "serve",  "inference", "generate", "generation",
                                        "decode",   "vllm",   "sglang",    "tgi",      "triton",
                                        "tensorrt", "trtllm", "ollama",    "llamacpp", NULL};
    for (int i = 0; words[i]; i++) {
        bool is_net = t->net && orch_name_is_same(words[i], t->net);
        if (is_net || (cli->arg_count && orch_name_is_same(words[i], cli->args[0])))
            return true;
    }
    return false;
}

static bool options_fit(const struct orch_cli *cli, const struct predict_options *o, GError **error)
{
    const struct time_options *t = &o->time;
    if (o->sweeps && !o->experiment)
        return refuse("add --experiment NAME", "option '--sweep' needs '--experiment'", error);
    if (asks_for_serving(cli, t))
        return refuse(
            "--forward-only forecasts one pass over a prompt",
            "serving is not forecast: 'orch predict' forecasts trainings and single passes", error);
    if (cli->arg_count)
        return refuse("name a network with --net and a GPU with --gpu",
                      "'orch predict' takes no arguments, only options", error);
    if (!is_model(t->model, error) || !orch_cli_format_check(o->format, error))
        return false;
    if (cli->json && o->format)
        return refuse("leave out one of the two", "option '--json' excludes '--format'", error);
    if (t->optimizer && t->forward_only)
        return refuse("leave out one of the two", "option '--optimizer' excludes '--forward-only'",
                      error);
    return true;
}

/* Reads the limits. The training is assumed to start now. */
static bool read_limits(const struct predict_options *o, struct orch_time_question *q,
                        GError **error)
{
    int64_t now_ns = orch_now_ns(), end_ns = now_ns;
    if (o->budget && !orch_budget_read(o->budget, &q->budget_usd, error))
        return false;
    if (o->deadline && !orch_deadline_read(o->deadline, now_ns, &end_ns, error))
        return false;
    if (o->deadline)
        q->deadline_s = (double)(end_ns - now_ns) / 1e9;
    return true;
}

static int answer(struct orch_cli *cli, const struct predict_options *o,
                  struct orch_time_question *q, GError **error)
{
    const char *why =
        q->is_ranking && q->wants_best
            ? "option '--parallel': 'best' works with one model of GPU, not with several"
        : o->pareto && !q->is_ranking ? "option '--pareto' needs several GPUs"
                                      : NULL;
    if (why) {
        refuse(q->is_ranking ? "name one model of GPU, for example --gpu 8xH100" : "use --gpu all",
               why, error);
        return -1;
    }
    if (q->is_ranking)
        orch_time_question_assume_stem(q);
    return (q->is_ranking ? orch_cli_predict_rank : orch_cli_predict_step)(cli, o, q, error);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct predict_options *o = options;
    struct orch_time_question q = {0};
    int status = -1;
    if (!options_fit(cli, o, error) || (o->experiment && !experiment_fits(o, error)))
        return -1;
    if (o->experiment)
        return orch_cli_predict_setting(cli, o, error);
    if (orch_cli_time_options_read(cli, &q, &o->time, false, error) && read_limits(o, &q, error))
        status = answer(cli, o, &q, error);
    orch_time_question_release(&q);
    return status;
}

static const struct orch_option_group GROUPS[] = {
    {"the training",
     "net -net-table input -classes -tokens dataset batch epochs precision optimizer forward-only "
     "-attention -compile -loss -checkpointing -trainable -lora-rank -base-bits"},
    {"the machine", "gpu workers scaling -per-node network parallel -scheme -watts -threads"},
    {"price and limits", "price -cloud -spot -price-kwh -grid budget deadline pareto"},
    {"the forecast", "-model calibrate -without -ppp-comp -ppp-comm explain"},
    {"your own script", "experiment sweep"},
    {0}};

const struct orch_command ORCH_COMMAND_PREDICT = {
    .name = "predict",
    .group = "Decide",
    .is_listed = true,
    .summary = "predict the time and cost of a training that has not run",
    .usage = "",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct predict_options),
    .groups = GROUPS,
    .about = "Prints the time of a step, an epoch and the whole training (with a 90 % interval), "
             "the cost, the assumptions, and the basis of the forecast.\n\n"
             "The basis (tier) is the first of these that has data:\n\n"
             "  measured      the store's runs of this setting\n"
             "  fitted        a predictor trained on the store's runs of this GPU\n"
             "  same-step     step times of this network on this GPU, yours and published ones\n"
             "  same-chip     such times of other networks on this GPU\n"
             "  same-network  such times of this network on other GPUs\n"
             "  transferred   an analytical model, fitted to public measurements\n"
             "  prior         the roofline of the GPU's data sheet\n\n"
             "For a script of your own, --experiment forecasts the wall time of one run with the "
             "parameters of -x. Train a predictor first: orch predictor train --where 'experiment "
             "= NAME'.",
    .examples = "orch predict --gpu V100 --net resnet50   # 90 epochs of ImageNet\n"
                "orch predict --gpu all --net resnet-cifar:44 --dataset cifar10   # ranked\n"
                "orch predict --gpu all --net resnet50 --deadline 36h --pareto gpus.svg\n"
                "orch predict --experiment fit -x n=300,batch=256",
    .run = run,
};
