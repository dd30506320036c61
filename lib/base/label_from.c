/* SPDX-License-Identifier: MIT */
#include "lib/base/label_from.h"

#include "lib/base/text.h"

#include <glib.h>

enum { LABEL_BYTES_MAX = 180 };

char *orch_label_from(const char *name)
{
    g_autofree char *cut = g_strndup(name, LABEL_BYTES_MAX);
    g_autofree char *valid = g_utf8_make_valid(cut, -1);
    GString *out = g_string_new(NULL);
    for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
        char one[8] = "";
        g_unichar_to_utf8(g_utf8_get_char(p), one);
        g_string_append(out, orch_label_is_valid(one) ? one : "_");
    }
    if (!out->len)
        g_string_append_c(out, '_');
    return g_string_free(out, FALSE);
}
