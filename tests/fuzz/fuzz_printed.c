/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of programs' output: whatever the bytes, names are names, numbers are finite unless they
 * say otherwise, and reading a line twice gives the same. */
#include "lib/wire/printed.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct orch_printed_line line, again;
    orch_printed_line_init(&line);
    orch_printed_line_init(&again);
    length = MIN(length, (size_t)65536);
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
