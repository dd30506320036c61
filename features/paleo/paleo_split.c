/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PALEO's model parallelism: a layer is split into one piece per worker. A convolution or inner
 * product computes its share of the outputs from all inputs, so it fetches the pieces of other
 * workers. A layer that keeps channels separate (pool, dropout, activation) reads only its own
 * piece. Layers that are not split run on every worker. PALEO's program compares their device (the
 * number 0) with a piece's (the text "0") and so lets them fetch every piece; this code reproduces
 * its numbers.
 */
#include "features/paleo/paleo_split.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>

/* Workers that share a fast link. Between such groups the bandwidth halves, and again with each
 * further fetch. */
#define GROUP_WORKERS 4

struct split {
    const struct orch_layer_table *table;
    const struct orch_paleo_options *options;
    int64_t workers;
    bool *is_cut;       /* by layer */
    double fetch_gib_s; /* bandwidth of a fetch, over ppp_comm */
};

static bool mixes_channels(const struct orch_layer *layer)
{
    return layer->type == ORCH_LAYER_CONV2D || layer->type == ORCH_LAYER_INNERPRODUCT;
}

static bool is_cut_parent(const struct split *split, const struct orch_layer *layer, int input)
{
    return split->is_cut[layer->parents[input]];
}

static double fetch_ms(const struct split *split, double elements, double gib_s)
{
    struct orch_paleo_device link = split->options->device;
    link.bandwidth_gib_s = gib_s;
    return orch_paleo_memory_ms(&link, split->options->ppp_comm, 4 * elements);
}

/* Time to fetch the pieces of the parents of `layer`, for its piece on worker `worker`; -1: the
 * layer is not split. */
static double fetch_of(const struct split *split, const struct orch_layer *layer, int64_t worker)
{
    double batch = (double)split->options->batch, sum = 0, gib_s = split->fetch_gib_s;
    int64_t group = MAX(worker, 0) / GROUP_WORKERS;
    bool reads_own = worker >= 0 && !mixes_channels(layer);
    int64_t parents = 0;
    for (int i = 0; i < layer->input_count; i++)
        parents += is_cut_parent(split, layer, i) && !reads_own ? split->workers : 1;
    for (int i = 0; i < layer->input_count; i++) {
        double elements = batch * (double)orch_layer_elements(layer->inputs[i]);
        if (!is_cut_parent(split, layer, i)) {
            if (worker >= 0)
                sum += fetch_ms(split, reads_own ? elements / (double)split->workers : elements,
                                gib_s);
            continue;
        }
        for (int64_t from = 0; !reads_own && from < split->workers; from++) {
            if (from == worker)
                continue;
            if (parents > 1 && from / GROUP_WORKERS != group)
                gib_s /= 2;
            sum += fetch_ms(split, elements / (double)split->workers, gib_s);
        }
    }
    return sum;
}

/* One worker's piece of a layer. Caller frees with orch_layer_free. */
static struct orch_layer *cut_layer(const struct split *split, const struct orch_layer *layer)
{
    struct orch_layer *piece = g_memdup2(layer, sizeof *layer);
    piece->name = g_strdup(layer->name);
    piece->parents = NULL;
    piece->inputs =
        g_memdup2(layer->inputs, sizeof *layer->inputs * (gsize)MAX(layer->input_count, 1));
    piece->out.c /= split->workers;
    if (mixes_channels(layer)) {
        piece->c_out /= split->workers;
        return piece;
    }
    for (int i = 0; i < layer->input_count; i++)
        piece->inputs[i].c /= split->workers;
    return piece;
}

struct sums {
    double fwd_ms, bwd_ms;             /* layers that are not split */
    double fwd_lower_ms, bwd_lower_ms; /* pieces: the slowest of each layer */
    double fwd_upper_ms, bwd_upper_ms; /* pieces: the sum of each layer */
    double whole_bytes, cut_bytes;     /* weights */
};

static void add_pieces(const struct split *split, const struct orch_layer *layer,
                       const struct orch_paleo_options *options, struct sums *sums)
{
    struct orch_layer *piece = cut_layer(split, layer);
    struct orch_paleo_layer_time time = orch_paleo_layer(piece, options, options->batch);
    orch_layer_free(piece);
    double longest = 0, all = 0;
    for (int64_t worker = 0; worker < split->workers; worker++) {
        double fetch = fetch_of(split, layer, worker);
        longest = fmax(longest, fetch);
        all += fetch;
    }
    sums->fwd_lower_ms += time.fwd_ms + longest;
    sums->bwd_lower_ms += time.bwd_ms + longest;
    sums->fwd_upper_ms += time.fwd_ms * (double)split->workers + all;
    sums->bwd_upper_ms += time.bwd_ms * (double)split->workers + all;
    sums->cut_bytes += 4.0 * (double)layer->params;
}

static struct sums sum_layers(const struct split *split)
{
    struct sums sums = {0};
    struct orch_paleo_options for_pieces = *split->options;
    for_pieces.pipeline = false; /* PALEO does not pipeline pieces */
    for (int i = 0; i < orch_layer_count(split->table); i++) {
        const struct orch_layer *layer = orch_layer_at(split->table, i);
        if (split->is_cut[i]) {
            add_pieces(split, layer, &for_pieces, &sums);
            continue;
        }
        struct orch_paleo_layer_time time =
            orch_paleo_layer(layer, split->options, split->options->batch);
        double fetch = fetch_of(split, layer, -1);
        /* in PALEO a layer that takes no time does not fetch either */
        if (time.fwd_ms > 0)
            sums.fwd_ms += time.fwd_ms + fetch;
        if (time.bwd_ms > 0)
            sums.bwd_ms += time.bwd_ms + fetch;
        sums.whole_bytes += 4.0 * (double)layer->params;
    }
    return sums;
}

/* --- which layers are split --- */

static bool check_cut(const struct split *split, const struct orch_layer *layer, GError **error)
{
    bool has_pieces =
        layer->type != ORCH_LAYER_INPUT && layer->type != ORCH_LAYER_DECONV2D && layer->groups == 1;
    for (int i = 0; i < layer->input_count && !mixes_channels(layer); i++)
        has_pieces = has_pieces && layer->inputs[i].c % split->workers == 0;
    if (has_pieces && layer->out.c % split->workers == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "choose a number of workers that divides the layer's channels",
                   "layer '%s' (%s, %" G_GINT64_FORMAT
                   " channels) cannot be split among %" G_GINT64_FORMAT " workers",
                   layer->name, orch_layer_type_name(layer->type), layer->out.c, split->workers);
    return false;
}

static bool mark_cut(const struct split *split, const char *name, GError **error)
{
    int index = orch_layer_find(split->table, name);
    if (index < 0) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();
        for (int i = 0; i < orch_layer_count(split->table); i++)
            g_ptr_array_add(names, orch_layer_at(split->table, i)->name);
        g_ptr_array_add(names, NULL);
        g_autofree char *hint = orch_suggest_hint(name, (const char *const *)(void *)names->pdata);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "network '%s' has no layer '%s'",
                       split->table->name, name);
        return false;
    }
    if (!check_cut(split, orch_layer_at(split->table, index), error))
        return false;
    split->is_cut[index] = split->workers > 1;
    return true;
}

static bool check_parents(const struct orch_layer_table *table, GError **error)
{
    for (int i = 0; i < orch_layer_count(table); i++) {
        const struct orch_layer *layer = orch_layer_at(table, i);
        for (int k = 0; k < layer->input_count; k++)
            if (layer->parents[k] < 0) {
                orch_error_set(error, ORCH_ERROR_RECIPE,
                               "add a column 'parents' to the table: names joined by '+'",
                               "the table does not say what layer '%s' reads", layer->name);
                return false;
            }
    }
    return true;
}

static bool split_init(struct split *split, const char *const *split_layers, GError **error)
{
    split->is_cut = g_new0(bool, orch_layer_count(split->table));
    if (!orch_paleo_check(split->options, split->workers, error) ||
        !check_parents(split->table, error))
        return false;
    for (; split_layers && *split_layers; split_layers++)
        if (!mark_cut(split, *split_layers, error))
            return false;
    return true;
}

bool orch_paleo_model_parallel(const struct orch_layer_table *table,
                               const struct orch_paleo_options *options,
                               const char *const *split_layers, int64_t workers,
                               struct orch_paleo_split_step *out, GError **error)
{
    struct orch_paleo_options serial = *options;
    serial.pipeline = false;
    struct split split = {table, &serial, workers, NULL, options->device.bandwidth_gib_s};
    bool good = split_init(&split, split_layers, error);
    if (good) {
        struct sums sums = sum_layers(&split);
        *out = (struct orch_paleo_split_step){
            .workers = workers,
            .fwd_lower_ms = sums.fwd_ms + sums.fwd_lower_ms,
            .bwd_lower_ms = sums.bwd_ms + sums.bwd_lower_ms,
            .fwd_upper_ms = sums.fwd_ms + sums.fwd_upper_ms,
            .bwd_upper_ms = sums.bwd_ms + sums.bwd_upper_ms,
            .update_ms =
                orch_paleo_update_ms(&options->device, sums.whole_bytes + sums.cut_bytes, false),
        };
    }
    g_free(split.is_cut);
    return good;
}

/* Elements passed from whole layers to split ones; the next batch is fetched during computation. */
static double handed_over(const struct split *split)
{
    double elements = 0;
    for (int i = 0; i < orch_layer_count(split->table); i++) {
        const struct orch_layer *layer = orch_layer_at(split->table, i);
        for (int k = 0; split->is_cut[i] && k < layer->input_count; k++)
            if (!is_cut_parent(split, layer, k))
                elements +=
                    (double)split->options->batch * (double)orch_layer_elements(layer->inputs[k]);
    }
    return elements;
}

/* The pieces process the workers' batches one after another, but fetch only once. */
static double repeat_batches(double ms, double fetch, int64_t workers)
{
    return (ms - fetch) * (double)workers + fetch;
}

bool orch_paleo_hybrid(const struct orch_layer_table *table,
                       const struct orch_paleo_options *options, const char *const *split_layers,
                       int64_t workers, struct orch_paleo_hybrid_step *out, GError **error)
{
    double link_gb_s = options->network.gbit_s / 8;
    struct split split = {table, options, workers, NULL, link_gb_s};
    bool good = split_init(&split, split_layers, error);
    if (good) {
        struct sums sums = sum_layers(&split);
        /* elements instead of bytes, and no PPP, as in PALEO's program */
        double fetch =
            1000 * (handed_over(&split) / 1073741824.0) / link_gb_s * (double)(workers - 1);
        struct orch_paleo_hybrid_step step = {
            .workers = workers,
            .effective_batch = options->batch * workers,
            .data_fwd_ms = sums.fwd_ms,
            .data_bwd_ms = sums.bwd_ms,
            .data_update_ms =
                orch_paleo_update_ms(&options->device, sums.whole_bytes, options->pipeline),
            .data_comm_ms = orch_paleo_comm_ms(ORCH_PALEO_TREE_ALL_REDUCE, options->network.gbit_s,
                                               options->ppp_comm, workers, sums.whole_bytes),
            .split_fwd_ms = repeat_batches(sums.fwd_lower_ms, fetch, workers),
            .split_bwd_ms = repeat_batches(sums.bwd_lower_ms, fetch, workers),
            .split_update_ms = orch_paleo_update_ms(&options->device, sums.cut_bytes, false),
        };
        step.total_ms = step.data_fwd_ms + step.data_bwd_ms + step.data_update_ms +
                        step.data_comm_ms + step.split_fwd_ms + step.split_bwd_ms +
                        step.split_update_ms;
        step.images_per_s = 1000 * (double)step.effective_batch / step.total_ms;
        *out = step;
    }
    g_free(split.is_cut);
    return good;
}
