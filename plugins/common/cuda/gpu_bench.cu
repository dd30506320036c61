/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch-gpu-bench SECONDS: the ceilings of the first visible GPU, for `orch doctor --bench`.
 *
 * A row of JSON a line, as lib/devices/ceilings.h reads it: copies inside the GPU, to and from it
 * (pinned and pageable), the latency of a launch, and matrix products by precision through cuBLAS,
 * which is opened at run time, so that the program starts where it is missing. What cannot be
 * measured is a row with "skipped" and the reason. Exit status: 0; 77 without a GPU; 3 after an
 * error that made the context unusable: what follows it is missing. The reason is on stderr.
 *
 * Each is called once to warm up, then repeated for at least SECONDS and five times, and then until
 * the middle half of the samples lies within 5 % of the median, but no longer than four times
 * SECONDS. */
#include "plugins/common/cuda/cuda_compat.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <time.h>
#include <vector>

namespace
{

/* ---- cuBLAS ("cuBLAS Library", NVIDIA): the same functions and numbers since version 11 -------
 */

enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32F_TF32 = 77, ALGO_DEFAULT = -1 };
typedef int create_fn(void **handle);
typedef int version_fn(void *handle, int *version);
typedef int gemm_fn(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                    const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
                    const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);

struct cublas {
    void *handle;
    gemm_fn *gemm;
    char name[32]; /* "cuBLAS 12.6.4" */
};

/* Returns why cuBLAS cannot be used, or NULL. */
const char *open_cublas(cublas *out)
{
    static const char *const files[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    void *library = NULL;
    for (const char *file : files)
        library = library ? library : dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return "there is no libcublas.so.13, .12 or .11 on the library path (LD_LIBRARY_PATH)";
    create_fn *create = (create_fn *)dlsym(library, "cublasCreate_v2");
    version_fn *get_version = (version_fn *)dlsym(library, "cublasGetVersion_v2");
    out->gemm = (gemm_fn *)dlsym(library, "cublasGemmEx");
    int version = 0;
    if (!create || !get_version || !out->gemm)
        return "cuBLAS lacks cublasGemmEx";
    if (create(&out->handle) != 0 || get_version(out->handle, &version) != 0)
        return "cuBLAS cannot be initialised";
    snprintf(out->name, sizeof out->name, "cuBLAS %d.%d.%d", version / 10000, version / 100 % 100,
             version % 100);
    return NULL;
}

/* ---- output -----------------------------------------------------------------------------------
 */

char gpu_name[256];

void print_text(const char *key, const char *text)
{
    printf(",\"%s\":\"", key);
    for (; *text; text++)
        if ((unsigned char)*text >= ' ')
            printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"");
}

void begin_row(const char *what, const char *how, const char *unit)
{
    printf("{\"threads\":0");
    print_text("device", gpu_name);
    print_text("what", what);
    print_text("how", how);
    print_text("unit", unit);
}

void print_skipped(const char *what, const char *how, const char *unit, const char *why)
{
    begin_row(what, how, unit);
    print_text("skipped", why);
    printf("}\n");
    fflush(stdout);
}

/* ---- repeating --------------------------------------------------------------------------------
 */

double now_s()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct bench {
    double seconds;
    cudaEvent_t begin, end;
    cublas blas;
    const char *no_blas; /* why there is none, or NULL */
};

/* A measurement: prepares nothing, returns the seconds of one round, or less than 0 after an
 * error. */
typedef double round_fn(bench *b, void *ctx);

/* Repeats `round` and prints its row: `work` per second, or the seconds per `work` for a time. */
void measure(bench *b, const char *what, const char *how, const char *unit, double work,
             const char *with, round_fn *round, void *ctx)
{
    const bool is_time = strcmp(unit, "s") == 0;
    std::vector<double> values, sorted;
    double spread = 1;
    const double warm_up = round(b, ctx), begin = now_s();
    for (bool settled = false; warm_up >= 0 && !settled;) {
        const double one = round(b, ctx), passed = now_s() - begin;
        if (one < 0)
            break;
        values.push_back(is_time ? one / work : work / std::max(one, 1e-12));
        if (passed < b->seconds || values.size() < 5)
            continue;
        sorted = values;
        std::sort(sorted.begin(), sorted.end());
        const size_t n = sorted.size();
        spread = (sorted[n * 3 / 4] - sorted[n / 4]) / sorted[n / 2];
        settled = spread <= 0.05 || passed >= 4 * b->seconds;
    }
    const cudaError_t status = cudaGetLastError();
    if (sorted.empty() || status != cudaSuccess) {
        char text[256];
        if (status != cudaSuccess)
            orch_cuda_error_text(text, sizeof text, how, status);
        else
            snprintf(text, sizeof text, "%s does not offer it on this GPU", *with ? with : "CUDA");
        print_skipped(what, how, unit, text);
        if (status != cudaSuccess && orch_cuda_error_is_sticky(status)) {
            fprintf(stderr, "%s; the GPU's context is unusable: the rest was not measured\n", text);
            exit(3);
        }
        return;
    }
    begin_row(what, how, unit);
    printf(",\"best\":%.9g,\"median\":%.9g,\"spread\":%.4g,\"samples\":%zu",
           is_time ? sorted.front() : sorted.back(), sorted[sorted.size() / 2], spread,
           sorted.size());
    print_text("with", with);
    printf("}\n");
    fflush(stdout);
}

__global__ void wait_cycles(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles) {
    }
}

/* Records the first event behind a kernel of about 20 microseconds, so that what is launched
 * meanwhile follows the event at once: on an idle GPU the launch would count, too. */
bool begin_timing(bench *b)
{
    wait_cycles<<<1, 1>>>(40000);
    return cudaEventRecord(b->begin) == cudaSuccess;
}

/* Seconds between the two events on the GPU; less than 0 after an error. */
double between(bench *b)
{
    float ms = 0;
    if (cudaEventRecord(b->end) != cudaSuccess || cudaEventSynchronize(b->end) != cudaSuccess ||
        cudaEventElapsedTime(&ms, b->begin, b->end) != cudaSuccess)
        return -1;
    return ms / 1e3;
}

/* ---- copies -----------------------------------------------------------------------------------
 */

struct copy {
    void *to;
    const void *from;
    size_t bytes;
    cudaMemcpyKind kind;
};

double copy_round(bench *b, void *ctx)
{
    const copy *c = (const copy *)ctx;
    if (!begin_timing(b) || cudaMemcpyAsync(c->to, c->from, c->bytes, c->kind) != cudaSuccess)
        return -1;
    return between(b);
}

/* The bytes of pageable memory are staged by the driver, so the host's clock counts. */
double pageable_round(bench *, void *ctx)
{
    const copy *c = (const copy *)ctx;
    const double begin = now_s();
    if (cudaMemcpy(c->to, c->from, c->bytes, c->kind) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
        return -1;
    return now_s() - begin;
}

void measure_copies(bench *b)
{
    const size_t host_bytes = (size_t)256 << 20;
    size_t free_bytes = 0, total = 0, bytes = (size_t)1 << 30;
    void *one = NULL, *two = NULL, *pinned = NULL, *pageable = malloc(host_bytes);
    cudaMemGetInfo(&free_bytes, &total);
    bytes = std::max(std::min(bytes, free_bytes / 4), host_bytes);
    if (!pageable || cudaMalloc(&one, bytes) != cudaSuccess ||
        cudaMalloc(&two, bytes) != cudaSuccess ||
        cudaMallocHost(&pinned, host_bytes) != cudaSuccess) {
        char text[256];
        print_skipped("memory", "copy", "B/s",
                      orch_cuda_error_text(text, sizeof text, "arrays", cudaGetLastError()));
    } else {
        memset(pageable, 1, host_bytes);
        memset(pinned, 1, host_bytes);
        cudaMemset(one, 1, bytes);
        copy inside = {two, one, bytes, cudaMemcpyDeviceToDevice};
        copy to_pinned = {one, pinned, host_bytes, cudaMemcpyHostToDevice};
        copy to_pageable = {one, pageable, host_bytes, cudaMemcpyHostToDevice};
        copy from_pinned = {pinned, one, host_bytes, cudaMemcpyDeviceToHost};
        copy from_pageable = {pageable, one, host_bytes, cudaMemcpyDeviceToHost};
        measure(b, "memory", "copy", "B/s", 2.0 * (double)bytes, "", copy_round, &inside);
        measure(b, "to device", "pinned", "B/s", (double)host_bytes, "", copy_round, &to_pinned);
        measure(b, "to device", "pageable", "B/s", (double)host_bytes, "", pageable_round,
                &to_pageable);
        measure(b, "from device", "pinned", "B/s", (double)host_bytes, "", copy_round,
                &from_pinned);
        measure(b, "from device", "pageable", "B/s", (double)host_bytes, "", pageable_round,
                &from_pageable);
    }
    cudaFree(one);
    cudaFree(two);
    cudaFreeHost(pinned);
    free(pageable);
    (void)cudaGetLastError();
}

/* ---- launches ---------------------------------------------------------------------------------
 */

enum { LAUNCHES = 1000 };

__global__ void nothing()
{
}

/* Launches in a row, waited for at the end: what a launch costs while the GPU keeps up. */
double queued_round(bench *, void *)
{
    const double begin = now_s();
    for (int i = 0; i < LAUNCHES; i++)
        nothing<<<1, 1>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? now_s() - begin : -1;
}

/* Each launch is waited for: the round trip. */
double waited_round(bench *, void *)
{
    const double begin = now_s();
    for (int i = 0; i < LAUNCHES; i++) {
        nothing<<<1, 1>>>();
        if (cudaDeviceSynchronize() != cudaSuccess)
            return -1;
    }
    return now_s() - begin;
}

/* ---- products ---------------------------------------------------------------------------------
 */

/* Values of magnitude 0.5 to 1 with random signs: the power that a GPU takes, and so its clock,
 * depends on the bits that change, which zeros would hide. */
__global__ void fill(uint32_t *words, size_t count, uint32_t exponents, uint32_t mantissas)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t h = (uint32_t)i * 2654435761u;
    h = (h ^ (h >> 15)) * 2246822519u;
    h ^= h >> 13;
    words[i] = exponents | (h & mantissas);
}

struct precision {
    const char *name;
    int type, compute, bytes, side, cc_min; /* cc_min: the first major compute capability */
    uint32_t exponents, mantissas;          /* of a 32-bit word: bits set, and random ones */
};
const precision PRECISIONS[] = {
    {"fp32", CUDA_R_32F, COMPUTE_32F, 4, 8192, 3, 0x3f000000u, 0x807fffffu},
    {"tf32", CUDA_R_32F, COMPUTE_32F_TF32, 4, 8192, 8, 0x3f000000u, 0x807fffffu},
    {"fp16", CUDA_R_16F, COMPUTE_32F, 2, 8192, 5, 0x38003800u, 0x83ff83ffu},
    {"bf16", CUDA_R_16BF, COMPUTE_32F, 2, 8192, 8, 0x3f003f00u, 0x807f807fu},
    {"fp64", CUDA_R_64F, COMPUTE_64F, 8, 4096, 3, 0x3fe00000u, 0x800fffffu},
};

struct product {
    const precision *p;
    int side;
    void *a, *b, *c;
};

double product_round(bench *b, void *ctx)
{
    const product *q = (const product *)ctx;
    const float one = 1, zero = 0;
    const double one64 = 1, zero64 = 0;
    const bool is_double = q->p->compute == COMPUTE_64F;
    const int n = q->side, type = q->p->type;
    if (!begin_timing(b) ||
        b->blas.gemm(b->blas.handle, 0, 0, n, n, n, is_double ? (const void *)&one64 : &one, q->a,
                     type, n, q->b, type, n, is_double ? (const void *)&zero64 : &zero, q->c, type,
                     n, q->p->compute, ALGO_DEFAULT) != 0)
        return -1;
    return between(b);
}

/* The side at which three matrices take at most half of the free memory. */
int side_for(const precision *p)
{
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    int side = p->side;
    while (side > 512 && 3.0 * side * side * p->bytes > (double)free_bytes / 2)
        side /= 2;
    return side;
}

void measure_product(bench *b, const precision *p, int cc_major)
{
    const char *unit = "FLOP/s";
    if (b->no_blas || cc_major < p->cc_min) {
        print_skipped("product", p->name, unit,
                      b->no_blas ? b->no_blas : "this GPU has no units for it");
        return;
    }
    product q = {p, side_for(p), NULL, NULL, NULL};
    const size_t bytes = (size_t)q.side * (size_t)q.side * (size_t)p->bytes, words = bytes / 4;
    if (cudaMalloc(&q.a, bytes) != cudaSuccess || cudaMalloc(&q.b, bytes) != cudaSuccess ||
        cudaMalloc(&q.c, bytes) != cudaSuccess) {
        char text[256];
        print_skipped("product", p->name, unit,
                      orch_cuda_error_text(text, sizeof text, "matrices", cudaGetLastError()));
    } else {
        const unsigned blocks = (unsigned)((words + 255) / 256);
        fill<<<blocks, 256>>>((uint32_t *)q.a, words, p->exponents, p->mantissas);
        fill<<<blocks, 256>>>((uint32_t *)q.b, words, p->exponents, p->mantissas);
        measure(b, "product", p->name, unit, 2.0 * q.side * q.side * q.side, b->blas.name,
                product_round, &q);
    }
    cudaFree(q.a);
    cudaFree(q.b);
    cudaFree(q.c);
    (void)cudaGetLastError();
}

} // namespace

int main(int argc, char **argv)
{
    char why[256];
    bench b = {argc > 1 ? atof(argv[1]) : 0.5, NULL, NULL, {}, NULL};
    if (!orch_cuda_devices(why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    cudaDeviceProp properties;
    cudaError_t status = cudaGetDeviceProperties(&properties, 0);
    if (status == cudaSuccess)
        status = cudaEventCreate(&b.begin);
    if (status == cudaSuccess)
        status = cudaEventCreate(&b.end);
    if (status != cudaSuccess) {
        fprintf(stderr, "%s\n", orch_cuda_error_text(why, sizeof why, "the GPU", status));
        return 3;
    }
    snprintf(gpu_name, sizeof gpu_name, "%s", properties.name);
    b.no_blas = open_cublas(&b.blas);
    for (const precision &p : PRECISIONS)
        measure_product(&b, &p, properties.major);
    measure_copies(&b);
    measure(&b, "launch", "queued", "s", LAUNCHES, "", queued_round, NULL);
    measure(&b, "launch", "waited", "s", LAUNCHES, "", waited_round, NULL);
    return 0;
}
