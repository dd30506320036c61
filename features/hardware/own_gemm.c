/* SPDX-License-Identifier: MIT */
/* The kernel keeps a tile of 8 rows and two vectors of 64 bytes in registers and runs over the
 * inner index: 16 multiply-adds of vectors for two loads. The compiler makes versions of it for
 * AVX-512, AVX2 and the rest (target_clones), and the loader chooses. After Goto and van de Geijn,
 * "Anatomy of High-Performance Matrix Multiplication", 2008, section 4. */
#include "features/hardware/own_gemm.h"

#include <glib.h>

enum { SIDE = ORCH_OWN_GEMM_SIDE, ROWS = 8, KC = 256 };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) &&                  \
    !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#define CLONES /* sanitizers run before the loader has chosen */
#endif

typedef float floats __attribute__((vector_size(64), aligned(64)));
typedef double doubles __attribute__((vector_size(64), aligned(64)));

/* C tile (8 x 2 vectors) += A strip (KC x 8) x B strip (KC x 2 vectors). The accumulators are
 * named, because compilers do not keep an array of vectors in registers. */
#define TILE(NAME, SCALAR, VECTOR)                                                                 \
    CLONES static void NAME(const SCALAR *a, const VECTOR *b, VECTOR *c)                           \
    {                                                                                              \
        VECTOR c00 = c[0], c01 = c[1], c10 = c[2], c11 = c[3], c20 = c[4], c21 = c[5], c30 = c[6], \
               c31 = c[7], c40 = c[8], c41 = c[9], c50 = c[10], c51 = c[11], c60 = c[12],          \
               c61 = c[13], c70 = c[14], c71 = c[15];                                              \
        for (int k = 0; k < KC; k++, a += ROWS, b += 2) {                                          \
            const VECTOR b0 = b[0], b1 = b[1];                                                     \
            c00 += a[0] * b0, c01 += a[0] * b1, c10 += a[1] * b0, c11 += a[1] * b1;                \
            c20 += a[2] * b0, c21 += a[2] * b1, c30 += a[3] * b0, c31 += a[3] * b1;                \
            c40 += a[4] * b0, c41 += a[4] * b1, c50 += a[5] * b0, c51 += a[5] * b1;                \
            c60 += a[6] * b0, c61 += a[6] * b1, c70 += a[7] * b0, c71 += a[7] * b1;                \
        }                                                                                          \
        c[0] = c00, c[1] = c01, c[2] = c10, c[3] = c11, c[4] = c20, c[5] = c21, c[6] = c30;        \
        c[7] = c31, c[8] = c40, c[9] = c41, c[10] = c50, c[11] = c51, c[12] = c60, c[13] = c61;    \
        c[14] = c70, c[15] = c71;                                                                  \
    }
TILE(tile_fp32, float, floats)
TILE(tile_fp64, double, doubles)

struct part {
    enum orch_own_gemm type;
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
    const size_t size = bytes[p->type], columns = p->type == ORCH_OWN_FP64 ? 16 : 32;
    const size_t tile_bytes = (size_t)ROWS * 128, b_strips = SIDE / columns;
    for (size_t k = 0; k < SIDE; k += KC)
        for (size_t j = 0; j < b_strips; j++) {
            const char *b = p->b + (j * SIDE + k) * columns * size;
            for (size_t i = (size_t)p->first_strip; i < (size_t)p->end_strip; i++) {
                const char *a = p->a + (i * SIDE + k) * ROWS * size;
                char *c = p->c + (i * b_strips + j) * tile_bytes;
                if (p->type == ORCH_OWN_FP32)
                    tile_fp32((const void *)a, (const void *)b, (void *)c);
                else
                    tile_fp64((const void *)a, (const void *)b, (void *)c);
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
        parts[i] = (struct part){type, a, b, c, strips * i / threads, strips * (i + 1) / threads};
    for (int i = 1; i < threads; i++)
        running[i] = g_thread_new("product", run_part, &parts[i]);
    run_part(&parts[0]);
    for (int i = 1; i < threads; i++)
        g_thread_join(running[i]);
}
