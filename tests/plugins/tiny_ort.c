/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stand-in for ONNX Runtime's library, for tests of plugin onnxrun where there is none. Each of a
 * session's outputs has 3 values for an input: the sums of the values whose index is 0, 1 and 2
 * modulo 3. Files are not read.
 *
 *   TINY_ORT_VERSION=N    the newest version of the interface (default 32)
 *   TINY_ORT_OPEN=TEXT    a file cannot be opened: that is the message
 *   TINY_ORT_RUN=TEXT     it cannot be run
 *   TINY_ORT_ADD=X        is added to each value; nan is possible
 *   TINY_ORT_HALF=yes     outputs are half as long as the batch */
#include "plugins/onnxrun/ort_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
    float *data, *own;
    int64_t shape[8];
    size_t rank;
};

static const char *message(const void *status)
{
    return status;
}

/* What an environment variable says as a status; NULL: success. */
static onnxrun_ort_status status_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strdup(text) : NULL;
}

static onnxrun_ort_status env_new(int severity, const char *id, void **out)
{
    (void)severity;
    (void)id;
    if (!getenv("ORT_DISABLE_TELEMETRY"))
        return strdup("usage data would be collected");
    *out = strdup("env");
    return NULL;
}

static onnxrun_ort_status session_new(void *env, const char *path, const void *options, void **out)
{
    (void)env;
    (void)path;
    (void)options;
    onnxrun_ort_status status = status_of("TINY_ORT_OPEN");
    *out = status ? NULL : strdup("session");
    return status;
}

static onnxrun_ort_status options_new(void **out)
{
    *out = strdup("options");
    return NULL;
}

static onnxrun_ort_status number_set(void *options, int number)
{
    (void)options;
    return number > 0 ? NULL : strdup("no threads");
}

static onnxrun_ort_status value_new(const void *memory, void *data, size_t bytes,
                                    const int64_t *shape, size_t rank, int type, void **out)
{
    (void)memory;
    (void)bytes;
    (void)type;
    struct value *value = calloc(1, sizeof *value);
    value->data = data;
    value->rank = rank;
    memcpy(value->shape, shape, sizeof *shape * rank);
    *out = value;
    return NULL;
}

static struct value *sums_of(const struct value *input)
{
    const char *add = getenv("TINY_ORT_ADD");
    struct value *sums = calloc(1, sizeof *sums);
    int64_t each = 1;
    for (size_t i = 1; i < input->rank; i++)
        each *= input->shape[i];
    sums->rank = 2;
    sums->shape[0] = getenv("TINY_ORT_HALF") ? input->shape[0] / 2 : input->shape[0];
    sums->shape[1] = 3;
    sums->data = sums->own = calloc((size_t)sums->shape[0] * 3 + 1, sizeof(float));
    for (int64_t i = 0; i < sums->shape[0]; i++) {
        for (int64_t j = 0; j < each; j++)
            sums->data[i * 3 + j % 3] += input->data[i * each + j];
        for (int j = 0; add && j < 3; j++)
            sums->data[i * 3 + j] += strtof(add, NULL);
    }
    return sums;
}

static onnxrun_ort_status run(void *session, const void *options, const char *const *input_names,
                              const void *const *inputs, size_t input_count,
                              const char *const *output_names, size_t output_count, void **outputs)
{
    (void)session;
    (void)options;
    (void)input_names;
    (void)input_count;
    (void)output_names;
    onnxrun_ort_status status = status_of("TINY_ORT_RUN");
    for (size_t i = 0; !status && i < output_count; i++)
        outputs[i] = sums_of(inputs[0]);
    return status;
}

static onnxrun_ort_status one(const void *object, int *out)
{
    (void)object;
    *out = 1; /* a tensor, of floats */
    return NULL;
}

static onnxrun_ort_status data_of(void *value, void **out)
{
    *out = ((struct value *)value)->data;
    return NULL;
}

static onnxrun_ort_status rank_of(const void *info, size_t *out)
{
    *out = ((const struct value *)info)->rank;
    return NULL;
}

static onnxrun_ort_status shape_of(const void *info, int64_t *out, size_t rank)
{
    memcpy(out, ((const struct value *)info)->shape, sizeof *out * rank);
    return NULL;
}

static onnxrun_ort_status info_of(const void *value, void **out)
{
    struct value *info = calloc(1, sizeof *info);
    *info = *(const struct value *)value;
    info->own = NULL;
    *out = info;
    return NULL;
}

static onnxrun_ort_status memory_new(int allocator, int kind, void **out)
{
    (void)allocator;
    (void)kind;
    *out = strdup("memory");
    return NULL;
}

static void value_free(void *object)
{
    if (object)
        free(((struct value *)object)->own);
    free(object);
}

static void *table[101];

static void put(int place, const void *function)
{
    memcpy(&table[place], function, sizeof table[place]);
}

static void *const *get_api(uint32_t version)
{
    const char *newest = getenv("TINY_ORT_VERSION");
    if (version > (uint32_t)(newest ? atoi(newest) : 32))
        return NULL;
#define PUT(place, name, member, type, arguments) put(place, &api.member);
    static const struct onnxrun_ort api = {
        .message = message,
        .env_new = env_new,
        .session_new = session_new,
        .run = run,
        .options_new = options_new,
        .threads_set = number_set,
        .branches_set = number_set,
        .value_new = value_new,
        .is_tensor = one,
        .data = data_of,
        .type = one,
        .rank = rank_of,
        .shape = shape_of,
        .info = info_of,
        .memory_new = memory_new,
        .env_free = free,
        .status_free = free,
        .memory_free = free,
        .session_free = free,
        .value_free = value_free,
        .info_free = value_free,
        .options_free = free,
    };
    ONNXRUN_ORT_FUNCTIONS(PUT)
    return table;
}

static const char *get_version(void)
{
    return "0.1 (tiny)";
}

__attribute__((visibility("default"))) const struct onnxrun_ort_base *OrtGetApiBase(void);
const struct onnxrun_ort_base *OrtGetApiBase(void)
{
    static const struct onnxrun_ort_base base = {get_api, get_version};
    return &base;
}
