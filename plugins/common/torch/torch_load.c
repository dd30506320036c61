/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/program_parts.h"
#include "lib/base/program_path.h"
#include "plugins/common/torch/library.h"
#include "plugins/common/torch/thread_waiting.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAMP_BYTES_MAX = 8192 };

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

/* An adapter that was built on this machine has orch-torch.library beside it: path, bytes and time
 * of its libtorch_cpu.so. With another version of LibTorch in that place its calls would go to
 * functions and classes of another layout. */
static bool is_of_its_library(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *stamp = g_build_filename(folder, "orch-torch.library", NULL);
    g_autofree char *text = NULL;
    if (access(stamp, F_OK) != 0)
        return true;
    if (!orch_file_read(stamp, STAMP_BYTES_MAX, &text, NULL, error))
        return false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    struct stat now;
    if (g_strv_length(lines) < 2 || stat(lines[0], &now) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, orch_program_way(ORCH_PART_TORCH),
                       "the LibTorch for which the adapter '%s' was built no longer exists: '%s'",
                       path, lines[0] ? lines[0] : "");
        return false;
    }
    g_autofree char *found = g_strdup_printf("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                                             (gint64)now.st_size, (gint64)now.st_mtim.tv_sec);
    if (strcmp(found, lines[1]) == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_PLUGIN, orch_program_way(ORCH_PART_TORCH),
                   "'%s' was replaced after the LibTorch adapter was built for it", lines[0]);
    return false;
}

static double load_now(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

/* When the plugin is loaded, since it has no thread yet: LibTorch itself may be loaded by a thread
 * beside others, which read the environment. */
__attribute__((constructor)) static void choose_waiting(void)
{
    orch_thread_waiting_choose(load_now(), sysconf(_SC_NPROCESSORS_ONLN));
}

const struct orch_torch *orch_torch_load(GError **error)
{
    const char *hint = orch_program_way(ORCH_PART_TORCH);
    static const struct orch_torch *loaded;
    if (loaded)
        return loaded;
    const char *named = g_getenv("ORCH_TORCH");
    g_autofree char *path =
        named && *named ? g_strdup(named) : orch_program_module("orch-torch.so");
    if (!path || access(path, F_OK) != 0) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, hint,
                       "there is no LibTorch adapter: '%s' was not built",
                       path ? path : "orch-torch.so");
        return NULL;
    }
    if (!is_of_its_library(path, error))
        return NULL;
    keep_memory();
    void *handle = orch_library_open(path);
    const struct orch_torch *(*get)(void) = NULL;
    if (handle)
        *(void **)&get = dlsym(handle, ORCH_TORCH_SYMBOL);
    if (!get) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, hint, "cannot load the LibTorch adapter '%s': %s",
                       path, dlerror());
        return NULL;
    }
    const struct orch_torch *torch = get();
    if (torch->abi != ORCH_TORCH_ABI || torch->struct_bytes < sizeof *torch) {
        orch_error_set(error, ORCH_ERROR_PLUGIN, hint,
                       "the LibTorch adapter '%s' has interface version %u (%u bytes), but this "
                       "plugin needs %d (%zu bytes)",
                       path, torch->abi, torch->struct_bytes, ORCH_TORCH_ABI, sizeof *torch);
        return NULL;
    }
    return loaded = torch;
}
