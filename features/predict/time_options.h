/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that `orch predict` and `orch paleo` share, and the question that they describe. */
#ifndef ORCH_FEATURES_PREDICT_TIME_OPTIONS_H
#define ORCH_FEATURES_PREDICT_TIME_OPTIONS_H

#include "core/cli/cli.h"
#include "features/predict/time_question.h"

/** Options as typed; NULL: absent. */
struct time_options {
    const char *gpu, *net, *net_table, *input, *classes;
    const char *dataset, *batches, *workers, *scaling, *epochs;
    const char *precision, *optimizer, *threads, *model;
    const char *network, *per_node, *scheme;
    const char *price, *price_kwh, *grid, *cloud;
    const char *ppp_comp, *ppp_comm;
    const char **calibrate, **without;
    const char *tokens, *attention, *loss, *watts;
    const char *trainable, *lora_rank, *base_bits, *parallel;
    bool spot, forward_only, compiled, checkpointing;
};

/* Rows of a table of options; the arguments are the offsets of their fields. */
/* clang-format off */
#define TIME_OPTION(name_, letter_, value_, kind_, offset_, help_)                                 \
    {.name = name_, .letter = letter_, .value = value_, .kind = kind_, .offset = offset_,          \
     .help = help_}
#define TIME_NETWORK_OPTIONS(net, net_table, input, classes)                                       \
    TIME_OPTION("net", 'n', "NAME", ORCH_OPT_TEXT, net, "a network of 'orch net ls', or a file (.onnx, .jsonl, .csv)"),\
    TIME_OPTION("net-table", 0, "FILE.csv", ORCH_OPT_TEXT, net_table,                                         \
     "table of layers that contains --net NAME"),                                                \
    TIME_OPTION("input", 'i', "CxHxW", ORCH_OPT_TEXT, input, "size of one image"),                            \
    TIME_OPTION("classes", 0, "N", ORCH_OPT_TEXT, classes, "outputs of the classifier")
#define TIME_WORK_OPTIONS(dataset, batches, workers, scaling)                                      \
    TIME_OPTION("dataset", 'd', "NAME|N", ORCH_OPT_TEXT, dataset,                                             \
     "imagenet, cifar10, ..., or a number of samples"),                                    \
    TIME_OPTION("batch", 'b', "N,...", ORCH_OPT_TEXT, batches,                                                \
     "batch size of a worker (with --scaling strong: of all workers)"),                         \
    TIME_OPTION("workers", 'w', "N,...", ORCH_OPT_TEXT, workers, "number of devices (workers)"),    \
    TIME_OPTION("scaling", 0, "weak|strong", ORCH_OPT_TEXT, scaling,                                          \
     "weak (default): a batch per worker; strong: all share one batch")
#define TIME_PRECISION_HELP                                                                        \
    "fp32, fp32-ieee, tf32, fp16, bf16, fp64 or auto"
#define TIME_LINK_OPTIONS(network, per_node)                                                       \
    TIME_OPTION("network", 0, "LINK", ORCH_OPT_TEXT, network,                                                 \
     "link between workers: ethernet10, infiniband-hdr, ..."),                  \
    TIME_OPTION("per-node", 0, "N", ORCH_OPT_TEXT, per_node,                                                  \
     "workers in a node (--network links the nodes)")
#define TIME_PRICE_OPTIONS(price, cloud, spot)                                                     \
    TIME_OPTION("price", 0, "USD", ORCH_OPT_TEXT, price, "price of a device hour"),                           \
    TIME_OPTION("cloud", 0, "NAME", ORCH_OPT_TEXT, cloud, "prices of this cloud: aws, azure, gcp, lambda, ..."), \
    TIME_OPTION("spot", 0, NULL, ORCH_OPT_FLAG, spot, "use spot prices")
#define TIME_SHARE_OPTIONS(ppp_comp, ppp_comm, or_else)                                            \
    TIME_OPTION("ppp-comp", 0, "SHARE", ORCH_OPT_TEXT, ppp_comp,                                              \
     "share of the GPU's peak speed that is reached, 0 to 1" or_else),                               \
    TIME_OPTION("ppp-comm", 0, "SHARE", ORCH_OPT_TEXT, ppp_comm,                                             \
     "share of the link's bandwidth that is reached, 0 to 1")
/* clang-format on */

/** Fills in the question from the options. `is_paleo`: with PALEO's defaults and names; device,
 * link and scheme are then left to orch_paleo_steps_new. False with an error that names the option.
 * The caller releases it with orch_time_question_release, also after an error. */
bool orch_cli_time_options_read(struct orch_cli *cli, struct orch_time_question *q,
                                const struct time_options *o, bool is_paleo, GError **error);
/** Prints the assumptions as text, one per line. */
void orch_cli_time_assumptions_print(const struct orch_time_question *q);

#endif
