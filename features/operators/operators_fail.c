/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/operators/operators_reading.h"
#include "lib/base/error.h"

#include <stdarg.h>

#define HINT "export the model again with orch.export_ops(model, inputs, \"model.jsonl\")"

bool orch_operators_fail(const struct operators_reading *r, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *why = g_strdup_vprintf(format, args);
    va_end(args);
    orch_error_set(error, ORCH_ERROR_RECIPE, HINT, "'%s', line %d: %s", r->file, r->line, why);
    return false;
}
