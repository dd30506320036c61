/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/net.h"

#include "lib/base/text.h"

bool orch_net_input_parse(const char *text, struct orch_net_options *out)
{
    g_auto(GStrv) words = g_strsplit(text, "x", -1);
    int64_t sizes[3] = {0};
    guint count = g_strv_length(words);
    if (count != 2 && count != 3)
        return false;
    for (guint i = 0; i < count; i++)
        if (!orch_int_parse(words[i], &sizes[3 - count + i]) || sizes[3 - count + i] < 1)
            return false;
    out->channels = sizes[0];
    out->height = sizes[1];
    out->width = sizes[2];
    return true;
}

char *orch_net_shape_format(struct orch_net_shape shape)
{
    return g_strdup_printf("%dx%dx%d", (int)shape.c, (int)shape.h, (int)shape.w);
}
