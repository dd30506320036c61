/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kernel of plugin gpukernels, naive and fast, against its reference at odd sizes. Exits with
 * 77 without a GPU. */
#include "plugins/common/cuda/cuda_compat.h"
#include "plugins/gpukernels/cuda/kernel_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct orch_kernel_shape SHAPES[] = {
    {1, 1},   {1, 3},   {3, 1},      {5, 7},       {31, 33},     {33, 31},
    {1, 257}, {257, 1}, {255, 1023}, {1000, 1001}, {1, 1000003}, {70001, 3}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof SHAPES[0], GUARD = 8 };

static void compare(const struct orch_kernel_case *kernel, orch_kernel_launch *launch,
                    const char *version, struct orch_kernel_shape shape)
{
    const size_t in_count = shape.rows * shape.columns, out_count = kernel->out_count(shape);
    const size_t in_bytes = in_count * sizeof(float),
                 out_bytes = (out_count + GUARD) * sizeof(float);
    float *in = malloc(in_bytes), *right = malloc(out_bytes), *out = malloc(out_bytes);
    void *gpu_in = NULL, *gpu_out = NULL;
    assert_true(in && right && out);
    for (size_t i = 0; i < in_count; i++)
        in[i] = (float)((uint32_t)i * 2654435761u >> 8) / 8388608 - 1;
    memset(right, kernel->accumulates ? 0 : 0xff, out_bytes);
    kernel->reference(right, in, shape);
    assert_int_equal(cudaMalloc(&gpu_in, in_bytes), cudaSuccess);
    assert_int_equal(cudaMalloc(&gpu_out, out_bytes), cudaSuccess);
    assert_int_equal(cudaMemcpy(gpu_in, in, in_bytes, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemset(gpu_out, kernel->accumulates ? 0 : 0xff, out_bytes), cudaSuccess);
    assert_int_equal(launch(gpu_out, gpu_in, shape, 0), cudaSuccess);
    assert_int_equal(cudaMemcpy(out, gpu_out, out_bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    for (size_t i = 0; i < out_count; i++)
        if (!(fabs((double)out[i] - (double)right[i]) <=
              kernel->tolerance(shape, (double)right[i])))
            fail_msg("%s %s, %zu x %zu: element %zu is %g, expected %g", kernel->name, version,
                     shape.rows, shape.columns, i, (double)out[i], (double)right[i]);
    assert_memory_equal(out + out_count, right + out_count,
                        GUARD * sizeof(float)); /* nothing behind the end */
    cudaFree(gpu_in);
    cudaFree(gpu_out);
    free(in);
    free(right);
    free(out);
}

static void test_kernels(void **state)
{
    (void)state;
    for (int k = 0; ORCH_KERNEL_CASES[k]; k++)
        for (int s = 0; s < SHAPE_COUNT; s++) {
            compare(ORCH_KERNEL_CASES[k], ORCH_KERNEL_CASES[k]->naive, "naive", SHAPES[s]);
            compare(ORCH_KERNEL_CASES[k], ORCH_KERNEL_CASES[k]->fast, "fast", SHAPES[s]);
        }
}

int main(void)
{
    char reason[512];
    if (!orch_cuda_devices(reason, sizeof reason)) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
