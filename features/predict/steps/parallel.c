/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/parallel.h"

#include "features/predict/steps/expert_split.h"
#include "features/predict/steps/tensor_split.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define DEVICES_MAX 65536
#define MICRO_FOR_STAGE 4
/* bench/parallel_rows.py: 245 steps of GPTs on 2 to 8 A100; 209 of MPTs */
#define SPLIT_ERROR_90 0.81
#define SHARDS_ERROR_90 0.16
/* the slowest links of these MPTs, of which a forecast takes 0.72: NVLink of A100 in a node, 1.6
 * Tbit/s between nodes */
#define SHARDS_WITHIN (0.72 * 2400e9 / 8)
#define SHARDS_BETWEEN (0.72 * 1600e9 / 8)
#define BUCKET_BYTES (25.0 * 1024 * 1024)

/* ---- words -------------------------------------------------------------------------------------
 */

static bool refuse(GError **error, const char *hint, const char *text, const char *why)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--parallel': '%s' %s", text, why);
    return false;
}

bool orch_parallel_parse(const char *text, struct orch_parallel *out, GError **error)
{
    struct orch_parallel p = {0};
    const struct {
        const char *name;
        int64_t *value;
    } keys[] = {{"dp", &p.dp}, {"fsdp", &p.fsdp}, {"tp", &p.tp},
                {"pp", &p.pp}, {"ep", &p.ep},     {"micro", &p.micro_batches}};
    static const char HINT[] = "for example dp=8, fsdp=8, tp=2, or dp=2,tp=4,pp=2,micro=16";
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    if (!*text)
        return refuse(error, HINT, text, "does not name a kind of parallelism");
    for (int i = 0; words[i]; i++) {
        const char *sign = strchr(words[i], '=');
        int64_t *value = NULL;
        for (size_t k = 0; k < G_N_ELEMENTS(keys) && sign; k++)
            if (strncmp(keys[k].name, words[i], (size_t)(sign - words[i])) == 0 &&
                strlen(keys[k].name) == (size_t)(sign - words[i]))
                value = keys[k].value;
        if (!value || *value || !orch_int_parse(sign + 1, value) || *value < 1 ||
            *value > DEVICES_MAX)
            return refuse(error, HINT, text, "is not a list of KIND=DEVICES");
    }
    if (p.dp && p.fsdp)
        return refuse(error, "use either 'dp' or 'fsdp'", text, "has both 'dp' and 'fsdp'");
    p.dp = MAX(1, p.dp);
    p.fsdp = MAX(1, p.fsdp);
    p.tp = MAX(1, p.tp);
    p.pp = MAX(1, p.pp);
    p.ep = MAX(1, p.ep);
    if (orch_parallel_replicas(&p) % p.ep)
        return refuse(error, "for example fsdp=8,ep=8", text,
                      "has a number of replicas ('dp' or 'fsdp') that 'ep' does not divide");
    if (orch_parallel_devices(&p) > DEVICES_MAX)
        return refuse(error, HINT, text, "needs more than 65536 devices");
    *out = p;
    return true;
}

int64_t orch_parallel_devices(const struct orch_parallel *p)
{
    return (int64_t)MIN((double)p->dp * (double)p->fsdp * (double)p->tp * (double)p->pp, 1e15);
}

int64_t orch_parallel_replicas(const struct orch_parallel *p)
{
    return p->dp * p->fsdp;
}

int64_t orch_parallel_micro_batches(const struct orch_parallel *p, int64_t batch)
{
    int64_t usual = p->pp > 1 ? MIN(batch, MICRO_FOR_STAGE * p->pp) : 1;
    while (usual > 1 && batch % usual)
        usual--;
    return p->micro_batches ? p->micro_batches : usual;
}

static bool is_split(const struct orch_parallel *p)
{
    return p->tp > 1 || p->pp > 1 || p->ep > 1;
}

/* Shards were measured of trainings of transformers in 16 bits on tensor cores, on links that are
 * at least as fast. */
static bool shards_were_measured(const struct orch_parallel *p, const struct orch_prior *prior,
                                 const struct orch_roofline_work *work,
                                 const struct orch_parallel_links *links)
{
    const struct orch_exchange *replicas = &links->replicas;
    bool is_one_node = replicas->node_workers == replicas->workers;
    double least = 0.999 * (is_one_node ? SHARDS_WITHIN : SHARDS_BETWEEN);
    return !is_split(p) && work->training && work->element_bytes == 2 && prior->is_by_kernels &&
           prior->kernels.gpu.is_tensor && prior->kernels.gpu.was_measured &&
           replicas->bandwidth >= least && links->within >= 0.999 * SHARDS_WITHIN;
}

double orch_parallel_error_90(const struct orch_parallel *p, bool is_guess)
{
    return is_split(p) || is_guess ? SPLIT_ERROR_90
           : p->fsdp > 1           ? SHARDS_ERROR_90
                                   : orch_prior_several_error();
}

const char *orch_parallel_measured(const struct orch_parallel *p)
{
    return is_split(p)   ? "245 published steps of 2 to 8 A100 that split a network"
           : p->fsdp > 1 ? "209 published steps of 8 to 512 A100 and H100 with sharded weights"
                         : "published steps of 2 to 64 workers";
}

/* ---- stages of a pipeline ----------------------------------------------------------------------
 */

/* Number of stages that are needed when none takes longer than `most`; `*cut_values`: values that
 * a sample sends between them. */
static int64_t stages_for(const struct orch_net *net, const struct orch_roofline_layer *layers,
                          double most, double *cut_values)
{
    int64_t stages = 1;
    double sum = 0;
    *cut_values = 0;
    for (guint i = 1; i < net->nodes->len; i++) {
        double own = layers[i].forward_s + layers[i].backward_s;
        if (sum + own > most && sum > 0) {
            const struct orch_net_shape *out = &orch_net_node(net, (int)i - 1)->out;
            *cut_values += (double)(out->c * out->h * out->w);
            stages++;
            sum = 0;
        }
        sum += own;
    }
    return stages;
}

/* Share of the longest of `count` stages in the time of all layers. `*cut_values`: mean values of a
 * sample at a cut. False where the network has fewer layers. */
static bool longest_stage(const struct orch_net *net, const struct orch_roofline_layer *layers,
                          int64_t count, double *out_share, double *cut_values, GError **error)
{
    double all = 0, longest = 0, values = 0;
    int64_t working = 0;
    for (guint i = 1; i < net->nodes->len; i++) {
        double own = layers[i].forward_s + layers[i].backward_s;
        all += own;
        longest = MAX(longest, own);
        working += orch_net_node(net, (int)i)->macs > 0;
    }
    if (count > working) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use fewer stages",
                       "'%s' has only %" G_GINT64_FORMAT
                       " layers with multiply-adds for a pipeline of %" G_GINT64_FORMAT " stages",
                       net->name, working, count);
        return false;
    }
    double low = MAX(longest, all / (double)count), high = all;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        *(stages_for(net, layers, middle, &values) <= count ? &high : &low) = middle;
    }
    stages_for(net, layers, high, &values);
    *out_share = all > 0 ? high / all : 1;
    *cut_values = count > 1 ? values / (double)(count - 1) : 0;
    return true;
}

/* ---- a step ------------------------------------------------------------------------------------
 */

/* What one device computes and holds. `micro`, flags of `work` and what a stage has are of a way,
 * all else follows from the network and the first four. */
struct share {
    int64_t tp, ep, batch;            /* batch: a micro-batch */
    double shift;                     /* of the model of the device */
    struct orch_net *split, *experts; /* its part of layers, and of experts; NULL: of none */
    const struct orch_net *net;
    struct orch_net_cost *costs;
    struct orch_roofline_layer *layers;
    struct orch_roofline_work work;        /* of a micro-batch */
    struct orch_roofline_step own;         /* the same */
    struct orch_memory_parts memory[2][2]; /* without and with work.autocasts, .has_buckets */
    double stage_share, summed_values, cut_values, sent_values;
    double dense_params, expert_params; /* of `net` */
    double chosen;                      /* experts of a token */
    int64_t micro;
};

static void free_share(gpointer data)
{
    struct share *s = data;
    orch_net_free(s->split);
    orch_net_free(s->experts);
    g_free(s->costs);
    g_free(s->layers);
    g_free(s);
}

GPtrArray *orch_parallel_shares_new(void)
{
    return g_ptr_array_new_with_free_func(free_share);
}

/* Fills a share of which the first four and `work` are set. */
static bool fill(const struct orch_net *net, const struct orch_prior *prior,
                 const struct orch_parallel *p, struct share *s, GError **error)
{
    s->split = p->tp > 1 ? orch_net_split_tensors(net, p->tp, &s->summed_values, error) : NULL;
    s->net = s->split ? s->split : net;
    if (p->tp > 1 && !s->split)
        return false;
    s->experts = p->ep > 1 ? orch_net_split_experts(s->net, p->ep, &s->sent_values, error) : NULL;
    s->net = s->experts ? s->experts : s->net;
    if (p->ep > 1 && !s->experts)
        return false;
    for (guint i = 0; i < s->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(s->net, (int)i);
        s->chosen = MAX(s->chosen, node->chosen);
        *(node->experts ? &s->expert_params : &s->dense_params) +=
            (double)orch_net_node_params(s->net, node);
    }
    s->costs = orch_net_costs(s->net);
    s->layers = g_new0(struct orch_roofline_layer, s->net->nodes->len);
    return orch_prior_own_step(s->net, s->costs, prior, &s->work, s->layers, &s->own, error);
}

/* Finds the device's share among `shares`, or adds it. */
static struct share *open_share(const struct orch_net *net, const struct orch_prior *prior,
                                const struct orch_roofline_work *work,
                                const struct orch_parallel *p, GPtrArray *shares, GError **error)
{
    int64_t micro = orch_parallel_micro_batches(p, work->batch);
    struct share key = {p->tp, MAX(1, p->ep), work->batch / micro, prior->shift, .work = *work};
    struct share *s = NULL;
    if (work->batch % micro) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "choose a --batch that is a multiple of the micro-batches",
                       "a batch of %" G_GINT64_FORMAT " cannot be divided into %" G_GINT64_FORMAT
                       " equal micro-batches",
                       work->batch, micro);
        return NULL;
    }
    key.work.batch = key.batch;
    for (guint i = 0; i < shares->len && !s; i++)
        if (memcmp(shares->pdata[i], &key, offsetof(struct share, split)) == 0)
            s = shares->pdata[i];
    if (!s) {
        s = g_memdup2(&key, sizeof key);
        if (!fill(net, prior, p, s, error)) {
            free_share(s);
            return NULL;
        }
        g_ptr_array_add(shares, s);
    }
    s->micro = micro;
    s->work = key.work;
    return longest_stage(s->net, s->layers, p->pp, &s->stage_share, &s->cut_values, error) ? s
                                                                                           : NULL;
}

/* Sends tokens to experts and back: `bytes` of all copies of a device's part of the tokens. To
 * another node a token goes once for all its experts there, which then have it within the node
 * (DeepSeek-AI 2024, 3.2.2); both go on at the same time. */
static double tokens_s(const struct share *s, const struct orch_parallel *p,
                       const struct orch_parallel_links *links, double bytes)
{
    double ways = (double)MAX(1, p->ep);
    double nodes = ways / (double)MAX(1, links->node_devices / p->tp);
    double within = (ways - 1) / ways * bytes / links->within;
    if (nodes <= 1)
        return within;
    double reached = nodes * (1 - pow(1 - 1 / nodes, s->chosen));
    double between = reached / s->chosen * (nodes - 1) / nodes * bytes / links->between;
    return MAX(within, between);
}

/* Waits of a micro-batch in a stage: sums over the devices that split layers, in both directions,
 * and values from and to the next stage. */
static double waits_s(const struct share *s, const struct orch_parallel *p,
                      const struct orch_parallel_links *links)
{
    double bytes = (double)s->work.batch * s->work.element_bytes, n = (double)p->tp;
    double directions = s->work.training ? 2 : 1;
    double sums = 2 * (n - 1) / n * bytes * s->summed_values / links->within / (double)p->pp;
    double sent = p->pp > 1 ? bytes * s->cut_values / links->between : 0;
    double tokens = tokens_s(s, p, links, bytes * s->sent_values / (double)(p->pp * p->tp));
    return directions * (sums + sent + tokens);
}

/* Weights that are gathered and gradients that are scattered, beyond the time that the device
 * computes meanwhile. `*all_s`: without that. */
static double shards_s(const struct share *s, const struct orch_parallel *p,
                       const struct orch_parallel_links *links, double *all_s)
{
    double n = (double)p->fsdp, holders = n / (double)MAX(1, p->ep); /* of an expert */
    double params = (n - 1) / n * s->dense_params + (holders - 1) / holders * s->expert_params;
    double gather = params * s->work.element_bytes / (double)p->pp / links->replicas.bandwidth +
                    (n - 1) * links->replicas.latency_s;
    double forward = s->own.forward_s / (double)p->pp, backward = s->own.backward_s / (double)p->pp;
    if (p->fsdp < 2)
        return *all_s = 0;
    *all_s = gather * (s->work.training ? 3 : 1) * (double)s->micro;
    double exposed = MAX(0, gather - forward);
    exposed += s->work.training ? MAX(0, 2 * gather - backward) : 0;
    return exposed * (double)s->micro;
}

/* Sums of the replicas' gradients behind the last micro-batch's backward pass. */
static double gradients_s(const struct share *s, const struct orch_parallel *p,
                          const struct orch_parallel_links *links, double *all_s)
{
    guint count = s->net->nodes->len;
    g_autofree double *backward = g_new0(double, count), *bytes = g_new0(double, count);
    double sum = 0;
    for (guint i = 0; i < count; i++) {
        backward[i] = s->layers[i].backward_s / (double)p->pp;
        bytes[i] = 4.0 * (double)s->costs[i].trained / (double)p->pp;
        if (orch_net_node(s->net, (int)i)->experts && p->dp > 1) { /* with those that have them */
            double n = (double)p->dp, holders = n / (double)MAX(1, p->ep);
            bytes[i] *= (holders - 1) / holders / ((n - 1) / n);
        }
        sum += bytes[i];
    }
    if (p->dp < 2 || !s->work.training)
        return *all_s = 0;
    *all_s = orch_exchange_s(&links->replicas, sum);
    return orch_exchange_exposed_s(&links->replicas, backward, bytes, (int)count, BUCKET_BYTES);
}

/* Parameters of the widest group of layers, and of what is in no group of its own. */
struct widest {
    double group, rest;
};

static struct widest widest_of(const struct share *s, bool trained_only)
{
    g_autofree double *params = g_new0(double, (gsize)MAX(1, s->net->group_count));
    struct widest out = {0};
    int last = s->net->group_count - 1;
    for (guint i = 0; i < s->net->nodes->len; i++) {
        int group = orch_net_node(s->net, (int)i)->group;
        bool is_inner = group > 0 && group < last;
        *(is_inner ? &params[group] : &out.rest) +=
            (double)(trained_only ? s->costs[i].trained : s->costs[i].params);
        out.group = is_inner ? MAX(out.group, params[group]) : out.group;
    }
    return out;
}

/* Weights that are gathered of a network in groups: two groups at a time, and all the time what is
 * in no group of its own; in training also the gradients of a group and of the latter. */
static double gathered_bytes(const struct share *s)
{
    struct widest weights = widest_of(s, false), gradients = {0};
    if (s->work.training)
        gradients = widest_of(s, true);
    return (2 * weights.group + weights.rest + gradients.group + gradients.rest) *
           s->work.element_bytes;
}

/* Memory of a device: of a pipeline's stage, of a shard. */
static struct orch_memory_parts memory_of(struct share *s, const struct orch_parallel *p)
{
    struct orch_memory_parts *kept = &s->memory[s->work.autocasts][s->work.has_buckets];
    if (!(kept->held > 0))
        *kept = orch_roofline_memory_parts(s->net, s->costs, &s->work);
    struct orch_memory_parts m = *kept;
    double parts = (double)(p->fsdp * p->pp), ways = (double)MAX(1, p->ep);
    if (p->fsdp > 1) /* of an expert only those that have it hold a shard */
        parts /= (s->dense_params + s->expert_params * ways) /
                 MAX(1, s->dense_params + s->expert_params);
    m.held = m.held / parts + orch_prior_reserved_bytes();
    m.gradients /= parts;
    if (s->micro > 1) { /* they wait for the other micro-batches */
        m.held += m.gradients;
        m.gradients = 0;
    }
    if (p->fsdp > 1)
        m.held += gathered_bytes(s);
    /* a stage has as many micro-batches on their way as there are stages, of its layers */
    m.each *= (double)MIN(s->micro, p->pp) / (double)p->pp;
    return m;
}

/* `room`: of a device; 0: not known. */
static void set_memory(struct share *s, const struct orch_parallel *p, double room,
                       struct orch_prior_step *out)
{
    double usual = p->pp > 1 ? MICRO_FOR_STAGE * (double)p->pp : 1;
    struct orch_memory_parts m = memory_of(s, p);
    out->memory_bytes = orch_net_most_held(m.held, m.gradients, m.each * (double)s->work.batch);
    out->fits = room <= 0 || out->memory_bytes <= room;
    double micro = room > m.held + m.gradients && m.each > 0 ? floor((room - m.held) / m.each) : 0;
    out->largest_batch = (int64_t)(micro * (p->micro_batches ? (double)p->micro_batches : usual));
}

bool orch_parallel_predict(const struct orch_net *net, const struct orch_prior *prior,
                           const struct orch_roofline_work *work, const struct orch_parallel *p,
                           const struct orch_parallel_links *links, struct orch_prior_step *out,
                           GError **error)
{
    g_autoptr(GPtrArray) shares =
        p->shares ? g_ptr_array_ref(p->shares) : orch_parallel_shares_new();
    *out = (struct orch_prior_step){0};
    struct share *s = orch_exchange_check(&links->replicas, error)
                          ? open_share(net, prior, work, p, shares, error)
                          : NULL;
    if (!s)
        return false;
    double stages = (double)p->pp, slots = (double)s->micro + stages - 1, shards, sums;
    double waits = waits_s(s, p, links) * slots;
    double exposed = shards_s(s, p, links, &shards) + gradients_s(s, p, links, &sums);
    out->is_guess = p->fsdp > 1 && !shards_were_measured(p, prior, work, links);
    double factor =
        exp(MAX(orch_prior_error_90(prior, &s->own), orch_parallel_error_90(p, out->is_guess)));
    out->own = s->own;
    out->own.update_s = s->own.update_s / (double)(p->fsdp * p->pp);
    out->own.forward_s *= slots * s->stage_share;
    out->own.backward_s *= slots * s->stage_share;
    out->own.total_s = out->own.forward_s + out->own.backward_s + out->own.update_s;
    out->exchange_s = waits + shards + sums;
    out->exposed_s = waits + exposed;
    out->total_s.mid = out->own.total_s + out->exposed_s;
    out->total_s.low = (out->own.total_s + waits) / factor; /* nothing overlaps waits */
    out->total_s.high = (out->own.total_s + MAX(out->exchange_s, out->exposed_s)) * factor;
    out->images_per_s = (double)(work->batch * orch_parallel_replicas(p)) / out->total_s.mid;
    set_memory(s, p, prior->device.memory_bytes, out);
    return true;
}
