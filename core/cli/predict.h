/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict`: the question as settled from options and assumptions, and the models that answer
 * it. Times in seconds (PALEO's own output in milliseconds), money in USD. */
#ifndef ORCH_CORE_CLI_PREDICT_H
#define ORCH_CORE_CLI_PREDICT_H

#include "core/cli/cli.h"
#include "core/hardware/hardware.h"

#include "lib/net/cost.h"
#include "predictors/exchange.h"
#include "predictors/geometry.h"
#include "predictors/paleo.h"

struct predict_options {
    const char *gpu, *net, *net_table, *input, *dataset, *precision, *optimizer, *model;
    const char *batches, *workers, *scaling, *network, *scheme, *cloud, *format;
    const char *epochs, *ppp_comp, *ppp_comm, *algorithm, *parallel;
    const char **split;
    const char *classes, *per_node_text, *price_text;
    const char *threads, *budget, *deadline, *pareto;
    const char **calibrate;
    bool pipeline, spot, forward_only, layers, overlap, all_layers, explain, score;

    /* of --curve */
    const char *where, *metric, *accuracy_metric, *target_loss, *target_accuracy, *form, *weights,
        *outliers;
    bool curve, normalised;
};

/** Something that was not said on the command line. */
struct assumption {
    char *what;         /* "batch size" */
    char *value;        /* "64 images a worker" */
    const char *option; /* that changes it */
};

#define PREDICT_LIST_MAX 64

struct question {
    const struct predict_options *o;
    struct orch_hardware *hardware;
    struct orch_net *net;           /* NULL when the network is a layer table */
    struct orch_net_cost *costs;    /* of net */
    struct orch_layer_table *table; /* NULL until a model wants it */
    int64_t batches[PREDICT_LIST_MAX], workers[PREDICT_LIST_MAX];
    int batch_count, worker_count;
    bool strong;
    int64_t images, epochs;    /* images 0: not known */
    double ppp_comp, ppp_comm; /* NaN: not said */
    double price;              /* NaN: not said */
    double budget_usd;         /* NaN: not said */
    double deadline_s;         /* of the whole training, NaN: not said */
    int64_t per_node, threads; /* 0: not said */
    int states_per_weight;
    const struct orch_link *link; /* NULL: what joins the GPUs of a node */
    GPtrArray *assumptions;       /* struct assumption * */
};

/** Settles everything but the device. False with an error that names the option. The caller
 * releases. */
bool question_settle(struct question *q, const struct predict_options *o, GError **error);
void question_release(struct question *q);
/** What a layer table (orch_layer_table_read, or of the graph) is asked for. Borrowed. */
const struct orch_layer_table *question_table(struct question *q);
G_GNUC_PRINTF(4, 5)
void question_assume(struct question *q, const char *what, const char *option, const char *format,
                     ...);
/** Prints the assumptions as text, one a line. */
void question_say_assumptions(const struct question *q);
json_t *question_assumptions_json(const struct question *q);
/** Images of one worker of `workers`, for `batch` as given. */
int64_t question_worker_batch(const struct question *q, int64_t batch, int64_t workers);
/** Precision by its name; "auto" and NULL: tf32 where the GPU has it (PyTorch's convolutions), else
 * fp32. */
bool question_precision(const struct question *q, const struct orch_gpu_spec *gpu,
                        enum orch_precision *out, GError **error);

/** Price of an hour of one device. */
struct rate {
    double usd_per_hour; /* 0: not known */
    char *from;          /* "aws p3.2xlarge, us-east-1, as of 2026" */
};
struct rate question_rate(const struct question *q, const char *gpu);
/** The same of one cloud (NULL: any). */
struct rate question_rate_of(const struct question *q, const char *gpu, const char *cloud);
/** What the hardware's prices say, without --price. */
struct rate rate_of(const struct orch_hardware *hardware, const char *gpu, const char *cloud,
                    bool spot);
void rate_release(struct rate *rate);
/** The clouds that have prices; NULL-terminated. */
extern const char *const PRICED_CLOUDS[];
/** Of answers in order of their time: is nothing before this one as cheap? `*inout_cheapest`:
 * INFINITY at first. False for NaN. */
bool pareto_step(double usd, double *inout_cheapest);
/** "$12.34"; "-" for NaN. The caller frees. */
char *money_format(double usd);

/* The models: each prints its answer and returns an exit status, or -1 with an error. */
/** By tier: measured, fitted, transferred, prior. */
int predict_step(struct orch_cli *cli, struct question *q, GError **error);
/** The same for all GPUs, ranked, with the Pareto set of time and cost. */
int predict_rank(struct orch_cli *cli, struct question *q, GError **error);
int predict_paleo(struct orch_cli *cli, struct question *q, GError **error);
/** The rest of predict_paleo with --parallel model or hybrid. */
int predict_paleo_split(struct orch_cli *cli, struct question *q,
                        struct orch_paleo_options *options, GError **error);
/** --curve: of the runs that the arguments and --where name; no question is settled for it. */
int predict_curve(struct orch_cli *cli, const struct predict_options *o, GError **error);
int predict_roofline(struct orch_cli *cli, struct question *q, GError **error);

#endif
