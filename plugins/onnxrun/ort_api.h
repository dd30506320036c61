/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of ONNX Runtime's C interface that are used, by their places in its table.
 *
 * The library exports one function, OrtGetApiBase, whose GetApi(N) returns the table of interface
 * version N (that of release 1.N): an array of function pointers to which each release only
 * appends. Python's package ships the library without its header, so the places are written here.
 * Where the header is installed, ort_engine.c is compiled against it and a place that differs from
 * its struct OrtApi does not compile. */
#ifndef ORCH_PLUGINS_ONNXRUN_ORT_API_H
#define ORCH_PLUGINS_ONNXRUN_ORT_API_H

#include <stddef.h>
#include <stdint.h>

/** The version that is asked for. Later libraries still have it. */
#define ONNXRUN_ORT_VERSION 11

struct onnxrun_ort_base {
    void *const *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

/* A status is NULL for success; objects are opaque. */
typedef void *onnxrun_ort_status;

/** Each row: place in the table, the header's name, member here, type of the function. */
#define ONNXRUN_ORT_FUNCTIONS(X)                                                                   \
    X(2, GetErrorMessage, message, const char *, (const void *status))                             \
    X(3, CreateEnv, env_new, onnxrun_ort_status, (int severity, const char *id, void **out))       \
    X(7, CreateSession, session_new, onnxrun_ort_status,                                           \
      (void *env, const char *path, const void *options, void **out))                              \
    X(9, Run, run, onnxrun_ort_status,                                                             \
      (void *session, const void *options, const char *const *input_names,                         \
       const void *const *inputs, size_t input_count, const char *const *output_names,             \
       size_t output_count, void **outputs))                                                       \
    X(10, CreateSessionOptions, options_new, onnxrun_ort_status, (void **out))                     \
    X(24, SetIntraOpNumThreads, threads_set, onnxrun_ort_status, (void *options, int threads))     \
    X(25, SetInterOpNumThreads, branches_set, onnxrun_ort_status, (void *options, int threads))    \
    X(49, CreateTensorWithDataAsOrtValue, value_new, onnxrun_ort_status,                           \
      (const void *memory, void *data, size_t bytes, const int64_t *shape, size_t rank, int type,  \
       void **out))                                                                                \
    X(50, IsTensor, is_tensor, onnxrun_ort_status, (const void *value, int *out))                  \
    X(51, GetTensorMutableData, data, onnxrun_ort_status, (void *value, void **out))               \
    X(60, GetTensorElementType, type, onnxrun_ort_status, (const void *info, int *out))            \
    X(61, GetDimensionsCount, rank, onnxrun_ort_status, (const void *info, size_t *out))           \
    X(62, GetDimensions, shape, onnxrun_ort_status, (const void *info, int64_t *out, size_t rank)) \
    X(65, GetTensorTypeAndShape, info, onnxrun_ort_status, (const void *value, void **out))        \
    X(69, CreateCpuMemoryInfo, memory_new, onnxrun_ort_status,                                     \
      (int allocator, int kind, void **out))                                                       \
    X(92, ReleaseEnv, env_free, void, (void *object))                                              \
    X(93, ReleaseStatus, status_free, void, (void *object))                                        \
    X(94, ReleaseMemoryInfo, memory_free, void, (void *object))                                    \
    X(95, ReleaseSession, session_free, void, (void *object))                                      \
    X(96, ReleaseValue, value_free, void, (void *object))                                          \
    X(99, ReleaseTensorTypeAndShapeInfo, info_free, void, (void *object))                          \
    X(100, ReleaseSessionOptions, options_free, void, (void *object))

#define ONNXRUN_ORT_MEMBER(place, name, member, type, arguments) type(*member) arguments;
/** The functions, taken out of the table. */
struct onnxrun_ort {
    ONNXRUN_ORT_FUNCTIONS(ONNXRUN_ORT_MEMBER)
};
#undef ONNXRUN_ORT_MEMBER

/* Constants of the interface. */
enum {
    ONNXRUN_ORT_LOG_ERROR = 3,
    ONNXRUN_ORT_ARENA = 1,
    ONNXRUN_ORT_MEMORY = 0,
    ONNXRUN_ORT_FLOAT = 1
};

#endif
