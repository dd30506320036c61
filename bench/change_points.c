/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads one series a line (values separated by blanks) and writes a line of "PLACE:PROBABILITY" for
 * the steps that the report item `commits` would name. bench/change_points.py judges them.
 *
 *   build/bench_change_points < SERIES
 */
#include "features/bisect/change_point.h"

#include <stdio.h>
#include <stdlib.h>

static void answer(const char *line)
{
    g_auto(GStrv) words = g_strsplit_set(line, " \n", -1);
    g_autofree double *values = g_new(double, g_strv_length(words));
    g_autofree struct orch_change_place *places =
        g_new0(struct orch_change_place, g_strv_length(words));
    struct orch_change_data data = {.places = places};
    for (char **word = words; *word; word++)
        if (**word) {
            values[data.count] = strtod(*word, NULL);
            places[data.count] = (struct orch_change_place){values + data.count, 1, false};
            data.count++;
        }
    g_autoptr(GArray) steps = orch_change_steps(&data, 0.95);
    for (guint i = 0; i < steps->len; i++) {
        const struct orch_change_step *step = &g_array_index(steps, struct orch_change_step, i);
        printf("%s%zu:%.4f", i ? " " : "", step->place, step->probability);
    }
    putchar('\n');
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0)
        answer(line);
    free(line);
    return 0;
}
