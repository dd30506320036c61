/* SPDX-License-Identifier: MIT */
/* Square matrix products through the libraries that frameworks call, found at run time: oneDNN
 * (LibTorch's), then OpenBLAS or MKL, then kernels of our own (own_gemm.h). In a child process, so
 * that a library and its threads end with it. */
#include "features/hardware/measure.h"

#include "features/hardware/own_gemm.h"
#include "lib/base/ident.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE = ORCH_OWN_GEMM_SIDE };

typedef int sgemm_fn(char, char, int64_t, int64_t, int64_t, float, const void *, int64_t,
                     const void *, int64_t, float, void *, int64_t);
typedef int s8gemm_fn(char, char, char, int64_t, int64_t, int64_t, float, const void *, int64_t,
                      uint8_t, const void *, int64_t, int8_t, float, void *, int64_t,
                      const int32_t *);
typedef void cblas_s_fn(int, int, int, int, int, int, float, const void *, int, const void *, int,
                        float, void *, int);
typedef void cblas_d_fn(int, int, int, int, int, int, double, const void *, int, const void *, int,
                        double, void *, int);
typedef void set_threads_fn(int);

struct product {
    enum orch_cpu_precision precision;
    int threads;
    const char *library;
    sgemm_fn *dnnl; /* fp32 and bf16 */
    s8gemm_fn *dnnl8;
    cblas_s_fn *blas;
    cblas_d_fn *blas64;
    void *a, *b, *c;
};

const char *orch_cpu_precision_name(enum orch_cpu_precision precision)
{
    static const char *const names[] = {"fp32", "fp64", "bf16", "int8"};
    return names[precision];
}

/* `library` NULL: all that were opened (RTLD_DEFAULT). */
static void find_symbol(void *library, const char *name, void *out_function)
{
    void *address = dlsym(library, name);
    memcpy(out_function, &address, sizeof address); /* ISO C has no cast from void * to function */
}

static void find_dnnl(struct product *p)
{
    static const char *const libraries[] = {"libdnnl.so.3", "libdnnl.so.2"};
    static const char *const names[] = {"dnnl_sgemm", NULL, "dnnl_gemm_bf16bf16f32", NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(libraries) && !p->dnnl && !p->dnnl8; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
        if (!library)
            continue;
        if (names[p->precision])
            find_symbol(library, names[p->precision], &p->dnnl);
        else if (p->precision == ORCH_CPU_INT8)
            find_symbol(library, "dnnl_gemm_u8s8s32", &p->dnnl8);
    }
    p->library = p->dnnl || p->dnnl8 ? "oneDNN" : NULL;
}

static void find_blas(struct product *p, set_threads_fn **out_set_threads)
{
    static const struct {
        const char *file, *name;
    } libraries[] = {
        {"libopenblas.so.0", "OpenBLAS"}, {"libmkl_rt.so", "MKL"}, {"libmkl_rt.so.2", "MKL"}};
    for (size_t i = 0; i < G_N_ELEMENTS(libraries) && !p->library; i++) {
        void *library = dlopen(libraries[i].file, RTLD_NOW | RTLD_GLOBAL);
        if (!library)
            continue;
        find_symbol(library, "cblas_sgemm", &p->blas);
        find_symbol(library, "cblas_dgemm", &p->blas64);
        find_symbol(library, "openblas_set_num_threads", out_set_threads);
        p->library = p->blas && p->blas64 ? libraries[i].name : NULL;
    }
}

static bool find_product(struct product *p)
{
    set_threads_fn *set_threads = NULL;
    find_dnnl(p);
    if (!p->library && (p->precision == ORCH_CPU_FP32 || p->precision == ORCH_CPU_FP64))
        find_blas(p, &set_threads);
    if (!set_threads) /* oneDNN and MKL use OpenMP's threads */
        find_symbol(NULL, "omp_set_num_threads", &set_threads);
    if (set_threads)
        set_threads(p->threads);
    if (!p->library && (p->precision == ORCH_CPU_FP32 || p->precision == ORCH_CPU_FP64))
        p->library = "orch's own kernel";
    return p->library != NULL;
}

static double run_product(void *ctx)
{
    const struct product *p = ctx;
    int status = 0;
    int64_t begin = orch_mono_ns();
    if (p->dnnl)
        status = p->dnnl('N', 'N', SIDE, SIDE, SIDE, 1, p->a, SIDE, p->b, SIDE, 0, p->c, SIDE);
    else if (p->dnnl8)
        status = p->dnnl8('N', 'N', 'F', SIDE, SIDE, SIDE, 1, p->a, SIDE, 0, p->b, SIDE, 0, 0, p->c,
                          SIDE, &(int32_t){0});
    else if (p->blas && p->precision == ORCH_CPU_FP32)
        p->blas(101, 111, 111, SIDE, SIDE, SIDE, 1, p->a, SIDE, p->b, SIDE, 0, p->c, SIDE);
    else if (p->blas64 && p->precision == ORCH_CPU_FP64)
        p->blas64(101, 111, 111, SIDE, SIDE, SIDE, 1, p->a, SIDE, p->b, SIDE, 0, p->c, SIDE);
    else
        orch_own_gemm_run(p->precision == ORCH_CPU_FP32 ? ORCH_OWN_FP32 : ORCH_OWN_FP64, p->a, p->b,
                          p->c, p->threads);
    return status ? 0 : 2.0 * SIDE * SIDE * SIDE / ((double)(orch_mono_ns() - begin) / 1e9);
}

/* Small values whose sums stay exact in every precision: 0 and 1. */
static void fill(void *matrix, enum orch_cpu_precision precision)
{
    for (int i = 0; i < SIDE * SIDE; i++) {
        bool is_one = i % 3 == 0;
        if (precision == ORCH_CPU_FP32)
            ((float *)matrix)[i] = is_one;
        else if (precision == ORCH_CPU_FP64)
            ((double *)matrix)[i] = is_one;
        else if (precision == ORCH_CPU_BF16)
            ((uint16_t *)matrix)[i] = is_one ? 0x3f80 : 0;
        else
            ((uint8_t *)matrix)[i] = is_one;
    }
}

/* Keeps this process on as many CPUs as it may have threads: not every build of the libraries
 * heeds OpenMP's setting. */
static void restrict_to(int threads)
{
    cpu_set_t allowed, chosen;
    CPU_ZERO(&chosen);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) <= threads)
        return;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&chosen) < threads; cpu--)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &chosen);
    sched_setaffinity(0, sizeof chosen, &chosen);
}

static struct orch_cpu_rate measure(struct product p, double seconds)
{
    restrict_to(p.threads);
    struct orch_cpu_rate rate = {0};
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(double);
    if (!find_product(&p) || posix_memalign(&p.a, 64, bytes) != 0 ||
        posix_memalign(&p.b, 64, bytes) != 0 || posix_memalign(&p.c, 64, bytes) != 0)
        return rate;
    memset(p.c, 0, bytes);
    fill(p.a, p.precision);
    fill(p.b, p.precision);
    if (run_product(&p) > 0) /* warm-up: generates code and starts threads */
        rate.measured = orch_rate_samples_take(run_product, &p, seconds);
    g_strlcpy(rate.library, p.library, sizeof rate.library);
    free(p.a);
    free(p.b);
    free(p.c);
    return rate;
}

struct orch_cpu_rate orch_measure_gemm(enum orch_cpu_precision precision, int threads,
                                       double seconds)
{
    struct orch_cpu_rate rate = {0};
    int ends[2];
    if (pipe(ends) != 0)
        return rate;
    pid_t child = fork();
    if (child == 0) {
        rate =
            measure((struct product){.precision = precision, .threads = MAX(threads, 1)}, seconds);
        ssize_t written = write(ends[1], &rate, sizeof rate);
        _exit(written == (ssize_t)sizeof rate ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &rate, sizeof rate) != (ssize_t)sizeof rate)
        rate = (struct orch_cpu_rate){0};
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return rate;
}
