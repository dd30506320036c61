/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial of one kernel: the reference, then the kernel's result against it, element by element,
 * then samples. */
#include "plugins/common/cuda/cuda_compat.h"
#include "plugins/common/kernels/free_memory.h"
#include "plugins/common/kernels/samples.h"
#include "plugins/gpukernels/cuda/kernel_case.h"
#include "plugins/gpukernels/gpukernels.h"

#include <glib.h>
#include <math.h>
#include <string.h>

struct kernel_trial {
    const struct gpukernels_params *params;
    const struct orch_host *host;
    const struct orch_kernel_case *kernel;
    orch_kernel_launch *launch; /* NULL: the reference */
    struct orch_kernel_shape shape;
    size_t in_count, out_count;
    float *in, *reference, *out; /* of the host */
    void *gpu_in, *gpu_out;
    cudaEvent_t begin, end;
};

static bool cuda_ok(const struct kernel_trial *t, cudaError_t status, const char *what)
{
    char text[512];
    if (status == cudaSuccess)
        return true;
    t->host->fail(t->host, orch_cuda_error_text(text, sizeof text, what, status));
    return false;
}
#define TRY(t, call) cuda_ok(t, call, #call)

static const struct orch_kernel_case *find_case(const char *name)
{
    for (int i = 0; ORCH_KERNEL_CASES[i]; i++)
        if (strcmp(ORCH_KERNEL_CASES[i]->name, name) == 0)
            return ORCH_KERNEL_CASES[i];
    return NULL; /* the parameter's choices are the cases */
}

/* Uniform on [-1, 1) (splitmix64). */
static void fill(float *out, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t x = (seed += UINT64_C(0x9e3779b97f4a7c15));
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        out[i] = (float)((x ^ x >> 31) >> 40) * (1.0f / 8388608) - 1;
    }
}

/* What `out` begins as: zeros to add to, else a pattern that is no result (NaN). */
static int first_byte(const struct kernel_trial *t)
{
    return t->kernel->accumulates ? 0 : 0xff;
}

static bool make_host_arrays(struct kernel_trial *t)
{
    t->in = g_try_new(float, t->in_count);
    t->reference = g_try_new(float, t->out_count);
    t->out = g_try_new(float, t->out_count);
    if (!t->in || !t->reference || !t->out) {
        t->host->fail(t->host, "the arrays do not fit in the machine's memory: choose fewer rows");
        return false;
    }
    fill(t->in, t->in_count, t->host->derive_seed(t->host, "values"));
    memset(t->reference, first_byte(t), t->out_count * sizeof(float));
    t->kernel->reference(t->reference, t->in, t->shape);
    return true;
}

static bool host_memory_fits(const struct kernel_trial *t)
{
    const double bytes = (double)(t->in_count + 2 * t->out_count) * sizeof(float);
    return orch_memory_fits(bytes, "input, result and reference", "fewer rows", t->host);
}

/* Whether the arrays fit into the card, asked before anything is allocated. */
static int gpu_memory_fits(struct kernel_trial *t)
{
    const double bytes = (double)(t->in_count + t->out_count) * sizeof(float);
    size_t free_bytes = 0, total_bytes = 0;
    if (!TRY(t, cudaMemGetInfo(&free_bytes, &total_bytes)))
        return ORCH_FAILED;
    if (bytes <= (double)free_bytes)
        return ORCH_OK;
    g_autofree char *text = g_strdup_printf(
        "the arrays need %.1f GB, and %.1f GB of the card's memory are free: choose fewer rows",
        bytes / 1e9, (double)free_bytes / 1e9);
    t->host->fail(t->host, text);
    return ORCH_SKIPPED;
}

static int make_gpu_arrays(struct kernel_trial *t)
{
    const size_t in_bytes = t->in_count * sizeof(float), out_bytes = t->out_count * sizeof(float);
    const bool ok = TRY(t, cudaMalloc(&t->gpu_in, in_bytes)) &&
                    TRY(t, cudaMalloc(&t->gpu_out, out_bytes)) &&
                    TRY(t, cudaMemcpy(t->gpu_in, t->in, in_bytes, cudaMemcpyHostToDevice)) &&
                    TRY(t, cudaMemset(t->gpu_out, first_byte(t), out_bytes)) &&
                    TRY(t, cudaEventCreate(&t->begin)) && TRY(t, cudaEventCreate(&t->end));
    return ok ? ORCH_OK : ORCH_FAILED;
}

/* Runs once; `*out_s` gets the seconds. */
static bool run_once(struct kernel_trial *t, double *out_s)
{
    float ms = 0;
    if (!t->launch) {
        const double begin = orch_samples_now_s();
        t->kernel->reference(t->out, t->in, t->shape);
        *out_s = orch_samples_now_s() - begin;
        return true;
    }
    if (!TRY(t, cudaEventRecord(t->begin, 0)) ||
        !TRY(t, t->launch(t->gpu_out, t->gpu_in, t->shape, 0)) ||
        !TRY(t, cudaEventRecord(t->end, 0)) || !TRY(t, cudaEventSynchronize(t->end)) ||
        !TRY(t, cudaEventElapsedTime(&ms, t->begin, t->end)))
        return false;
    *out_s = (double)ms / 1e3;
    return true;
}

/* The first run's result against the reference. */
static bool is_right(struct kernel_trial *t)
{
    const struct orch_host *host = t->host;
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < t->out_count; i++) {
        const double right = (double)t->reference[i],
                     tolerance = t->kernel->tolerance(t->shape, right);
        const double error = fabs((double)t->out[i] - right);
        const double share = error == 0                       ? 0
                             : tolerance > 0 && !isnan(error) ? error / tolerance
                                                              : (double)INFINITY;
        if (share > worst) {
            worst = share;
            at = i;
        }
    }
    host->result(host, "error_of_tolerance", worst);
    if (worst <= 1)
        return true;
    g_autofree char *text = g_strdup_printf(
        "element %zu is %.9g, the reference has %.9g (tolerance %.3g)", at, (double)t->out[at],
        (double)t->reference[at], t->kernel->tolerance(t->shape, (double)t->reference[at]));
    host->fail(host, text);
    return false;
}

static int sample(struct kernel_trial *t)
{
    const struct gpukernels_params *p = t->params;
    const bool is_smoke = t->host->smoke(t->host);
    const struct orch_samples_rule rule = {
        is_smoke ? 2 : (size_t)p->min_samples, is_smoke ? 2 : MAX((size_t)p->min_samples, 20000),
        is_smoke ? 0 : p->min_time, p->time_limit, is_smoke ? 1 : p->settled};
    struct orch_samples samples;
    double time_s = 0;
    bool ok = true;
    orch_samples_init(&samples, &rule);
    while (ok && !t->host->cancelled(t->host) && orch_samples_need_more(&samples)) {
        ok = run_once(t, &time_s);
        orch_samples_add(&samples, time_s, 0);
    }
    const struct orch_samples_summary s = orch_samples_summarize(&samples);
    orch_samples_release(&samples);
    if (!ok || t->host->cancelled(t->host))
        return ok ? ORCH_CANCELLED : ORCH_FAILED;
    t->host->result(t->host, "kernel_time", 1e3 * s.median_s);
    t->host->result(t->host, "kernel_spread", s.spread);
    t->host->result(t->host, "kernel_samples", (double)s.count);
    t->host->result(t->host, "bandwidth", t->kernel->bytes(t->shape) / s.median_s / 1e9);
    return ORCH_OK;
}

static int measure(struct kernel_trial *t)
{
    double time_s = 0;
    int status = t->launch ? gpu_memory_fits(t) : ORCH_OK;
    if (status != ORCH_OK)
        return status;
    t->host->phase(t->host, "reference");
    if (!host_memory_fits(t) || !make_host_arrays(t))
        return ORCH_FAILED;
    memset(t->out, first_byte(t), t->out_count * sizeof(float));
    status = t->launch ? make_gpu_arrays(t) : ORCH_OK;
    if (status != ORCH_OK)
        return status;
    t->host->phase(t->host, "sampling");
    if (!run_once(t, &time_s) ||
        (t->launch && !TRY(t, cudaMemcpy(t->out, t->gpu_out, t->out_count * sizeof(float),
                                         cudaMemcpyDeviceToHost))))
        return ORCH_FAILED;
    return is_right(t) ? sample(t) : ORCH_FAILED;
}

static void release(struct kernel_trial *t)
{
    g_free(t->in);
    g_free(t->reference);
    g_free(t->out);
    if (!t->launch)
        return;
    (void)cudaFree(t->gpu_in);
    (void)cudaFree(t->gpu_out);
    if (t->begin)
        (void)cudaEventDestroy(t->begin);
    if (t->end)
        (void)cudaEventDestroy(t->end);
}

int orch_gpukernels_run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    const struct gpukernels_params *p = params;
    struct kernel_trial t = {.params = p, .host = host, .kernel = find_case(p->kernel)};
    char reason[512];
    t.launch = strcmp(p->variant, "cpu") == 0     ? NULL
               : strcmp(p->variant, "naive") == 0 ? t.kernel->naive
                                                  : t.kernel->fast;
    if (t.launch && !orch_cuda_devices(reason, sizeof reason)) {
        host->fail(host, reason);
        return ORCH_SKIPPED;
    }
    t.shape = (struct orch_kernel_shape){(size_t)p->rows, (size_t)p->columns};
    if (host->smoke(host))
        t.shape = (struct orch_kernel_shape){MIN(t.shape.rows, 37), MIN(t.shape.columns, 101)};
    t.in_count = t.shape.rows * t.shape.columns;
    t.out_count = t.kernel->out_count(t.shape);
    const int status = measure(&t);
    release(&t);
    return status;
}
