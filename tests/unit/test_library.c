/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Libraries are opened in the order of their needs. $ORCH_TEST_LIBRARY needs one in a folder that
 * its DT_RUNPATH names, and both define which(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/elf.h"
#include "plugins/common/torch/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <glib.h>
#include <string.h>

static const char *outer;

static void test_a_needed_library_is_opened_before(void **state)
{
    (void)state;
    void *library = orch_library_open(outer);
    assert_non_null(library);
    int (*outer_which)(void) = NULL;
    *(void **)&outer_which = dlsym(library, "outer_which");
    assert_non_null(outer_which);
    assert_int_equal(outer_which(), 21); /* 22 where both are opened at once */
    dlclose(library);
}

static void test_what_is_no_library_is_not_opened(void **state)
{
    (void)state;
    assert_null(orch_library_open("/nonexistent/libnone.so"));
    assert_non_null(strstr(dlerror(), "libnone.so"));
    assert_null(orch_library_open("/etc/passwd"));
    assert_non_null(strstr(dlerror(), "/etc/passwd"));
}

static void test_texts_of_a_dynamic_section(void **state)
{
    (void)state;
    g_autofree char *bytes = NULL;
    size_t length = 0;
    assert_true(g_file_get_contents(outer, &bytes, &length, NULL));
    g_auto(GStrv) needed = orch_elf_dynamic_texts(bytes, length, DT_NEEDED);
    assert_true(g_strv_contains((const char *const *)needed, "libinner.so"));
    assert_true(g_strv_contains((const char *const *)needed, "libc.so.6"));
    g_auto(GStrv) folders = orch_elf_dynamic_texts(bytes, length, DT_RUNPATH);
    assert_true(g_str_has_prefix(folders[0], "$ORIGIN/below"));
    assert_null(folders[1]);
}

/* Of a file that was cut off, or has another byte, at most fewer texts are found. Each cut is a
 * block of its own, so that AddressSanitizer sees a read beyond it. */
static void test_a_damaged_file_has_no_other_texts(void **state)
{
    (void)state;
    g_autofree char *bytes = NULL;
    size_t length = 0;
    assert_true(g_file_get_contents(outer, &bytes, &length, NULL));
    g_auto(GStrv) whole = orch_elf_dynamic_texts(bytes, length, DT_NEEDED);
    for (size_t cut = 0; cut < length; cut += 61) {
        g_autofree char *part = g_memdup2(bytes, cut);
        g_auto(GStrv) texts = orch_elf_dynamic_texts(part, cut, DT_NEEDED);
        assert_true(g_strv_length(texts) <= g_strv_length(whole));
    }
    for (size_t at = 0; at < MIN(length, 4096); at++) {
        bytes[at] ^= (char)0xff;
        g_auto(GStrv) texts = orch_elf_dynamic_texts(bytes, length, DT_NEEDED);
        assert_true(g_strv_length(texts) <= 1000);
        bytes[at] ^= (char)0xff;
    }
}

int main(void)
{
    outer = g_getenv("ORCH_TEST_LIBRARY");
    if (!outer)
        return 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_of_a_dynamic_section),
        cmocka_unit_test(test_a_damaged_file_has_no_other_texts),
        cmocka_unit_test(test_a_needed_library_is_opened_before),
        cmocka_unit_test(test_what_is_no_library_is_not_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
