/* SPDX-License-Identifier: MIT */
/* The kernel keeps 4 rows and two vectors of a tile in registers and runs over the inner index: 8
 * multiply-adds of vectors for two loads and 4 broadcasts. There is one for each width of vectors.
 * After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008,
 * section 4. */
#include "features/hardware/own_gemm.h"

#include <glib.h>

enum { SIDE = ORCH_OWN_GEMM_SIDE, ROWS = 8, ROW_BYTES = 128, KC = 256 };

typedef void tile_fn(const void *a_strip, const void *b_strip, void *c_tile);

/* C tile (ROWS x ROW_BYTES) += A strip (KC x ROWS) x B strip (KC x ROW_BYTES). The accumulators are
 * named, because compilers do not keep an array of vectors in registers. Not by target_clones: GCC
 * takes wide vectors apart for the narrowest target before it makes the clones. */
#define TILE(NAME, TARGET, SCALAR, BYTES)                                                          \
    typedef SCALAR NAME##_vector __attribute__((vector_size(BYTES), aligned(BYTES)));              \
    TARGET static void NAME(const void *a_strip, const void *b_strip, void *c_tile)                \
    {                                                                                              \
        enum { N = ROW_BYTES / (BYTES) };                                                          \
        for (int row = 0; row < ROWS; row += 4)                                                    \
            for (int column = 0; column < N; column += 2) {                                        \
                const SCALAR *a = (const SCALAR *)a_strip + row;                                   \
                const NAME##_vector *b = (const NAME##_vector *)b_strip + column;                  \
                NAME##_vector *c = (NAME##_vector *)c_tile + row * N + column;                     \
                NAME##_vector c00 = c[0], c01 = c[1], c10 = c[N], c11 = c[N + 1], c20 = c[2 * N],  \
                              c21 = c[2 * N + 1], c30 = c[3 * N], c31 = c[3 * N + 1];              \
                for (int k = 0; k < KC; k++, a += ROWS, b += N) {                                  \
                    const NAME##_vector b0 = b[0], b1 = b[1];                                      \
                    c00 += a[0] * b0, c01 += a[0] * b1, c10 += a[1] * b0, c11 += a[1] * b1;        \
                    c20 += a[2] * b0, c21 += a[2] * b1, c30 += a[3] * b0, c31 += a[3] * b1;        \
                }                                                                                  \
                c[0] = c00, c[1] = c01, c[N] = c10, c[N + 1] = c11, c[2 * N] = c20;                \
                c[2 * N + 1] = c21, c[3 * N] = c30, c[3 * N + 1] = c31;                            \
            }                                                                                      \
    }
TILE(fp32_128, , float, 16)
TILE(fp64_128, , double, 16)
#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
TILE(fp32_256, AVX2, float, 32)
TILE(fp64_256, AVX2, double, 32)
TILE(fp32_512, AVX512, float, 64)
TILE(fp64_512, AVX512, double, 64)
#endif

/* The widest that this processor has. */
static tile_fn *choose_tile(enum orch_own_gemm type)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return type == ORCH_OWN_FP32 ? fp32_512 : fp64_512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return type == ORCH_OWN_FP32 ? fp32_256 : fp64_256;
#endif
    return type == ORCH_OWN_FP32 ? fp32_128 : fp64_128;
}

struct part {
    enum orch_own_gemm type;
    tile_fn *tile;
    const char *a, *b;
    char *c;
    int first_strip, end_strip; /* of A */
};

/* For each KC of the inner index and strip of B, which then stays in the first cache, all strips of
 * A. */
static gpointer run_part(gpointer data)
{
    static const size_t bytes[] = {4, 8};
    const struct part *p = data;
    const size_t size = bytes[p->type], columns = ROW_BYTES / size;
    const size_t tile_bytes = (size_t)ROWS * ROW_BYTES, b_strips = SIDE / columns;
    for (size_t k = 0; k < SIDE; k += KC)
        for (size_t j = 0; j < b_strips; j++) {
            const char *b = p->b + (j * SIDE + k) * columns * size;
            for (size_t i = (size_t)p->first_strip; i < (size_t)p->end_strip; i++) {
                const char *a = p->a + (i * SIDE + k) * ROWS * size;
                char *c = p->c + (i * b_strips + j) * tile_bytes;
                p->tile(a, b, c);
            }
        }
    return NULL;
}

void orch_own_gemm_run(enum orch_own_gemm type, const void *a, const void *b, void *c, int threads)
{
    const int strips = SIDE / ROWS;
    threads = CLAMP(threads, 1, strips);
    g_autofree struct part *parts = g_new(struct part, threads);
    g_autofree GThread **running = g_new0(GThread *, threads);
    for (int i = 0; i < threads; i++)
        parts[i] = (struct part){
            type, choose_tile(type), a, b, c, strips * i / threads, strips * (i + 1) / threads};
    for (int i = 1; i < threads; i++)
        running[i] = g_thread_new("product", run_part, &parts[i]);
    run_part(&parts[0]);
    for (int i = 1; i < threads; i++)
        g_thread_join(running[i]);
}
