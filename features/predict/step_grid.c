/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/step_grid.h"

#include <glib.h>

/* Grams of CO2 equivalents of a kWh of ORCH_GRID_YEAR, with what building and fuel cost: Our World
 * in Data (Ember), as in codecarbon's global_energy_mix.json (MIT) at b05965e, read on 2026-11-29.
 */
static const struct {
    const char *name;
    double g_per_kwh;
} GRIDS[] = {{"AT", 111}, {"AU", 549}, {"BE", 138}, {"BR", 98},  {"CA", 170}, {"CH", 35},
             {"CN", 582}, {"CZ", 450}, {"DE", 381}, {"DK", 152}, {"ES", 174}, {"FI", 79},
             {"FR", 56},  {"GB", 238}, {"IE", 291}, {"IN", 713}, {"IT", 331}, {"JP", 485},
             {"KR", 431}, {"NL", 268}, {"NO", 30},  {"PL", 662}, {"SE", 41},  {"SG", 471},
             {"TW", 642}, {"US", 369}, {"ZA", 708}};

bool orch_grid_find(const char *text, const char **out_name, double *out_g_per_kwh)
{
    for (size_t i = 0; i < G_N_ELEMENTS(GRIDS); i++) {
        if (g_ascii_strcasecmp(GRIDS[i].name, text) != 0)
            continue;
        *out_name = GRIDS[i].name;
        *out_g_per_kwh = GRIDS[i].g_per_kwh;
        return true;
    }
    return false;
}

char *orch_grid_names(void)
{
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(GRIDS); i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", GRIDS[i].name);
    return g_string_free(text, FALSE);
}
