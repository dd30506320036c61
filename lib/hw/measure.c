/* SPDX-License-Identifier: MIT */
#include "lib/hw/measure.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDE 1024
#define COPY_BYTES ((size_t)128 << 20) /* of each array, all threads together */
#define DISK_BYTES ((size_t)256 << 20)
#define CHUNK_BYTES ((size_t)4 << 20)

/* ---- matrix products ---------------------------------------------------------------------------
 */

typedef int dnnl_sgemm_fn(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t,
                          const float *, int64_t, float, float *, int64_t);
typedef void cblas_sgemm_fn(int, int, int, int, int, int, float, const float *, int, const float *,
                            int, float, float *, int);
typedef void set_threads_fn(int);

struct gemm {
    const char *name;
    dnnl_sgemm_fn *dnnl;
    cblas_sgemm_fn *blas;
    set_threads_fn *set_threads;
};

static void find_symbol(void *library, const char *name, void *out_function)
{
    void *address = library ? dlsym(library, name) : NULL;
    memcpy(out_function, &address, sizeof address); /* ISO C has no cast from void * to function */
}

static struct gemm find_gemm(void)
{
    static const char *const dnnl[] = {"libdnnl.so.3", "libdnnl.so.2"};
    static const char *const blas[] = {"libopenblas.so.0", "libmkl_rt.so"};
    struct gemm gemm = {.name = "a plain loop"};
    for (size_t i = 0; i < G_N_ELEMENTS(dnnl) && !gemm.dnnl; i++) {
        find_symbol(dlopen(dnnl[i], RTLD_NOW | RTLD_GLOBAL), "dnnl_sgemm", &gemm.dnnl);
        gemm.name = gemm.dnnl ? "oneDNN" : gemm.name;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(blas) && !gemm.dnnl && !gemm.blas; i++) {
        void *library = dlopen(blas[i], RTLD_NOW | RTLD_GLOBAL);
        find_symbol(library, "cblas_sgemm", &gemm.blas);
        find_symbol(library, "openblas_set_num_threads", &gemm.set_threads);
        gemm.name = gemm.blas ? (i ? "MKL" : "OpenBLAS") : gemm.name;
    }
    if (!gemm.set_threads) /* both use OpenMP threads */
        find_symbol(RTLD_DEFAULT, "omp_set_num_threads", &gemm.set_threads);
    return gemm;
}

/* Blocked so that rows of B stay in cache; compilers vectorise the inner loop. */
static void plain_product(const float *a, const float *b, float *c)
{
    memset(c, 0, sizeof(float) * SIDE * SIDE);
    for (int block = 0; block < SIDE; block += 64)
        for (int i = 0; i < SIDE; i++)
            for (int k = block; k < block + 64; k++)
                for (int j = 0; j < SIDE; j++)
                    c[i * SIDE + j] += a[i * SIDE + k] * b[k * SIDE + j];
}

static void product(const struct gemm *gemm, const float *a, const float *b, float *c)
{
    if (gemm->dnnl)
        gemm->dnnl('N', 'N', SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, c, SIDE);
    else if (gemm->blas)
        gemm->blas(101, 111, 111, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0, c, SIDE);
    else
        plain_product(a, b, c);
}

static double measure_gemm(int threads, double seconds, const char **out_library)
{
    struct gemm gemm = find_gemm();
    float *a = g_new(float, SIDE *SIDE), *b = g_new(float, SIDE *SIDE),
          *c = g_new0(float, SIDE *SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        a[i] = b[i] = (float)(i % 17) / 17;
    if (threads && gemm.set_threads)
        gemm.set_threads(threads);
    product(&gemm, a, b, c); /* warm-up: generates code and starts threads */
    double best = 1e300;
    int64_t begin = orch_mono_ns();
    do {
        int64_t one = orch_mono_ns();
        product(&gemm, a, b, c);
        best = MIN(best, (double)(orch_mono_ns() - one) / 1e9);
    } while ((double)(orch_mono_ns() - begin) < seconds * 1e9);
    *out_library = gemm.name;
    g_free(a);
    g_free(b);
    g_free(c);
    return 2.0 * SIDE * SIDE * SIDE / best;
}

struct gemm_answer {
    double rate;
    char library[32];
};

/* Runs in a child process, so that the library and its threads end with it. */
double orch_measure_gemm(int threads, double seconds, const char **out_library)
{
    static struct gemm_answer answer; /* static because its library name is returned */
    int ends[2];
    const char *library = "";
    memset(&answer, 0, sizeof answer);
    *out_library = answer.library;
    if (pipe(ends) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        answer.rate = measure_gemm(threads, seconds, &library);
        g_strlcpy(answer.library, library, sizeof answer.library);
        ssize_t written = write(ends[1], &answer, sizeof answer);
        _exit(written == (ssize_t)sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
        answer.rate = 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return answer.rate;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

struct copier {
    char *from, *to;
    size_t bytes;
};

static gpointer copy(gpointer data)
{
    struct copier *c = data;
    memcpy(c->to, c->from, c->bytes);
    return NULL;
}

static void copy_all(struct copier *copiers, int threads)
{
    g_autofree GThread **running = g_new0(GThread *, threads);
    for (int i = 1; i < threads; i++)
        running[i] = g_thread_new("copy", copy, &copiers[i]);
    copy(&copiers[0]);
    for (int i = 1; i < threads; i++)
        g_thread_join(running[i]);
}

double orch_measure_memory(int threads, double seconds)
{
    threads = MAX(threads, 1);
    g_autofree struct copier *copiers = g_new0(struct copier, threads);
    for (int i = 0; i < threads; i++) {
        copiers[i].bytes = COPY_BYTES / (size_t)threads;
        copiers[i].from = g_malloc(copiers[i].bytes);
        copiers[i].to = g_malloc(copiers[i].bytes);
        memset(copiers[i].from, i + 1, copiers[i].bytes);
        memset(copiers[i].to, 0, copiers[i].bytes);
    }
    double best = 1e300;
    int64_t begin = orch_mono_ns();
    do {
        int64_t one = orch_mono_ns();
        copy_all(copiers, threads);
        best = MIN(best, (double)(orch_mono_ns() - one) / 1e9);
    } while ((double)(orch_mono_ns() - begin) < seconds * 1e9);
    double bytes = 2.0 * (double)copiers[0].bytes * threads;
    for (int i = 0; i < threads; i++) {
        g_free(copiers[i].from);
        g_free(copiers[i].to);
    }
    return bytes / best;
}

/* ---- disk --------------------------------------------------------------------------------------
 */

static bool failed(const char *path, const char *what, GError **error)
{
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot %s '%s': %s", what, path, g_strerror(errno));
    return false;
}

static bool write_file(int file, const char *path, char *chunk, GError **error)
{
    for (size_t done = 0; done < DISK_BYTES; done += CHUNK_BYTES) {
        memcpy(chunk, &done, sizeof done); /* makes each chunk unique */
        if (write(file, chunk, CHUNK_BYTES) != (ssize_t)CHUNK_BYTES)
            return failed(path, "write", error);
    }
    return fdatasync(file) == 0 || failed(path, "sync", error);
}

static bool read_file(int file, const char *path, char *chunk, GError **error)
{
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    if (lseek(file, 0, SEEK_SET) != 0)
        return failed(path, "read", error);
    for (size_t done = 0; done < DISK_BYTES; done += CHUNK_BYTES)
        if (read(file, chunk, CHUNK_BYTES) != (ssize_t)CHUNK_BYTES)
            return failed(path, "read", error);
    return true;
}

bool orch_measure_disk(const char *folder, struct orch_disk_rates *out, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "orch-disk-XXXXXX", NULL);
    g_autofree char *chunk = g_malloc(CHUNK_BYTES);
    memset(chunk, 0x5a, CHUNK_BYTES);
    int file = mkstemp(path);
    if (file < 0)
        return failed(path, "make", error);
    unlink(path);
    int64_t begin = orch_mono_ns();
    bool ok = write_file(file, path, chunk, error);
    int64_t middle = orch_mono_ns();
    ok = ok && read_file(file, path, chunk, error);
    int64_t end = orch_mono_ns();
    close(file);
    if (ok)
        *out = (struct orch_disk_rates){(double)DISK_BYTES / ((double)(middle - begin) / 1e9),
                                        (double)DISK_BYTES / ((double)(end - middle) / 1e9)};
    return ok;
}
