/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/time_question.h"

#include "lib/base/error.h"
#include "lib/data/catalogue.h"
#include "predictors/paleo/paleo.h"
#include "predictors/steps/from_net.h"

#include <math.h>
#include <string.h>

/* ---- assumptions -------------------------------------------------------------------------------
 */

static void free_assumption(gpointer data)
{
    struct orch_assumption *a = data;
    g_free(a->what);
    g_free(a->value);
    g_free(a);
}

void orch_time_question_assume(struct orch_time_question *q, const char *what, const char *option,
                               const char *format, ...)
{
    struct orch_assumption *a = g_new0(struct orch_assumption, 1);
    va_list args;
    va_start(args, format);
    a->value = g_strdup_vprintf(format, args);
    va_end(args);
    a->what = g_strdup(what);
    a->option = option;
    g_ptr_array_add(q->assumptions, a);
}

json_t *orch_time_question_assumptions_json(const struct orch_time_question *q)
{
    json_t *list = json_array();
    for (guint i = 0; i < q->assumptions->len; i++) {
        const struct orch_assumption *a = q->assumptions->pdata[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s*}", "what", a->what, "value",
                                              a->value, "option", a->option));
    }
    return list;
}

/* ---- the work ----------------------------------------------------------------------------------
 */

#define CIFAR_EPOCHS "He et al. 2015, 64,000 steps of 128"
const struct orch_usual_data ORCH_USUAL_DATA[] = {
    {"imagenet", 1281167, NULL, 1000, 90, "He et al. 2015"},
    {"cifar10", 50000, "3x32x32", 10, 164, CIFAR_EPOCHS},
    {"cifar100", 50000, "3x32x32", 100, 164, CIFAR_EPOCHS},
    {"fashion-mnist", 60000, "1x28x28", 10, 0, NULL},
    {"mnist", 60000, "1x28x28", 10, 0, NULL},
    {"svhn", 73257, "3x32x32", 10, 0, NULL},
    {0},
};

const struct orch_usual_data *orch_usual_data_find(const char *name)
{
    for (const struct orch_usual_data *d = ORCH_USUAL_DATA; d->name; d++)
        if (orch_data_set_is_named(d->name, name))
            return d;
    return NULL;
}

/* The data set that the network's own input suggests; NULL: none. */
static const struct orch_usual_data *guess_data(const struct orch_net *net)
{
    if (!net)
        return NULL;
    struct orch_net_shape in = net->input;
    if (in.c == 3 && in.h >= 128)
        return orch_usual_data_find("imagenet");
    if (in.c == 3 && in.h == 32)
        return orch_usual_data_find("cifar10");
    return in.c == 1 && in.h == in.w && in.h <= 32 && in.h > 1
               ? orch_usual_data_find("fashion-mnist")
               : NULL;
}

const char *orch_time_question_sample(const struct orch_time_question *q)
{
    return q->net && orch_net_is_sequence(q->net) ? "sequence" : "image";
}

void orch_time_question_set_work(struct orch_time_question *q, const struct orch_usual_data *set,
                                 int64_t epochs, bool says_epochs)
{
    if (!set && !q->images) {
        set = guess_data(q->net);
        if (set)
            orch_time_question_assume(q, "data set", "--dataset",
                                      "%s, %" G_GINT64_FORMAT " images a training epoch", set->name,
                                      set->images);
    }
    if (set)
        q->images = set->images;
    if (!q->images)
        orch_time_question_assume(q, "data set", "--dataset",
                                  "unknown, so there is no forecast of an epoch, total or cost");
    q->epochs = epochs ? epochs : set && set->epochs ? set->epochs : 1;
    if (epochs || !q->images || !says_epochs)
        return;
    if (set && set->epochs)
        orch_time_question_assume(q, "epochs", "--epochs", "%d (%s)", set->epochs, set->epochs_of);
    else
        orch_time_question_assume(q, "epochs", "--epochs", "1 (the data set has no usual number)");
}

/* ---- the network -------------------------------------------------------------------------------
 */

/* Sets the error for a data set of images where the network takes tokens. Returns false. */
static bool refuse_images(const struct orch_usual_data *set, const struct orch_net *net,
                          GError **error)
{
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "give the number of sequences of your data, for example --dataset 10000",
                   "option '--dataset': '%s' has images, but '%s' takes sequences of tokens",
                   set->name, net->name);
    return false;
}

/* Replaces the error's hint: the data set's images are too small for the network but can be
 * enlarged. */
static void hint_larger_input(struct orch_net_request request, const struct orch_usual_data *set,
                              GError **error)
{
    request.input = NULL;
    struct orch_net *net = orch_network_open(&request, NULL, NULL);
    if (!net)
        return;
    if (orch_net_is_sequence(net)) {
        g_clear_error(error);
        refuse_images(set, net, error);
        orch_net_free(net);
        return;
    }
    g_autofree char *hint =
        g_strdup_printf("to enlarge the images of %s: --input %dx%dx%d", set->name,
                        (int)net->input.c, (int)net->input.h, (int)net->input.w);
    g_autofree char *what = g_strndup((*error)->message, strcspn((*error)->message, "\n"));
    int code = (*error)->code;
    g_clear_error(error);
    orch_error_set(error, code, hint, "%s", what);
    orch_net_free(net);
}

bool orch_time_question_open_table(struct orch_time_question *q, const char *path, const char *net,
                                   bool table_only, GError **error)
{
    q->table = path ? orch_layer_table_read(path, net, error) : orch_paleo_net_table(net, error);
    if (!q->table || !orch_layer_table_check(q->table, error))
        return false;
    q->net = !table_only ? orch_net_from_layer_table(q->table, error) : NULL;
    q->costs = q->net ? orch_net_costs(q->net) : NULL;
    return table_only || q->net;
}

static void assume_input(struct orch_time_question *q, bool is_of_data)
{
    const struct orch_net_shape *in = &q->net->input;
    bool is_shorter = in->h < q->net->positions && in->w == 1;
    g_autofree char *from = is_shorter
                                ? g_strdup_printf("of at most %d tokens", (int)q->net->positions)
                                : g_strdup(is_of_data ? "the data set's" : "the network's own");
    orch_time_question_assume(q, "input", is_shorter ? "--tokens" : "--input", "%dx%dx%d, %s",
                              (int)in->c, (int)in->h, (int)in->w, from);
}

bool orch_time_question_open_net(struct orch_time_question *q, struct orch_net_request *request,
                                 const struct orch_usual_data *set, GPtrArray *notes,
                                 GError **error)
{
    const struct orch_net_reader *reader = orch_network_reader(request->name);
    const bool is_given = request->input;
    if (!is_given && set && !(reader && reader->has_fixed_input))
        request->input = set->input;
    if (!reader && !request->classes && set && set->input)
        request->classes = set->classes;
    q->net = orch_network_open(request, notes, error);
    if (!q->net && error && *error && set && set->input && !is_given)
        hint_larger_input(*request, set, error);
    /* for tokens or a detector the network's own values apply */
    if (q->net && request->input && !is_given && !orch_net_is_classifier(q->net)) {
        orch_net_free(q->net);
        request->input = NULL;
        request->classes = 0;
        q->net = orch_network_open(request, notes, error);
    }
    if (!q->net)
        return false;
    if (set && orch_net_is_sequence(q->net))
        return refuse_images(set, q->net, error);
    q->costs = orch_net_costs(q->net);
    if (!is_given)
        assume_input(q, request->input);
    return true;
}

const struct orch_layer_table *orch_time_question_table(struct orch_time_question *q)
{
    if (!q->table)
        q->table = orch_layer_table_from_net(q->net);
    return q->table;
}

/* ---- all of it ---------------------------------------------------------------------------------
 */

const struct orch_time_question ORCH_TIME_QUESTION_NONE = {
    .epochs = 1,
    .work = {.training = true, .states_per_weight = 1, .reserves_idle = true},
    .ppp_comp = (double)NAN,
    .ppp_comm = (double)NAN,
    .price = (double)NAN,
    .price_kwh = (double)NAN,
    .grid_g = (double)NAN,
    .budget_usd = (double)NAN,
    .deadline_s = (double)NAN};

bool orch_time_question_init(struct orch_time_question *q, GError **error)
{
    *q = ORCH_TIME_QUESTION_NONE;
    q->assumptions = g_ptr_array_new_with_free_func(free_assumption);
    q->hardware = orch_hardware_load(error);
    return q->hardware;
}

void orch_time_question_release(struct orch_time_question *q)
{
    orch_hardware_free(q->hardware);
    if (q->net)
        orch_net_free(q->net);
    g_free(q->costs);
    orch_layer_table_free(q->table);
    if (q->gpus)
        g_ptr_array_unref(q->gpus);
    if (q->assumptions)
        g_ptr_array_unref(q->assumptions);
}

int64_t orch_time_question_most(const struct orch_time_question *q)
{
    int64_t most = 0;
    for (int i = 0; i < q->worker_count; i++)
        most = MAX(most, q->workers[i]);
    return most;
}

struct orch_time_nodes orch_time_question_nodes(const struct orch_time_question *q,
                                                const struct orch_gpu_spec *gpu, int64_t workers)
{
    const struct orch_link *within = orch_link_within(gpu);
    bool is_one = q->per_node >= workers || !q->link; /* as far as it is said */
    struct orch_time_nodes out = {.within = within,
                                  .link = is_one ? within : q->link,
                                  .gpus = q->per_node ? MIN(q->per_node, workers) : workers,
                                  .is_assumed = !q->link && !q->per_node && workers > within->gpus};
    if (!out.is_assumed)
        return out;
    out.link = orch_link_find(within->between);
    out.gpus = within->gpus;
    while (out.gpus > 1 && (workers % out.gpus || out.gpus % MAX(1, q->parallel.tp)))
        out.gpus--;
    return out;
}

struct orch_exchange orch_time_question_exchange(const struct orch_time_question *q,
                                                 const struct orch_gpu_spec *gpu, int64_t workers)
{
    struct orch_time_nodes nodes = orch_time_question_nodes(q, gpu, workers);
    const struct orch_link *within = nodes.within, *link = nodes.link ? nodes.link : within;
    double share = isnan(q->ppp_comm) ? 0.72 : q->ppp_comm;
    struct orch_exchange out = {.scheme = ORCH_EXCHANGE_RING,
                                .workers = workers,
                                .bandwidth = link->gbit_s / 8 * 1e9 * share,
                                .latency_s = link->latency_us / 1e6,
                                .node_workers = nodes.gpus,
                                .node_bandwidth = within->gbit_s / 8 * 1e9 * share,
                                .node_latency_s = within->latency_us / 1e6};
    if (q->has_scheme)
        out.scheme = q->scheme;
    else if (nodes.gpus < workers)
        out.scheme = ORCH_EXCHANGE_HIERARCHICAL;
    if (out.scheme == ORCH_EXCHANGE_HIERARCHICAL && link->is_of_gpu)
        out.bandwidth *= (double)out.node_workers;
    return out;
}
