/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The declarations of NCCL and the CUDA runtime (nccl_api.h) against the libraries' headers, where
 * these are installed; and what is said where the libraries are not. */
#include "plugins/common/comm/nccl_api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#include <nccl.h>

#define IS(function, type) __builtin_types_compatible_p(__typeof__(function), type)
_Static_assert(IS(ncclAllReduce, ncclResult_t(const void *, void *, size_t, ncclDataType_t,
                                              ncclRedOp_t, ncclComm_t, cudaStream_t)),
               "ncclAllReduce");
_Static_assert(IS(ncclReduce, ncclResult_t(const void *, void *, size_t, ncclDataType_t,
                                           ncclRedOp_t, int, ncclComm_t, cudaStream_t)),
               "ncclReduce");
_Static_assert(IS(ncclBroadcast, ncclResult_t(const void *, void *, size_t, ncclDataType_t, int,
                                              ncclComm_t, cudaStream_t)),
               "ncclBroadcast");
_Static_assert(IS(ncclCommInitRank, ncclResult_t(ncclComm_t *, int, ncclUniqueId, int)),
               "ncclCommInitRank");
_Static_assert(IS(ncclGetUniqueId, ncclResult_t(ncclUniqueId *)), "ncclGetUniqueId");
_Static_assert(IS(ncclCommAbort, ncclResult_t(ncclComm_t)), "ncclCommAbort");
_Static_assert(IS(cudaStreamCreateWithFlags, cudaError_t(cudaStream_t *, unsigned)),
               "cudaStreamCreateWithFlags");
_Static_assert(IS(cudaStreamWaitEvent, cudaError_t(cudaStream_t, cudaEvent_t, unsigned)),
               "cudaStreamWaitEvent");
_Static_assert(IS(cudaGetDeviceCount, cudaError_t(int *)), "cudaGetDeviceCount");
_Static_assert(IS(cudaMalloc, cudaError_t(void **, size_t)), "cudaMalloc");
_Static_assert(IS(cudaFree, cudaError_t(void *)), "cudaFree");
_Static_assert(IS(cudaMemcpy, cudaError_t(void *, const void *, size_t, enum cudaMemcpyKind)),
               "cudaMemcpy");
_Static_assert(IS(cudaEventRecord, cudaError_t(cudaEvent_t, cudaStream_t)), "cudaEventRecord");
_Static_assert(IS(cudaEventElapsedTime, cudaError_t(float *, cudaEvent_t, cudaEvent_t)),
               "cudaEventElapsedTime");

static void test_headers(void **state)
{
    (void)state;
    assert_int_equal(ORCH_NCCL_FLOAT32, ncclFloat32);
    assert_int_equal(ORCH_NCCL_SUM, ncclSum);
    assert_int_equal(ORCH_CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
    assert_int_equal(sizeof(struct orch_nccl_id), sizeof(ncclUniqueId));
    assert_int_equal(sizeof(cudaStream_t), sizeof(void *));
    assert_int_equal(sizeof(cudaEvent_t), sizeof(void *));
    assert_int_equal(sizeof(ncclComm_t), sizeof(void *));
    assert_int_equal(sizeof(cudaError_t), sizeof(int));
    assert_int_equal(sizeof(ncclResult_t), sizeof(int));
    assert_int_equal(ORCH_CUDA_TO_DEVICE, cudaMemcpyHostToDevice);
    assert_int_equal(ORCH_CUDA_TO_HOST, cudaMemcpyDeviceToHost);
    assert_int_equal(cudaSuccess, 0);
    assert_int_equal(ncclSuccess, 0);
}
#else
static void test_headers(void **state)
{
    (void)state;
    skip();
}
#endif

static void test_missing(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL, other = NULL;
    g_setenv("ORCH_CUDART", "/nowhere/libcudart.so", TRUE);
    assert_null(orch_nccl_open(&error));
    assert_non_null(strstr(error->message, "there is no libcudart: "));
    /* a library without the functions */
    g_setenv("ORCH_CUDART", "libm.so.6", TRUE);
    g_setenv("ORCH_NCCL", "libm.so.6", TRUE);
    assert_null(orch_nccl_open(&other));
    assert_string_equal(other->message, "libcudart has no function cudaSetDevice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
