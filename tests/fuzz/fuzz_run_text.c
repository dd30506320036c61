/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the text of a run: a crash, a leak, a hang, a run beside an error, a point that
 * could not be read after all, or a run that is another one after it was written and read again is
 * a fault. Built with -fsanitize=fuzzer it fuzzes; with replay.c it runs the committed corpus as a
 * test. */
#include "store/join/run_text.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static GString *write_again(const char *text, size_t length, bool must)
{
    GError *error = NULL;
    struct orch_run_text *run = orch_run_text_decode(text, length, &error);
    if ((run != NULL) != (error == NULL) || (must && !run))
        abort();
    if (error && !g_utf8_validate(error->message, -1, NULL))
        abort();
    GString *again = run ? orch_run_text_of_record(&run->record, run->digest, NULL) : NULL;
    if (run && !again)
        abort();
    g_clear_error(&error);
    orch_run_text_free(run);
    return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    GString *once = write_again((const char *)bytes, length, false);
    if (!once)
        return 0;
    GString *twice = write_again(once->str, once->len, true);
    if (!g_string_equal(once, twice))
        abort();
    g_string_free(once, TRUE);
    g_string_free(twice, TRUE);
    return 0;
}
