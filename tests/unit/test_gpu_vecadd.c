/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kernel of plugin vecadd against the processor, at odd sizes. Exits with 77 without a GPU.
 */
#include "plugins/common/cuda/cuda_compat.h"
#include "plugins/vecadd/cuda/add_kernels.h"
#include "plugins/vecadd/summands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const size_t SIZES[] = {1, 2, 3, 4, 5, 31, 255, 256, 257, 1023, 4099, 1000003, 16777259};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], GUARD = 8, SLOW_MOST = 2000000 };

static void test_size(struct orch_team *team, enum vecadd_scenario scenario, size_t count)
{
    const size_t bytes = (count + GUARD) * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *out = malloc(bytes);
    void *gpu_a = NULL, *gpu_b = NULL, *gpu_out = NULL;
    size_t first;
    assert_true(a && b && out);
    orch_vecadd_fill(team, 3, a, b, out, count + GUARD);
    assert_int_equal(cudaMalloc(&gpu_a, bytes), cudaSuccess);
    assert_int_equal(cudaMalloc(&gpu_b, bytes), cudaSuccess);
    assert_int_equal(cudaMalloc(&gpu_out, bytes), cudaSuccess);
    assert_int_equal(cudaMemcpy(gpu_a, a, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemcpy(gpu_b, b, bytes, cudaMemcpyHostToDevice), cudaSuccess);
    assert_int_equal(cudaMemset(gpu_out, 0xff, bytes), cudaSuccess);
    assert_int_equal(orch_vecadd_launch(scenario, gpu_out, gpu_a, gpu_b, count, 0), cudaSuccess);
    assert_int_equal(cudaMemcpy(out, gpu_out, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_int_equal(orch_vecadd_wrong(team, 3, out, count, &first), 0);
    for (int i = 0; i < GUARD; i++)
        assert_true(out[count + i] != out[count + i]); /* nothing behind the end: NaN */
    assert_int_equal(orch_vecadd_launch_copy(gpu_out, gpu_a, count, 0), cudaSuccess);
    assert_int_equal(cudaMemcpy(out, gpu_out, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_memory_equal(out, a, count * sizeof(float));
    assert_int_equal(orch_vecadd_launch_flush(gpu_a, count, gpu_out, 0), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    cudaFree(gpu_a);
    cudaFree(gpu_b);
    cudaFree(gpu_out);
    free(a);
    free(b);
    free(out);
}

static void test_sizes(void **state)
{
    (void)state;
    struct orch_team *team = orch_team_new(2);
    for (int scenario = VECADD_GPU_1X1; scenario <= VECADD_GPU_STRIDE; scenario++)
        for (int i = 0; i < SIZE_COUNT; i++)
            if (scenario >= VECADD_GPU_GRID || SIZES[i] < SLOW_MOST)
                test_size(team, (enum vecadd_scenario)scenario, SIZES[i]);
    orch_team_free(team);
}

int main(void)
{
    char reason[512];
    if (!orch_cuda_devices(reason, sizeof reason)) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
