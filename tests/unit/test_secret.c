/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of command lines that look like secrets, and the recorded form of secret values. */
#include "lib/wire/secret.h"

#include "lib/base/json.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The words, and what is recorded of them. */
static const struct {
    const char *words[8], *recorded;
} ROWS[] = {
    {{"p", "--api-key", "X"}, "[\"p\",\"--api-key\",\"(secret)\"]"},
    {{"p", "--api-key=X", "Y"}, "[\"p\",\"--api-key=(secret)\",\"Y\"]"},
    {{"p", "--key", "X"}, "[\"p\",\"--key\",\"(secret)\"]"},
    {{"p", "-token", "X"}, "[\"p\",\"-token\",\"(secret)\"]"},
    {{"p", "--hf_token", "X"}, "[\"p\",\"--hf_token\",\"(secret)\"]"},
    {{"p", "--clientSecret", "X"}, "[\"p\",\"--clientSecret\",\"(secret)\"]"},
    {{"p", "--db.password", "X"}, "[\"p\",\"--db.password\",\"(secret)\"]"},
    {{"p", "--password-for-db", "X"}, "[\"p\",\"--password-for-db\",\"(secret)\"]"},
    {{"p", "--APIKEY", "X"}, "[\"p\",\"--APIKEY\",\"(secret)\"]"},
    {{"env", "AWS_SECRET_ACCESS_KEY=X", "p"}, "[\"env\",\"AWS_SECRET_ACCESS_KEY=(secret)\",\"p\"]"},
    {{"p", "wandb.api_key=X"}, "[\"p\",\"wandb.api_key=(secret)\"]"},
    {{"p", "--token", "--verbose"}, "[\"p\",\"--token\",\"--verbose\"]"},
    {{"p", "--token"}, "[\"p\",\"--token\"]"},
    {{"p", "--token", ""}, "[\"p\",\"--token\",\"\"]"},
    {{"p", "--token="}, "[\"p\",\"--token=\"]"},
    {{"p", "--token", "${token}"}, "[\"p\",\"--token\",\"${token}\"]"},
    {{"p", "--token={token}"}, "[\"p\",\"--token={token}\"]"},
    {{"p", "--token=", "X"}, "[\"p\",\"--token=\",\"X\"]"},
    {{"p", "--key-frames", "3"}, "[\"p\",\"--key-frames\",\"3\"]"},
    {{"p", "--tokens", "128"}, "[\"p\",\"--tokens\",\"128\"]"},
    {{"p", "--tokenizer", "bert"}, "[\"p\",\"--tokenizer\",\"bert\"]"},
    {{"p", "--keyboard", "de"}, "[\"p\",\"--keyboard\",\"de\"]"},
    {{"p", "--monkey=3"}, "[\"p\",\"--monkey=3\"]"},
    {{"p", "--pad-token", "[PAD]"}, "[\"p\",\"--pad-token\",\"[PAD]\"]"},
    {{"p", "--sort-key", "name"}, "[\"p\",\"--sort-key\",\"name\"]"},
    {{"p", "--public-key", "X"}, "[\"p\",\"--public-key\",\"X\"]"},
    {{"p", "--token-file", "f"}, "[\"p\",\"--token-file\",\"f\"]"},
    {{"p", "--password-stdin", "f"}, "[\"p\",\"--password-stdin\",\"f\"]"},
    {{"token", "X"}, "[\"token\",\"X\"]"},
    {{"p", "a b=token", "https://h/?token=X"}, "[\"p\",\"a b=token\",\"https://h/?token=X\"]"},
    {{"p", "-", "X", "--", "Y", "=Z"}, "[\"p\",\"-\",\"X\",\"--\",\"Y\",\"=Z\"]"},
};

static void words_of_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        size_t count = 0;
        while (count < G_N_ELEMENTS(ROWS[i].words) && ROWS[i].words[count])
            count++;
        g_autoptr(json_t) masked = orch_secret_mask_words(ROWS[i].words, count);
        g_autofree char *text = orch_json_canonical(masked);
        if (strcmp(text, ROWS[i].recorded) != 0)
            fail_msg("recorded as %s, expected %s", text, ROWS[i].recorded);
    }
}

static void recorded_values(void **state)
{
    (void)state;
    static const char run[] = "0193-a", other[] = "0193-ab";
    g_autoptr(json_t) value = json_string("4711");
    g_autoptr(json_t) first = orch_secret_record(value, run);
    g_autoptr(json_t) second = orch_secret_record(value, run);
    g_autoptr(json_t) third = orch_secret_record(value, other);
    assert_true(json_equal(first, second));
    assert_false(json_equal(first, third));
    const char *text = json_string_value(first);
    assert_true(g_str_has_prefix(text, "hmac-sha256:0193-a:"));
    assert_int_equal(strlen(text), strlen("hmac-sha256:0193-a:") + 64);
    assert_true(orch_secret_is_recorded(text, run));
    assert_true(orch_secret_is_recorded(text, NULL));
    assert_false(orch_secret_is_recorded(text, other));
    assert_false(orch_secret_is_recorded(json_string_value(third), run));
    assert_false(orch_secret_is_recorded("hmac-sha256:0193-a", NULL));
    assert_false(orch_secret_is_recorded("4711", NULL));
}

int main(void)
{
    g_autofree char *folder = g_dir_make_tmp("orch-test-XXXXXX", NULL);
    g_setenv("XDG_STATE_HOME", folder, TRUE);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_commands),
        cmocka_unit_test(recorded_values),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_autofree char *key = g_build_filename(folder, "orch", "secret-key", NULL);
    g_autofree char *inner = g_build_filename(folder, "orch", NULL);
    remove(key);
    remove(inner);
    remove(folder);
    return failed;
}
