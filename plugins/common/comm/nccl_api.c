/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/nccl_api.h"

#include "lib/base/error.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* A library, and the names under which the loader may know it, NULL-terminated. */
struct library {
    const char *start, *variable; /* of the file's name; environment variable */
    const char *const *names;
};
static const char *const CUDART_NAMES[] = {"libcudart.so.13", "libcudart.so.12",
                                           "libcudart.so.11.0", "libcudart.so", NULL};
static const char *const NCCL_NAMES[] = {"libnccl.so.2", "libnccl.so", NULL};
static const struct library CUDART = {"libcudart", "ORCH_CUDART", CUDART_NAMES};
static const struct library NCCL = {"libnccl", "ORCH_NCCL", NCCL_NAMES};

static const struct {
    const struct library *library;
    const char *name;
    size_t offset;
} FUNCTIONS[] = {
#define FUNCTION(library, name)                                                                    \
    {                                                                                              \
        &(library), #name, offsetof(struct orch_nccl_api, name)                                    \
    }
    FUNCTION(CUDART, cudaSetDevice),
    FUNCTION(CUDART, cudaGetDeviceCount),
    FUNCTION(CUDART, cudaMalloc),
    FUNCTION(CUDART, cudaFree),
    FUNCTION(CUDART, cudaMemcpy),
    FUNCTION(CUDART, cudaStreamCreateWithFlags),
    FUNCTION(CUDART, cudaStreamDestroy),
    FUNCTION(CUDART, cudaStreamWaitEvent),
    FUNCTION(CUDART, cudaStreamSynchronize),
    FUNCTION(CUDART, cudaEventCreate),
    FUNCTION(CUDART, cudaEventDestroy),
    FUNCTION(CUDART, cudaEventRecord),
    FUNCTION(CUDART, cudaEventElapsedTime),
    FUNCTION(CUDART, cudaGetErrorString),
    FUNCTION(NCCL, ncclGetUniqueId),
    FUNCTION(NCCL, ncclCommInitRank),
    FUNCTION(NCCL, ncclAllReduce),
    FUNCTION(NCCL, ncclReduce),
    FUNCTION(NCCL, ncclBroadcast),
    FUNCTION(NCCL, ncclCommAbort),
    FUNCTION(NCCL, ncclGetErrorString),
#undef FUNCTION
};

struct search {
    const char *start;
    char *path; /* found */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct search *search = ctx;
    (void)size;
    g_autofree char *name = g_path_get_basename(info->dlpi_name ? info->dlpi_name : "");
    if (g_str_has_prefix(name, search->start) && strstr(name, ".so"))
        search->path = g_strdup(info->dlpi_name);
    return search->path != NULL;
}

/* The mapped library first: two CUDA runtimes in a process do not know each other's streams. */
static void *open_library(const struct library *library, GError **error)
{
    struct search search = {library->start, NULL};
    const char *wanted = g_getenv(library->variable);
    void *handle = NULL;
    if (wanted)
        handle = dlopen(wanted, RTLD_NOW);
    else if (dl_iterate_phdr(look_at, &search))
        handle = dlopen(search.path, RTLD_NOW);
    for (size_t i = 0; !handle && !wanted && library->names[i]; i++)
        handle = dlopen(library->names[i], RTLD_NOW);
    g_free(search.path);
    if (!handle)
        orch_error_set(error, ORCH_ERROR_TRIAL,
                       "install NCCL 2 and the CUDA runtime, or a PyTorch that contains them",
                       "there is no %s: %s", library->start, dlerror());
    return handle;
}

static bool fill(struct orch_nccl_api *api, GError **error)
{
    void *cudart = open_library(&CUDART, error);
    void *nccl = cudart ? open_library(&NCCL, error) : NULL;
    for (size_t i = 0; nccl && i < G_N_ELEMENTS(FUNCTIONS); i++) {
        void *function = dlsym(FUNCTIONS[i].library == &NCCL ? nccl : cudart, FUNCTIONS[i].name);
        if (!function) {
            orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "%s has no function %s",
                           FUNCTIONS[i].library->start, FUNCTIONS[i].name);
            return false;
        }
        memcpy((char *)api + FUNCTIONS[i].offset, &function, sizeof function);
    }
    return nccl != NULL;
}

const struct orch_nccl_api *orch_nccl_open(GError **error)
{
    static struct orch_nccl_api api;
    static bool is_open;
    is_open = is_open || fill(&api, error);
    return is_open ? &api : NULL;
}
