/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question about the time and cost of a training: the network, the work, settings common to all
 * devices, and the assumptions made for unspecified settings. Times in seconds, money in USD. */
#ifndef ORCH_FEATURES_PREDICT_TIME_QUESTION_H
#define ORCH_FEATURES_PREDICT_TIME_QUESTION_H

#include "core/workspace/open_network.h"
#include "lib/devices/rate.h"

#include "features/predict/steps/parallel.h"
#include "lib/steptime/kernel_step.h"
#include "predictors/steps/geometry.h"
#include "predictors/steps/gradient_exchange.h"

#include <jansson.h>

/** A setting that the user did not specify, with the assumed value. */
struct orch_assumption {
    char *what;         /* "batch size" */
    char *value;        /* "64 images a worker" */
    const char *option; /* the option of `orch predict` that changes it, or NULL */
};

/** Which estimates may be used. */
enum orch_time_model {
    ORCH_TIME_AUTO,        /* the best tier with an estimate */
    ORCH_TIME_TRANSFERRED, /* the analytical model calibrated on public measurements alone */
    ORCH_TIME_PRIOR,       /* the roofline with published shares alone */
};

#define ORCH_TIME_LIST_MAX 64

struct orch_time_question {
    struct orch_hardware *hardware;
    const char *gpu; /* as typed, without a number: "V100", "V100,A100", "all". Borrowed, or NULL */
    GPtrArray *gpus; /* const struct orch_gpu_spec *: these; NULL: not of 'orch predict' */
    bool is_ranking; /* several were asked for */
    struct orch_net *net;           /* NULL when only a layer table is known */
    struct orch_net_cost *costs;    /* of net */
    struct orch_layer_table *table; /* made by orch_time_question_table */
    int64_t batches[ORCH_TIME_LIST_MAX], workers[ORCH_TIME_LIST_MAX];
    int batch_count, worker_count;
    bool strong;                         /* the workers share the batch */
    int64_t images, epochs;              /* images 0: not known */
    double ppp_comp, ppp_comm;           /* NaN: not specified */
    bool ppp_is_measured;                /* ppp_comp is to be measured from the store's runs */
    double price;                        /* per device hour; NaN: not specified */
    double price_kwh;                    /* of electricity, in dollars; NaN: not specified */
    double grid_g;                       /* CO2 of a kWh in grams; NaN: not specified */
    const char *grid;                    /* the country whose mean that is; NULL: none. Static */
    double budget_usd;                   /* NaN: not specified */
    double deadline_s;                   /* for the whole training; NaN: not specified */
    int64_t per_node, threads;           /* 0: not specified */
    struct orch_roofline_work work;      /* of a step; what devices and workers add is not in it */
    struct orch_kernel_switches kernels; /* of a transformer; format else than 16 bits: bf16 */
    bool is_parallel;                    /* the devices share the network as `parallel` says */
    struct orch_parallel parallel;
    bool wants_best; /* the fastest way is to be found: features/predict/parallel_best.h */
    enum orch_time_model model;
    /* specified by the user, not assumed */
    bool has_precision, has_scheme, has_optimizer, has_workers;
    enum orch_precision precision;
    enum orch_exchange_scheme scheme;
    const struct orch_link *link; /* NULL: the link between the GPUs of a node */
    const char *cloud;            /* NULL: any. Borrowed */
    bool spot;
    const char *const *without;   /* sources of published steps that are left out, or NULL */
    const char *const *calibrate; /* the only runs that may scale the estimate, or NULL. Borrowed */
    GPtrArray *assumptions;       /* struct orch_assumption * */
};

/** Nothing is specified. */
extern const struct orch_time_question ORCH_TIME_QUESTION_NONE;
/** Initialises such a question and loads the hardware tables. False when a hardware file is
 * invalid. The caller releases. */
bool orch_time_question_init(struct orch_time_question *question, GError **error);
void orch_time_question_release(struct orch_time_question *question);

/** The properties of a data set that a forecast needs. */
struct orch_usual_data {
    const char *name;  /* NULL ends the table */
    int64_t images;    /* for training, as published */
    const char *input; /* "CxHxW"; NULL: as the network has it */
    int classes;
    int epochs; /* of the usual training; 0: there is no usual number */
    const char *epochs_of;
};
/** The table, ended by a NULL name. */
extern const struct orch_usual_data ORCH_USUAL_DATA[];
/** Finds a data set by any of its names; NULL when the table has none. */
const struct orch_usual_data *orch_usual_data_find(const char *name);

/** Opens the network from a layer table (path.csv with `request->table_net`), the zoo or a file.
 * A request without input or classes gets those of `set` (may be NULL). `notes` as in
 * orch_network_open. With `table_only` a layer table is not converted to a network. */
bool orch_time_question_open_net(struct orch_time_question *question,
                                 struct orch_net_request *request,
                                 const struct orch_usual_data *set, GPtrArray *notes,
                                 GError **error);
/** Uses a table of layers as the network; `net` NULL: the table's only network. `path` NULL: `net`
 * is a network of PALEO's repository, "paleo:inception_v3". */
bool orch_time_question_open_table(struct orch_time_question *question, const char *path,
                                   const char *net, bool table_only, GError **error);
/** Sets the work: the number of images from `set`, else as already set, else guessed from the
 * network's input; `epochs` 0: the data set's usual number, else 1. With `says_epochs` an assumed
 * number of epochs is recorded as an assumption. */
void orch_time_question_set_work(struct orch_time_question *question,
                                 const struct orch_usual_data *set, int64_t epochs,
                                 bool says_epochs);

/** The name of one sample of the network's input: "image" or "sequence". */
const char *orch_time_question_sample(const struct orch_time_question *question);
/** The network as a table of layers. Borrowed. */
const struct orch_layer_table *orch_time_question_table(struct orch_time_question *question);
G_GNUC_PRINTF(4, 5)
void orch_time_question_assume(struct orch_time_question *question, const char *what,
                               const char *option, const char *format, ...);
json_t *orch_time_question_assumptions_json(const struct orch_time_question *question);
/** When the images are small and the zoo has a variant for them, adds the assumption that the
 * ImageNet stem is meant, with the ratio of multiply-adds of the variant (small_images.c). */
void orch_time_question_assume_stem(struct orch_time_question *question);
/** The devices share the training so, with `batch` samples a replica. */
void orch_time_question_set_parallel(struct orch_time_question *question,
                                     const struct orch_parallel *parallel, int64_t batch);
/** The most workers that are asked for. */
int64_t orch_time_question_most(const struct orch_time_question *question);
/** How GPUs are linked. */
struct orch_time_nodes {
    const struct orch_link *within, *link; /* in a node; between nodes, or else as `within`, NULL:
                                              unknown */
    int64_t gpus;                          /* of a node, at most all workers */
    bool is_assumed;                       /* more than a usual node has, and nothing is said */
};
/** Without --network and --per-node: the GPU's usual nodes, of so many GPUs that all are full and
 * none is split that shares layers. */
struct orch_time_nodes orch_time_question_nodes(const struct orch_time_question *question,
                                                const struct orch_gpu_spec *gpu, int64_t workers);
/** The exchange between workers on GPUs of this kind. */
struct orch_exchange orch_time_question_exchange(const struct orch_time_question *question,
                                                 const struct orch_gpu_spec *gpu, int64_t workers);

#endif
