/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/library.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

static const char HINT[] = "./build.sh torch";

/* A training step frees its activations and allocates the same sizes again. By default glibc
 * returns blocks of that size to the kernel each time, which then clears every page again: up to a
 * sixth of a step. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* glibc's maximum */
    mallopt(M_TRIM_THRESHOLD, INT32_MAX);
    mallopt(M_TOP_PAD, 64 << 20);
#endif
}

const struct orch_torch *orch_torch_load(GError **error)
{
    static const struct orch_torch *loaded;
    if (loaded)
        return loaded;
    const char *named = g_getenv("ORCH_TORCH");
    g_autofree char *path =
        named && *named ? g_strdup(named) : orch_program_module("orch-torch.so");
    if (!path || access(path, F_OK) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, HINT,
                       "there is no LibTorch adapter: '%s' was not built",
                       path ? path : "orch-torch.so");
        return NULL;
    }
    keep_memory();
    void *handle = orch_library_open(path);
    const struct orch_torch *(*get)(void) = NULL;
    if (handle)
        *(void **)&get = dlsym(handle, ORCH_TORCH_SYMBOL);
    if (!get) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, HINT, "cannot load the LibTorch adapter '%s': %s",
                       path, dlerror());
        return NULL;
    }
    const struct orch_torch *torch = get();
    if (torch->abi != ORCH_TORCH_ABI || torch->struct_bytes < sizeof *torch) {
        orch_error_set(
            error, ORCH_ERROR_PLUGIN, HINT,
            "the LibTorch adapter '%s' has interface version %u (%u bytes), this plugin needs %d "
            "(%zu bytes)",
            path, torch->abi, torch->struct_bytes, ORCH_TORCH_ABI, sizeof *torch);
        return NULL;
    }
    return loaded = torch;
}
