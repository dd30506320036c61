/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What adds a missing part depends on how orch was installed: nobody is sent to a clone's build.sh
 * whose orch is a package, and no text is missing. */
#include "lib/base/program_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static void test_places(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("orch-test-XXXXXX", NULL);
    g_autofree char *plugins = g_build_filename(folder, "plugins", NULL);
    g_autofree char *program = g_build_filename(folder, "orch", NULL);
    assert_int_equal(orch_program_place_of(program), ORCH_PLACE_PREFIX);
    assert_int_equal(g_mkdir(plugins, 0700), 0);
    assert_int_equal(orch_program_place_of(program), ORCH_PLACE_CLONE);
    assert_int_equal(g_rmdir(plugins), 0);
    assert_int_equal(g_rmdir(folder), 0);
    static const struct {
        const char *exe;
        enum orch_program_place place;
    } cases[] = {
        {"/usr/bin/orch", ORCH_PLACE_PACKAGE},
        {"/usr/libexec/orch/orch-host", ORCH_PLACE_PACKAGE},
        {"/usr/local/bin/orch", ORCH_PLACE_PREFIX},
        {"/opt/orch/0.1.0/libexec/orch/orch-host", ORCH_PLACE_PREFIX},
        {"/v/lib/python3.11/site-packages/orch_run/bin/orch", ORCH_PLACE_WHEEL},
        {"/v/lib/python3.11/site-packages/orch_run/libexec/orch/orch-host", ORCH_PLACE_WHEEL}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        if (orch_program_place_of(cases[i].exe) != cases[i].place)
            fail_msg("%s", cases[i].exe);
}

static void test_ways(void **state)
{
    (void)state;
    for (int place = ORCH_PLACE_CLONE; place <= ORCH_PLACE_PREFIX; place++)
        for (int part = ORCH_PART_TORCH; part <= ORCH_PART_OWN; part++) {
            const char *way =
                orch_program_way_in((enum orch_program_place)place, (enum orch_program_part)part);
            assert_non_null(way);
            if (place != ORCH_PLACE_CLONE && strstr(way, "./build.sh") && !strstr(way, "clone"))
                fail_msg("place %d, part %d: '%s' is for a clone", place, part, way);
        }
    /* these tests run in a build folder */
    assert_string_equal(orch_program_way(ORCH_PART_TORCH), "./build.sh torch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
