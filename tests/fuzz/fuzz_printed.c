/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of programs' output: whatever the bytes, names are names, numbers are finite unless they
 * say otherwise, and reading a line twice gives the same. */
#include "lib/wire/printed_document.h"

#include "lib/base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check_value(const struct orch_printed_value *value)
{
    if (value->kind == ORCH_PRINTED_VALUE && value->name[0] && !orch_label_is_valid(value->name))
        g_error("'%s' is no name", value->name);
    if (!memchr(value->name, 0, sizeof value->name) ||
        !memchr(value->last, 0, sizeof value->last) || !memchr(value->unit, 0, sizeof value->unit))
        g_error("a text without end");
    if (!isnan(value->printed_percent) && isinf(value->value))
        g_error("an infinite percentage");
}

/* Reads the bytes line by line, with documents over several lines and all that is kept between
 * lines. */
static void read_lines(const char *text, size_t length)
{
    struct orch_printed_line line;
    struct printed_document document = {.text = g_string_new(NULL)};
    orch_printed_line_init(&line);
    for (const char *end = text + length; text < end;) {
        const char *next = memchr(text, '\n', (size_t)(end - text));
        const size_t bytes = (size_t)((next ? next : end) - text);
        const enum printed_document_state state = orch_printed_document_add(&document, text, bytes);
        if (state == PRINTED_DOCUMENT_NONE)
            orch_printed_line_parse(&line, text, bytes);
        else if (state == PRINTED_DOCUMENT_WHOLE)
            orch_printed_line_parse(&line, document.text->str, document.text->len);
        if (state >= PRINTED_DOCUMENT_WHOLE)
            g_string_truncate(document.text, 0);
        for (guint i = 0; i < line.values->len; i++)
            check_value(&g_array_index(line.values, struct orch_printed_value, i));
        text += bytes + 1;
    }
    g_string_free(document.text, TRUE);
    orch_printed_line_clear(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct orch_printed_line line, again;
    orch_printed_line_init(&line);
    orch_printed_line_init(&again);
    length = MIN(length, (size_t)65536);
    read_lines((const char *)bytes, length);
    orch_printed_line_parse(&line, (const char *)bytes, length);
    orch_printed_line_parse(&again, (const char *)bytes, length);
    if (line.values->len != again.values->len || line.has_number != again.has_number)
        g_error("a line is not always read alike");
    for (guint i = 0; i < line.values->len; i++)
        check_value(&g_array_index(line.values, struct orch_printed_value, i));
    orch_printed_line_clear(&line);
    orch_printed_line_clear(&again);
    return 0;
}
