/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scratch folder for the tests that read data sets from files. */
#ifndef ORCH_TESTS_IMAGE_FILES_FIXTURE_H
#define ORCH_TESTS_IMAGE_FILES_FIXTURE_H

#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <zlib.h>

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-data-XXXXXX", NULL);
    return folder == NULL;
}

static int drop_folder(void **state)
{
    (void)state;
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return 0;
}

static void write_bytes(const char *name, const void *bytes, size_t length, bool gz)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL));
    if (!gz) {
        assert_true(orch_file_write(path, bytes, length, false, NULL));
        return;
    }
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, bytes, (unsigned)length), (int)length);
    gzclose(file);
}

#endif
