/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/roles.h"

#include <string.h>

enum onnxrun_role orch_onnxrun_role_of(const struct onnxrun_file *file, int index)
{
    static const char *const words[] = {"box", "loc", "regression"};
    g_autofree char *name = g_ascii_strdown(file->outputs[index], -1);
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        if (strstr(name, words[i]))
            return ONNXRUN_LOCATIONS;
    return ONNXRUN_SCORES;
}

bool orch_onnxrun_file_detects(const struct onnxrun_file *file)
{
    int locations = 0;
    for (int i = 0; i < file->output_count; i++)
        locations += orch_onnxrun_role_of(file, i) == ONNXRUN_LOCATIONS;
    return locations > 0 && locations < file->output_count;
}
