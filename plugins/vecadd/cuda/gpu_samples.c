/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples of a trial: copies, the kernel with an empty cache and with a warm one, allocation,
 * the card's bandwidth. */
#include "plugins/vecadd/cuda/gpu_trial.h"

#include "plugins/common/cuda/cuda_compat.h"

static void result_ms(const struct gpu_trial *t, const char *name, double seconds)
{
    t->host->result(t->host, name, 1e3 * seconds);
}

static bool is_going_on(const struct gpu_trial *t, struct orch_samples *samples)
{
    return !t->host->cancelled(t->host) && orch_samples_need_more(samples);
}

/* The medians of allocation and release, with arrays of their own. */
static bool sample_allocation(struct gpu_trial *t, double *out_total_s)
{
    struct orch_samples allocations, releases;
    struct gpu_trial other = *t;
    bool ok = true;
    orch_samples_init(&allocations, &t->trial->rule);
    orch_samples_init(&releases, &t->trial->rule);
    while (ok && is_going_on(t, &allocations)) {
        other.a = other.b = other.out = NULL;
        const double begin = orch_samples_now_s();
        ok = orch_vecadd_device_allocate(&other);
        const double middle = orch_samples_now_s();
        orch_samples_add(&allocations, middle - begin, 0);
        if (!orch_vecadd_device_free(&other) && ok)
            ok = ORCH_VECADD_TRY(t, cudaGetLastError());
        orch_samples_add(&releases, orch_samples_now_s() - middle, 0);
    }
    const double allocation_s = orch_samples_summarize(&allocations).median_s,
                 release_s = orch_samples_summarize(&releases).median_s;
    if (ok && allocations.count) {
        result_ms(t, "allocation_time", allocation_s);
        result_ms(t, "free_time", release_s);
        *out_total_s += allocation_s + release_s;
    }
    orch_samples_release(&allocations);
    orch_samples_release(&releases);
    return ok;
}

/* True when three more arrays fit beside those of the trial. */
static bool has_room_twice(struct gpu_trial *t)
{
    size_t free_bytes = 0, total_bytes = 0;
    return cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess &&
           orch_vecadd_bytes(t->trial->count) < 0.9 * (double)free_bytes;
}

/* One round of all that happens between two allocations; the kernel with an empty cache. */
static bool sample_round(struct gpu_trial *t, double *in_s, double *kernel_s, double *out_s)
{
    return orch_vecadd_send_home(t) && orch_vecadd_copy_in(t, in_s) && orch_vecadd_flush_l2(t) &&
           orch_vecadd_run_kernel(t, kernel_s) && orch_vecadd_copy_out(t, out_s);
}

static void report_copies(const struct gpu_trial *t, const struct orch_samples *in,
                          const struct orch_samples *out, double *out_total_s)
{
    const double in_s = orch_samples_summarize(in).median_s,
                 out_s = orch_samples_summarize(out).median_s;
    const double bytes = (double)t->trial->count * sizeof(float);
    result_ms(t, "copy_in_time", in_s);
    result_ms(t, "copy_out_time", out_s);
    if (in_s > 0)
        t->host->result(t->host, "copy_in_bandwidth", 2 * bytes / in_s / 1e9);
    if (out_s > 0)
        t->host->result(t->host, "copy_out_bandwidth", bytes / out_s / 1e9);
    *out_total_s += in_s + out_s;
}

/* The kernel again and again: arrays that lie on the device already, caches as the one before left
 * them. */
static bool sample_warm(struct gpu_trial *t)
{
    struct orch_samples samples;
    double kernel_s = 0;
    bool ok = true;
    orch_samples_init(&samples, &t->trial->rule);
    if (orch_vecadd_is_managed(t))
        ok = orch_vecadd_run_kernel(t, &kernel_s); /* brings the pages back */
    while (ok && is_going_on(t, &samples)) {
        ok = orch_vecadd_run_kernel(t, &kernel_s);
        orch_samples_add(&samples, kernel_s, orch_gpu_clock_sm_mhz(t->clock));
    }
    if (ok && samples.count)
        result_ms(t, "kernel_warm_time", orch_samples_summarize(&samples).median_s);
    orch_samples_release(&samples);
    return ok;
}

/* Sets the bandwidth and the share of the nominal one, beside the state that it was reached in. */
static bool report_card(struct gpu_trial *t, const struct orch_samples *kernel,
                        double *out_measured)
{
    const struct orch_host *host = t->host;
    const double nominal = orch_cuda_nominal_bandwidth(t->device),
                 memory_mhz = orch_gpu_clock_memory_mhz(t->clock);
    host->result(host, "ecc", orch_cuda_attribute(cudaDevAttrEccEnabled, t->device, 0));
    if (memory_mhz > 0)
        host->result(host, "memory_clock", memory_mhz);
    if (nominal > 0) {
        host->result(host, "nominal_bandwidth", nominal / 1e9);
        host->result(host, "nominal_share",
                     orch_vecadd_bytes(t->trial->count) / orch_samples_summarize(kernel).median_s /
                         nominal);
    }
    host->phase(host, "measuring the card's memory");
    return orch_vecadd_copy_bandwidth(t, out_measured);
}

bool orch_vecadd_gpu_samples(struct gpu_trial *t)
{
    struct orch_samples in, kernel, out;
    double in_s, kernel_s, out_s, total_s = 0, measured = 0;
    orch_samples_init(&in, &t->trial->rule);
    orch_samples_init(&kernel, &t->trial->rule);
    orch_samples_init(&out, &t->trial->rule);
    bool ok = true;
    while (ok && is_going_on(t, &kernel)) {
        ok = sample_round(t, &in_s, &kernel_s, &out_s);
        if (!ok)
            break;
        orch_samples_add(&kernel, kernel_s, orch_gpu_clock_sm_mhz(t->clock));
        orch_samples_add(&in, in_s, 0);
        orch_samples_add(&out, out_s, 0);
    }
    if (ok && t->first_kernel_s < ORCH_VECADD_SLOW_KERNEL_S)
        ok = sample_warm(t);
    if (ok && !t->host->cancelled(t->host)) {
        report_copies(t, &in, &out, &total_s);
        total_s += orch_samples_summarize(&kernel).median_s;
        if (has_room_twice(t))
            ok = sample_allocation(t, &total_s);
        else
            t->host->note(t->host, "the allocation was timed only once: the GPU has no room for a "
                                   "second copy of the arrays");
        ok = ok && report_card(t, &kernel, &measured);
        if (ok) {
            result_ms(t, "total_time", total_s);
            orch_vecadd_report_kernel(t->trial, &kernel, measured, t->host);
        }
    }
    orch_samples_release(&in);
    orch_samples_release(&kernel);
    orch_samples_release(&out);
    return ok;
}
