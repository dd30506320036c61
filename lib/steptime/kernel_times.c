/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/kernel_times.h"

#include "lib/steptime/transfer.h"

#include <math.h>
#include <string.h>

/* ---- constants, printed by bench/distil_kernels.py ---------------------------------------------
 */

#define SHARE_BEFORE_2017 0.795 /* u: share of the peak that products reach */
#define SHARE_SINCE_2017 1.10
#define SHARE_AMD 1.00
#define SHARE_AMD_SINCE_2023 0.78 /* MI300X's one row: 97.2 TFLOP/s of 4000 x 4000 x 4000 [1] */
#define SHARE_WINOGRAD 0.45       /* of the units' peak, by the operations that are left */
#define WATTS_PER_TFLOPS 23.4     /* e in the year 2016, at fp32 */
#define POWER_NORM 6.0
#define WAVE_SHARE 0.70 /* how much of a wave that is not full counts as full */
#define K_STEP 10.3     /* depth of a step of a tile */
#define K_PAD 5.9       /* what filling and emptying it costs, as depth */
#define TILE_COST 12.9
#define MEMORY_SHARE 0.785
#define NORM 3.95
#define ALONE_S 43e-6 /* of a kernel that is timed by itself */
#define BEHIND_S 4e-6

/* NVIDIA's tensor cores, printed by bench/distil_tensor.py */
#define SHARE_TENSOR 0.842
#define WATTS_PER_TENSOR_TFLOPS 3.78 /* in the year 2016, in 16 bits */
/* AMD's, by two rows: MI300X and MI325X, the same chip with 750 and 1000 W, multiply in bf16 at 708
 * and 843 TFLOP/s at best [2]; here at 0.70 of it, as trainings on NVIDIA's GPUs do at 0.6 to 0.76
 * of what products reach alone (bench/results/2026-11-30-published.md). [1]
 * instinct.docs.amd.com/projects/system-acceptance, MI300X; [2] rocm.blogs.amd.com, "Measuring
 * Max-Achievable FLOPs", February 2025. */
#define SHARE_AMD_TENSOR 0.60
#define WATTS_PER_AMD_TENSOR_TFLOPS 5.95
#define TENSOR_FILL 20.2      /* depth, and ... */
#define TENSOR_TILE_COST 13.1 /* ... loads, of a multiprocessor of this rate: */
#define TENSOR_RATE 2.889e12  /* the A100's, operations per second */
/* Of B200 and its kin, where two multiprocessors load the operands of a tile together; set by
 * products alone (bench/results/2026-11-29-published.md). */
#define PAIRED_TILE_COST 0.5
#define PAIRED_CAPABILITY "10."
#define SCORES_PER_CYCLE 3.70 /* of a multiprocessor */
#define USUAL_MHZ 1900.0      /* where the boost clock is not known */

static const double VECTOR_SHARES[ORCH_KERNEL_KINDS] = {0.80, 0.62, 0.50};

#define HALVING_YEARS 3.0 /* of the energy of an operation: set, not fitted */
#define SPLIT_MIN_K 256
#define WINOGRAD_SAVES 2.25 /* of F(2x2, 3x3): 36 products for 16 */
#define WINOGRAD_SINCE 2014
#define AMD_UNMEASURED 2023 /* architectures from this year on: but for three rows */

/* Years of the architectures, not of the cards: energy depends on the design. */
static const struct {
    const char *arch;
    int year;
} ARCHS[] = {{"Kepler", 2012}, {"Maxwell", 2014}, {"Pascal", 2016}, {"Volta", 2017},
             {"Turing", 2018}, {"Ampere", 2020},  {"Ada", 2022},    {"Hopper", 2022},
             {"CDNA1", 2020},  {"CDNA2", 2021},   {"CDNA3", 2023},  {"Blackwell", 2024},
             {"CDNA4", 2025}};

/* Tiles of a product that libraries choose from; each also the other way round. */
static const double TILES[][2] = {{256, 128}, {128, 256}, {128, 128}, {128, 64},
                                  {64, 128},  {64, 64},   {32, 128},  {128, 32},
                                  {32, 64},   {64, 32},   {32, 32}};

/* ---- a GPU -------------------------------------------------------------------------------------
 */

int orch_kernel_arch_year(const struct orch_gpu_spec *gpu)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ARCHS) && gpu->arch; i++)
        if (strcmp(ARCHS[i].arch, gpu->arch) == 0)
            return ARCHS[i].year;
    return 0;
}

static bool is_on_tensor_cores(const struct orch_gpu_spec *gpu, enum orch_precision precision)
{
    return gpu->tensor16_tflops > 0 &&
           (precision == ORCH_TF32 || precision == ORCH_FP16 || precision == ORCH_BF16);
}

/* Operations per second of matrix products that the board's power carries. At other precisions an
 * operation takes as much less energy as its peak is higher. */
static double carried_by_power(const struct orch_gpu_spec *gpu, int year, double watts, double peak,
                               double fp32, bool is_tensor, bool is_amd)
{
    double board = watts > 0 && (watts < gpu->watts || !(gpu->watts > 0)) ? watts : gpu->watts;
    double energy = !is_tensor ? WATTS_PER_TFLOPS
                    : is_amd   ? WATTS_PER_AMD_TENSOR_TFLOPS
                               : WATTS_PER_TENSOR_TFLOPS;
    double reference = is_tensor ? gpu->tensor16_tflops * 1e12 : fp32;
    if (!(board > 0))
        return (double)INFINITY;
    return board / (energy * exp2(-(year - 2016) / HALVING_YEARS)) * 1e12 * (peak / reference);
}

/* AMD's data sheets give fp32 of the vector units; products run on the matrix units, at twice that
 * rate. */
static double product_peak(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                           bool is_amd)
{
    bool is_fp32 = precision == ORCH_FP32 || precision == ORCH_FP32_IEEE;
    if (!is_amd) /* sums are in fp32, at the rate that data sheets of GeForce cards give */
        return is_on_tensor_cores(gpu, precision) ? orch_gpu_peak(gpu, precision)
                                                  : orch_transfer_peak(gpu, precision);
    return orch_gpu_peak(gpu, precision) * (is_fp32 ? 2 : 1);
}

static double softly_least(double a, double b)
{
    return pow(pow(a, -POWER_NORM) + pow(b, -POWER_NORM), -1 / POWER_NORM);
}

bool orch_kernel_gpu_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                         double watts, struct orch_kernel_gpu *out)
{
    int year = orch_kernel_arch_year(gpu);
    bool is_amd = gpu->arch && g_str_has_prefix(gpu->arch, "CDNA");
    double peak = product_peak(gpu, precision, is_amd);
    double fp32 = product_peak(gpu, ORCH_FP32_IEEE, is_amd);
    if (gpu->unit == ORCH_GPU_HOST || !year || !(peak > 0) || !(fp32 > 0) || gpu->sms < 1 ||
        !(gpu->bandwidth_gbs > 0))
        return false;
    /* AMD: but for share and energy with the constants of NVIDIA's */
    bool is_tensor = is_on_tensor_cores(gpu, precision) && orch_gpu_peak(gpu, precision) > 0;
    int bytes = orch_precision_bytes(precision);
    double relative = is_tensor ? peak / gpu->sms / TENSOR_RATE : 1;
    double paired =
        g_str_has_prefix(gpu->compute_capability, PAIRED_CAPABILITY) ? PAIRED_TILE_COST : 1;
    double share = is_tensor     ? (is_amd ? SHARE_AMD_TENSOR : SHARE_TENSOR)
                   : is_amd      ? (year < AMD_UNMEASURED ? SHARE_AMD : SHARE_AMD_SINCE_2023)
                   : year < 2017 ? SHARE_BEFORE_2017
                                 : SHARE_SINCE_2017;
    double by_power = carried_by_power(gpu, year, watts, peak, fp32, is_tensor, is_amd);
    bool is_fp32 = precision == ORCH_FP32 || precision == ORCH_FP32_IEEE;
    bool has_winograd = !is_amd && is_fp32 && year >= WINOGRAD_SINCE;
    *out = (struct orch_kernel_gpu){
        .sustained_flops = softly_least(share * peak, by_power),
        .winograd_flops = has_winograd ? softly_least(SHARE_WINOGRAD * peak, by_power) : 0,
        .bandwidth = gpu->bandwidth_gbs * 1e9,
        .sms = gpu->sms,
        .fill_depth = is_tensor ? TENSOR_FILL * relative : K_PAD,
        .tile_cost = is_tensor ? TENSOR_TILE_COST * paired * relative * bytes / 2 : TILE_COST,
        .scores_per_s =
            gpu->sms * (gpu->boost_mhz > 0 ? gpu->boost_mhz : USUAL_MHZ) * 1e6 * SCORES_PER_CYCLE,
        .element_bytes = bytes,
        .is_tensor = is_tensor,
        .was_measured = is_amd ? is_fp32 && year < AMD_UNMEASURED
                               : is_tensor || precision == ORCH_FP32_IEEE ||
                                     (is_fp32 && !(orch_gpu_peak(gpu, ORCH_TF32) > 0)),
    };
    /* libraries that may use tf32 take the units of fp32 where these are faster */
    struct orch_kernel_gpu plain;
    if (precision == ORCH_TF32 && orch_kernel_gpu_for(gpu, ORCH_FP32_IEEE, watts, &plain) &&
        plain.sustained_flops > out->sustained_flops)
        *out = plain;
    return true;
}

/* ---- kernels -----------------------------------------------------------------------------------
 */

/* Arithmetic of a product whose depth is split in `parts`, by the tile that is best for it. */
static double compute_s(const struct orch_kernel_gpu *gpu, const struct orch_kernel_product *p,
                        double parts)
{
    double best = (double)INFINITY;
    bool is_winograd = p->is_winograd && gpu->winograd_flops > 0;
    double k = p->k / (is_winograd ? WINOGRAD_SAVES : 1);
    double depth = K_STEP * ceil(ceil(k / parts) / K_STEP) + gpu->fill_depth;
    for (size_t i = 0; i < G_N_ELEMENTS(TILES); i++) {
        double tm = TILES[i][0], tn = TILES[i][1];
        double waves = p->b * ceil(p->m / tm) * ceil(p->n / tn) * parts / gpu->sms;
        waves = MAX(1, waves + WAVE_SHARE * (ceil(waves) - waves));
        double slowed = 1 + gpu->tile_cost * (1 / tm + 1 / tn);
        best = MIN(best, waves * 2 * tm * tn * depth * slowed);
    }
    return best * gpu->sms / (is_winograd ? gpu->winograd_flops : gpu->sustained_flops);
}

double orch_kernel_product_s(const struct orch_kernel_gpu *gpu, const struct orch_kernel_product *p)
{
    double best = (double)INFINITY, out = p->b * p->m * p->n;
    double bytes =
        p->bytes > 0 ? p->bytes : gpu->element_bytes * (p->b * (p->m * p->k + p->k * p->n) + out);
    for (double parts = 1; parts <= 16; parts *= 2) {
        if (parts > 1 && ceil(p->k / parts) < SPLIT_MIN_K)
            break;
        /* the parts' sums are written and read again */
        double moved = bytes + (parts > 1 ? 2 * parts * gpu->element_bytes * out : 0);
        double memory = moved / (gpu->bandwidth * MEMORY_SHARE);
        double compute = compute_s(gpu, p, parts);
        double longer = MAX(compute, memory), shorter = MIN(compute, memory);
        best = MIN(best, longer * pow(1 + pow(shorter / longer, NORM), 1 / NORM));
    }
    return best;
}

double orch_kernel_vector_s(const struct orch_kernel_gpu *gpu, enum orch_kernel_kind kind,
                            double values)
{
    return values * gpu->element_bytes / (gpu->bandwidth * VECTOR_SHARES[kind]);
}

double orch_kernel_least_s(bool is_alone)
{
    return is_alone ? ALONE_S : BEHIND_S;
}
