/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scratch folder for a fuzz target: made at the first call, removed when the program ends. */
#ifndef ORCH_TESTS_FUZZ_SCRATCH_H
#define ORCH_TESTS_FUZZ_SCRATCH_H

#include "lib/base/file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *scratch;

static void scratch_remove(void)
{
    orch_tree_remove(scratch, NULL);
    g_clear_pointer(&scratch, g_free);
}

/** The folder's path; borrowed. */
static inline const char *scratch_folder(void)
{
    if (!scratch) {
        scratch = g_dir_make_tmp("orch-fuzz-XXXXXX", NULL);
        if (!scratch || atexit(scratch_remove) != 0)
            abort();
    }
    return scratch;
}

/** Writes a file below the folder, with the folders that it lies in. The caller frees its path. */
static inline char *scratch_write(const char *name, const void *bytes, size_t length)
{
    char *path = g_build_filename(scratch_folder(), name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    if (!orch_dir_make(folder, NULL) || !orch_file_write(path, bytes, length, false, NULL))
        abort();
    return path;
}

/** Aborts with a reason, because g_error ends in SIGTRAP, of which a fuzzer keeps no input. */
static inline void fuzz_die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

#endif
