/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both ways to a SHA-256 give what GLib gives, for every length around a block and however the
 * bytes are cut. */
#include "lib/base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BYTES = 300 };

static void fill(uint8_t bytes[BYTES])
{
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 151 + 7);
}

static void test_all_lengths_and_cuts(void **state)
{
    (void)state;
    uint8_t bytes[BYTES];
    fill(bytes);
    for (size_t length = 0; length <= BYTES; length++) {
        g_autofree char *wanted = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, length);
        for (size_t cut = 0; cut <= length; cut += 1 + length / 7) {
            struct orch_hash hash;
            char found[ORCH_SHA256_CHARS];
            orch_hash_begin(&hash);
            orch_hash_add(&hash, bytes, cut);
            orch_hash_add(&hash, bytes + cut, length - cut);
            orch_hash_end_text(&hash, found);
            assert_string_equal(found, wanted);
        }
    }
}

static void test_one_that_is_dropped_harms_no_other(void **state)
{
    (void)state;
    struct orch_hash dropped, kept;
    char found[ORCH_SHA256_CHARS];
    orch_hash_begin(&dropped);
    orch_hash_begin(&kept);
    orch_hash_add(&dropped, "abc", 3);
    orch_hash_free(&dropped);
    orch_hash_end_text(&kept, found);
    assert_string_equal(found, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/* What was begun before the fast code was there ends as it began. */
static void test_begun_before_the_fast_code(void **state)
{
    (void)state;
    struct orch_hash before, after;
    char first[ORCH_SHA256_CHARS], second[ORCH_SHA256_CHARS];
    orch_hash_begin(&before);
    orch_hash_add(&before, "ab", 2);
    orch_hash_preload();
    orch_hash_begin(&after);
    orch_hash_add(&after, "abc", 3);
    orch_hash_add(&before, "c", 1);
    orch_hash_end_text(&before, first);
    orch_hash_end_text(&after, second);
    assert_string_equal(first, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(second, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_lengths_and_cuts), /* GLib's */
        cmocka_unit_test(test_begun_before_the_fast_code),
        cmocka_unit_test(test_all_lengths_and_cuts), /* libcrypto's, where there is one */
        cmocka_unit_test(test_one_that_is_dropped_harms_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
