/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What holds of the runs that any reader of 'orch import --runs' made of any bytes: each has a
 * fault, or goes into a store, where the same run again adds nothing. */
#ifndef ORCH_TESTS_IMPORTS_IMPORTED_RUNS_H
#define ORCH_TESTS_IMPORTS_IMPORTED_RUNS_H

#include "features/imports/import_runs.h"
#include "store/write/imported.h"
#include "tests/fuzz/scratch.h"

enum { STORE_INPUTS = 2000 }; /* a new store after this many, so that it stays small */

static struct orch_store *runs_store;

static void runs_store_close(void)
{
    g_clear_pointer(&runs_store, orch_store_close);
}

/* A store is costly to make: inputs share one. */
static inline struct orch_store *runs_store_open(void)
{
    static int inputs;
    if (inputs++ % STORE_INPUTS == 0) {
        g_autofree char *path = g_build_filename(scratch_folder(), "store", "results.db", NULL);
        g_autofree char *folder = g_path_get_dirname(path);
        if (runs_store)
            runs_store_close();
        else if (atexit(runs_store_close) != 0) /* before the folder is removed */
            abort();
        if (!orch_tree_remove(folder, NULL))
            abort();
        runs_store = orch_store_open(path, ORCH_STORE_CREATE, NULL);
        if (!runs_store)
            fuzz_die("no store");
    }
    return runs_store;
}

/** Takes the runs into a store, and frees both arrays. */
static inline void check_runs(GPtrArray *runs, GPtrArray *warnings)
{
    struct orch_store *store = runs_store_open();
    for (guint i = 0; i < runs->len; i++) {
        struct orch_imported_run *run = runs->pdata[i];
        if (orch_imported_fault(run))
            continue;
        for (int again = 0; again < 2; again++) {
            GError *error = NULL;
            bool added = false;
            if (!orch_store_put_imported(store, run, &added, &error))
                fuzz_die(error ? error->message : "a failure without an error");
            if (error || (again && added))
                fuzz_die(error ? error->message : "the same run was added twice");
        }
    }
    for (guint i = 0; i < warnings->len; i++)
        if (strlen(warnings->pdata[i]) == 0)
            fuzz_die("an empty warning");
    g_ptr_array_unref(runs);
    g_ptr_array_unref(warnings);
}

/** What a reader fills. */
static inline GPtrArray *runs_new(void)
{
    return g_ptr_array_new_with_free_func(orch_imported_run_free);
}

static inline GPtrArray *warnings_new(void)
{
    return g_ptr_array_new_with_free_func(g_free);
}

/** Writes the parts of the input, which form feeds separate, to the named files; a name without a
 * part has no file. */
static inline void write_parts(const char *folder, const char *const *names, size_t count,
                               const uint8_t *bytes, size_t length)
{
    const uint8_t *end = bytes + length;
    for (size_t i = 0; i < count; i++) {
        g_autofree char *name = g_build_filename(folder, names[i], NULL);
        g_autofree char *path = g_build_filename(scratch_folder(), name, NULL);
        const uint8_t *stop = bytes < end ? memchr(bytes, '\f', (size_t)(end - bytes)) : NULL;
        if (bytes < end)
            g_free(scratch_write(name, bytes, (size_t)((stop ? stop : end) - bytes)));
        else
            remove(path);
        bytes = stop ? stop + 1 : end;
    }
}

/** Appends a number of `count` bytes, the lowest first. */
static inline void append_little(GByteArray *out, uint64_t value, int count)
{
    for (int i = 0; i < count; i++, value >>= 8)
        g_byte_array_append(out, &(uint8_t){(uint8_t)value}, 1);
}

#endif
