/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/tensor_kernels.h"

#include "lib/devices/links.h"
#include "lib/steptime/kernel_times.h"

#include <math.h>
#include <string.h>

/* What all kernels have. */
struct fit {
    double share;      /* of the peak; times `graphics` on chips for graphics */
    double energy;     /* watts per TFLOP/s of 16 bits in the year 2020 */
    double memory;     /* share of the bandwidth */
    double cache_rate; /* bytes per cycle and multiprocessor; times `graphics_cache` */
    double norm;       /* of arithmetic and memory */
    double start;      /* cycles */
    double graphics, graphics_cache;
};

struct product_fit {
    struct fit all;
    double fill, tile, rate_power; /* depth and loads of a tile, by the multiprocessor's rate */
    double wave;                   /* how much of a wave that is not full counts as full */
    double cached;                 /* share of the cache that operands may fill */
    double pair;          /* times the same two, where pairs of multiprocessors load together */
    double serial;        /* cycles of each step in depth at least, however small the tile */
    double split;         /* cycles of summing the parts of a split depth; 0: never split */
    double quantise, row; /* passes over the factor; cycles of a multiprocessor for each row */
    double host_s;        /* launched by the host, which takes so long */
    double copies;        /* of the weights, that take turns */
    bool has_small_tiles;
};

struct attention_fit {
    struct fit all;
    double fill, tile, wave;
    double scores, overlapped; /* per cycle and multiprocessor; times, since Hopper */
    double longest;            /* of the longest block that is not split */
    double cache_fp8;          /* passes over what is made into 8 bits */
    double row;                /* cycles of a multiprocessor for each token, into the cache */
    double block;              /* cycles of each block of queries */
    double start_s;            /* seconds of each of the kernels, one after another */
    double converted;          /* operations a cycle and multiprocessor, of keys made from 8 bits */
};

struct experts_fit {
    struct fit all;
    double tile;   /* rows that an expert's tokens are rounded up to, at most */
    double expert; /* cycles of each expert */
    double spread; /* how much fewer experts a power law's tokens have */
    double skew;   /* power of the groups, of the load of the fullest one */
    double chosen_values, token_values, pair_values; /* passes over hidden values */
};

struct collective_fit {
    double start, hop_s; /* cycles of a message; seconds of each step to another GPU */
    double share;        /* of the link's one-way rate */
    double between;      /* cycles between latency and rate, where the time grows as a root */
    double shared;       /* power of the GPUs that share a bridge */
};

#include "lib/steptime/tensor_kernels_fit.inc"

#define HALVING_YEARS 3.0 /* of the energy of an operation (kernel_times.c) */
#define POWER_NORM 6.0
#define FULL_RATE 2048.0 /* operations per cycle of the A100's multiprocessor */
#define SPLIT_MIN_K 256
#define USUAL_MHZ 1900.0
#define USUAL_CACHE 60e6

/* Tiles that libraries choose from. */
static const double TILES[][2] = {{256, 256}, {256, 128}, {128, 256}, {128, 128}, {128, 64},
                                  {64, 256},  {256, 64},  {64, 128},  {64, 64},   {32, 128},
                                  {128, 32},  {32, 64},   {64, 32},   {32, 32},   {16, 128},
                                  {16, 64},   {16, 32}};
#define SMALL_TILE 64.0
#define LARGE_TILE 128.0

/* ---- formats -----------------------------------------------------------------------------------
 */

bool orch_number_format_find(const char *text, enum orch_number_format *out)
{
    static const struct {
        const char *word;
        enum orch_number_format format;
    } words[] = {{"bfloat16", ORCH_FORMAT_16},
                 {"bf16", ORCH_FORMAT_16},
                 {"float16", ORCH_FORMAT_16},
                 {"fp16", ORCH_FORMAT_16},
                 {"half", ORCH_FORMAT_16},
                 {"fp8", ORCH_FORMAT_FP8},
                 {"int8", ORCH_FORMAT_FP8},
                 {"fp8_block", ORCH_FORMAT_FP8_BLOCK},
                 {"nvfp4", ORCH_FORMAT_FP4},
                 {"fp4", ORCH_FORMAT_FP4},
                 {"int4_wo", ORCH_FORMAT_W4},
                 {"w4a16_mxfp4", ORCH_FORMAT_W4},
                 {"w4a8_mxfp4_mxfp8", ORCH_FORMAT_W4A8}};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_ascii_strcasecmp(words[i].word, text) == 0) {
            *out = words[i].format;
            return true;
        }
    }
    return false;
}

double orch_number_format_peak(const struct orch_gpu_spec *gpu, enum orch_number_format format)
{
    switch (format) {
    case ORCH_FORMAT_FP8:
    case ORCH_FORMAT_FP8_BLOCK:
    case ORCH_FORMAT_W4A8:
        return gpu->fp8_tflops * 1e12;
    case ORCH_FORMAT_FP4:
        return gpu->fp4_tflops * 1e12;
    default:
        return gpu->tensor16_tflops * 1e12;
    }
}

double orch_number_format_bytes(enum orch_number_format format)
{
    static const double bytes[ORCH_FORMAT_COUNT] = {2, 1, 1, 0.5625, 0.53, 0.53};
    return bytes[format];
}

bool orch_collective_find(const char *text, enum orch_collective *out)
{
    static const char *const words[ORCH_COLLECTIVE_COUNT] = {"all_gather", "reduce_scatter",
                                                             "alltoall", "all_reduce"};
    for (int i = 0; i < ORCH_COLLECTIVE_COUNT; i++) {
        if (strcmp(words[i], text) == 0) {
            *out = (enum orch_collective)i;
            return true;
        }
    }
    return false;
}

/* ---- a GPU -------------------------------------------------------------------------------------
 */

struct device {
    double rate; /* operations per second of the whole GPU */
    double sms, cycle_s, relative_rate;
    double bandwidth, cache_rate, cache; /* bytes per second; bytes */
};

/* NVIDIA's chips for data centres end in 100, or 110; AMD's are of the CDNA line. */
static bool is_for_graphics(const struct orch_gpu_spec *gpu)
{
    return !g_str_has_suffix(gpu->chip, "100") && !g_str_has_suffix(gpu->chip, "110") &&
           !g_str_has_prefix(gpu->arch, "CDNA");
}

/* Hopper and later: pairs of multiprocessors load operands together, beside the products. */
static bool has_pairs(const struct orch_gpu_spec *gpu)
{
    return !is_for_graphics(gpu) && orch_kernel_arch_year(gpu) >= 2022;
}

static double cycle_of(const struct orch_gpu_spec *gpu)
{
    return 1e-6 / (gpu->boost_mhz > 0 ? gpu->boost_mhz : USUAL_MHZ);
}

static bool device_of(const struct orch_gpu_spec *gpu, enum orch_number_format format,
                      const struct fit *fit, double rate_power, struct device *out)
{
    double peak = orch_number_format_peak(gpu, format);
    double year = orch_kernel_arch_year(gpu);
    if (!(peak > 0) || !(gpu->bandwidth_gbs > 0) || gpu->sms < 1 || !(year > 0))
        return false;
    bool graphics = is_for_graphics(gpu);
    double share = fit->share * (graphics ? fit->graphics : 1) * peak;
    double watts = gpu->watts > 0 ? gpu->watts : (double)INFINITY;
    double carried =
        watts / (fit->energy * exp2(-(year - 2020) / HALVING_YEARS)) * peak / gpu->tensor16_tflops;
    double hertz = 1 / cycle_of(gpu);
    *out = (struct device){
        .rate = pow(pow(share, -POWER_NORM) + pow(carried, -POWER_NORM), -1 / POWER_NORM),
        .sms = gpu->sms,
        .cycle_s = 1 / hertz,
        .relative_rate = pow(peak / gpu->sms / hertz / FULL_RATE, rate_power),
        .bandwidth = gpu->bandwidth_gbs * 1e9 * fit->memory,
        .cache_rate = fit->cache_rate * (graphics ? fit->graphics_cache : 1) * gpu->sms * hertz,
        .cache = gpu->l2_mb > 0 ? gpu->l2_mb * 1e6 : USUAL_CACHE};
    return true;
}

static double norm_of(double a, double b, double norm)
{
    double longer = MAX(a, b), shorter = MIN(a, b);
    return longer * pow(1 + pow(shorter / longer, norm), 1 / norm);
}

/* Time of moving `bytes` when a `working_set` of bytes is used again and again. */
static double moved_s(const struct device *d, double bytes, double working_set, double cached)
{
    double missed = 1 / (1 + pow(cached * d->cache / working_set, 3));
    return bytes * missed / d->bandwidth + bytes / d->cache_rate;
}

/* Waves of blocks over the multiprocessors, partly rounded up. */
static double waves_of(double blocks_per_sm, double wave)
{
    return MAX(1, blocks_per_sm + wave * (ceil(blocks_per_sm) - blocks_per_sm));
}

/* ---- products ----------------------------------------------------------------------------------
 */

static double arithmetic_s(const struct device *d, const struct product_fit *fit,
                           const struct orch_tensor_product *p, double parts)
{
    double best = (double)INFINITY;
    double depth = ceil(p->k / parts) + fit->fill * d->relative_rate;
    bool small = fit->has_small_tiles; /* only for small matrices */
    double least_rows = small || p->m <= LARGE_TILE ? MIN(SMALL_TILE, p->m) : LARGE_TILE;
    double least_columns = small ? MIN(SMALL_TILE, p->n) : SMALL_TILE;
    for (size_t i = 0; i < G_N_ELEMENTS(TILES); i++) {
        double tm = TILES[i][0], tn = TILES[i][1];
        if (tm < least_rows || tn < least_columns)
            continue;
        double waves = waves_of(ceil(p->m / tm) * ceil(p->n / tn) * parts / d->sms, fit->wave);
        double slowed = 1 + fit->tile * d->relative_rate * (1 / tm + 1 / tn);
        best = MIN(best, waves * 2 * tm * tn * slowed);
    }
    return MAX(best * d->sms / d->rate, fit->serial * d->cycle_s) * depth;
}

/* The factor of 16 bits is read and written in fewer; each row is a block of its own. */
static double quantise_s(const struct device *d, const struct product_fit *fit, double m, double k)
{
    double bytes = 3 * m * k;
    return fit->quantise * moved_s(d, bytes, bytes, fit->cached) +
           fit->row * m / d->sms * d->cycle_s;
}

double orch_tensor_product_s(const struct orch_gpu_spec *gpu, enum orch_number_format format,
                             const struct orch_tensor_product *p)
{
    const struct product_fit *fit = &PRODUCTS[format];
    struct device d;
    if (!(p->m >= 1 && p->n >= 1 && p->k >= 1) ||
        !device_of(gpu, format, &fit->all, fit->rate_power, &d))
        return (double)NAN;
    if (has_pairs(gpu))
        d.relative_rate *= fit->pair;
    double each = orch_number_format_bytes(format), out = p->m * p->n;
    double bytes = each * (p->m * p->k + p->k * p->n) + 2 * out;
    double set = fit->copies * (each * p->k * p->n + 2 * out) + each * p->m * p->k;
    double best = (double)INFINITY;
    for (double parts = 1; parts <= (fit->split > 0 ? 16 : 1); parts *= 2) {
        if (parts > 1 && ceil(p->k / parts) < SPLIT_MIN_K)
            break;
        double sums = parts > 1 ? 4 * parts * out : 0;
        double s = norm_of(arithmetic_s(&d, fit, p, parts),
                           moved_s(&d, bytes + sums, set, fit->cached), fit->all.norm);
        best = MIN(best, s + (parts > 1 ? fit->split * d.cycle_s : 0));
    }
    double s = best + fit->all.start * d.cycle_s;
    if (fit->quantise > 0 && !p->is_prepared)
        s += quantise_s(&d, fit, p->m, p->k);
    return fit->host_s > 0 && !p->is_prepared ? norm_of(s, fit->host_s, 4) : s;
}

/* ---- attention ---------------------------------------------------------------------------------
 */

#define KEYS_STEP 64.0      /* keys that a block takes at once */
#define CACHED_VALUES 512.0 /* of a token, that a block writes at once */

static bool is_flash3(const struct orch_gpu_spec *gpu)
{
    return has_pairs(gpu) && orch_kernel_arch_year(gpu) < 2024;
}

/* The cache is written first. FlashAttention 3 shares out the blocks of prompts and makes queries
 * of 8 bits in kernels of their own. */
static int kernels_of(const struct orch_gpu_spec *gpu, const struct orch_tensor_attention *a)
{
    return 2 + (is_flash3(gpu) ? (a->seq > 1) + a->has_fp8_cache : 0);
}

/* Heads that share their keys and lie in one block: those of single tokens, and of the kernels of
 * FlashAttention 3 on Hopper and of FlashInfer for caches in 8 bits. */
static double heads_in_block(const struct orch_gpu_spec *gpu, const struct orch_tensor_attention *a)
{
    bool packs = is_flash3(gpu) || (a->has_fp8_cache && !has_pairs(gpu));
    return packs || a->seq <= 1 ? a->heads / a->key_heads : 1;
}

/* In blocks of so many queries, of `shared` heads. */
static double in_blocks_s(const struct device *d, const struct orch_tensor_attention *a,
                          bool converts, double scores_per_cycle, double queries, double shared)
{
    const struct attention_fit *fit = &ATTENTION;
    double operation_s = converts ? d->cycle_s / fit->converted
                                  : d->sms / d->rate * (1 + fit->tile * KEYS_STEP / queries);
    double tokens = queries / shared, block_s = fit->block * d->cycle_s;
    double keys = a->window > 0 && a->window < a->seq ? a->window : a->seq;
    double mean = (a->seq + MIN(tokens, a->seq)) / 2, longest = a->seq;
    if (keys < a->seq) {
        mean = MIN(keys + tokens / 2, mean);
        longest = MIN(keys + tokens, a->seq);
    }
    mean = ceil(mean / KEYS_STEP) * KEYS_STEP;
    longest = ceil(longest / KEYS_STEP) * KEYS_STEP;
    double products = 4 * queries * MAX(a->head_dim, 64) * operation_s;
    double softmax = queries / scores_per_cycle * d->cycle_s;
    double key_s = norm_of(products, softmax, SOFTMAX_NORM);
    double fill = fit->fill * pow(d->rate / d->sms * d->cycle_s / FULL_RATE, FILL_POWER);
    double blocks = a->batch * a->heads / shared * ceil(a->seq * shared / queries) / d->sms;
    double waves = blocks + fit->wave * (ceil(blocks) - blocks);
    double all = ((mean + fill) * key_s + block_s) * waves;
    return MAX(all, fit->longest * ((longest + fill) * key_s + block_s));
}

double orch_tensor_attention_s(const struct orch_gpu_spec *gpu,
                               const struct orch_tensor_attention *a)
{
    const struct attention_fit *fit = &ATTENTION;
    struct device d;
    if (!(a->batch >= 1 && a->seq >= 1 && a->heads >= 1 && a->key_heads >= 1 && a->head_dim >= 1) ||
        !device_of(gpu, ORCH_FORMAT_16, &fit->all, 1, &d))
        return (double)NAN;
    double scores = fit->scores * (has_pairs(gpu) ? fit->overlapped : 1);
    double best = (double)INFINITY;
    /* heads of 192 values from 8 bits, which FlashInfer lacks: vLLM's kernel in Triton */
    bool converts = a->has_fp8_cache && a->head_dim == 192 && !is_flash3(gpu);
    for (double queries = 16; queries <= 128; queries *= 2)
        best = MIN(best, in_blocks_s(&d, a, converts, scores, queries, heads_in_block(gpu, a)));
    double each = 4 * a->batch * a->seq * a->head_dim; /* bytes of a head, read and written */
    double bytes = each * (a->heads + a->key_heads), cached = 2 * each * a->key_heads;
    if (a->has_fp8_cache) /* those that multiply in 8 bits make queries of 8 bits, too */
        cached += fit->cache_fp8 * each * (a->key_heads + (has_pairs(gpu) ? a->heads : 0));
    double row = fit->row * MIN(1, a->key_heads * a->head_dim / CACHED_VALUES);
    return norm_of(best, moved_s(&d, bytes, bytes, 1), fit->all.norm) +
           fit->start_s * kernels_of(gpu, a) +
           norm_of(moved_s(&d, cached, cached, 1), row * a->batch * a->seq / d.sms * d.cycle_s, 2);
}

/* ---- experts -----------------------------------------------------------------------------------
 */

double orch_tensor_experts_s(const struct orch_gpu_spec *gpu, enum orch_number_format format,
                             const struct orch_tensor_experts *e)
{
    const struct experts_fit *fit = &EXPERTS[format];
    struct device d;
    if (!(e->tokens >= 1 && e->hidden >= 1 && e->inner >= 1 && e->chosen >= 1 && e->experts >= 1 &&
          e->tensor_parallel >= 1 && e->expert_parallel >= 1) ||
        !device_of(gpu, format, &fit->all, 1, &d))
        return (double)NAN;
    double inner = e->inner / e->tensor_parallel, groups = e->expert_parallel;
    double here = MAX(1, e->experts / groups), all_pairs = e->tokens * e->chosen;
    double pairs = all_pairs / groups, spread = 1;
    if (!e->is_balanced) {
        pairs *= MIN(groups, pow(groups, fit->skew));
        spread = fit->spread;
    }
    double used = MIN(here * (1 - exp(-pairs / here / spread)), MAX(pairs, 1));
    double full = 16 * exp2(MAX(0, ceil(log2(MAX(pairs / used, 1) / 16 + 1e-9))));
    double rows = used * MIN(fit->tile, full) / 2 + pairs;
    double arithmetic = 6 * rows * e->hidden * inner / d.rate;
    double weights = orch_number_format_bytes(format) * 3 * used * e->hidden * inner;
    double values =
        2 * e->hidden * (fit->chosen_values * all_pairs + fit->token_values * e->tokens) +
        pairs * (2 * e->hidden * fit->pair_values + 6 * inner);
    return norm_of(arithmetic, (weights + values) / d.bandwidth, fit->all.norm) +
           (fit->all.start + fit->expert * here) * d.cycle_s;
}

/* ---- collectives -------------------------------------------------------------------------------
 */

double orch_collective_s(const struct orch_gpu_spec *gpu, enum orch_collective kind, double bytes,
                         double gpus)
{
    const struct collective_fit *fit = &COLLECTIVES;
    bool is_linked = gpu->nvlink_gbs > 0;
    double link = (is_linked ? gpu->nvlink_gbs / 2 : orch_link_within(gpu)->gbit_s / 8) * 1e9;
    if (!(bytes > 0) || !(gpus >= 2))
        return (double)NAN;
    /* Around a ring, a sum twice. What a GPU keeps is copied at twice the rate. */
    double steps = (gpus - 1) * (kind == ORCH_ALL_REDUCE ? 2 : 1);
    double shared = is_linked ? 1 : pow(gpus / 2, fit->shared);
    double whole = bytes * (steps + 0.5) / gpus / (fit->share * link) * shared;
    double hops = kind == ORCH_ALL_TO_ALL ? EXCHANGE_HOPS : steps;
    double cycle_s = cycle_of(gpu);
    return fit->start * cycle_s + fit->hop_s * hops + whole + sqrt(fit->between * cycle_s * whole);
}
