/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samplers of predictors/sampler.h as a filter, for bench/search.py. It reads lines whose words
 * are separated by tabs:
 *
 *   space NAME RANGE...   begins a search of these parameters
 *   next SAMPLER SEED     answers with the values of the next point, which is pending then; the
 *                         value of a parameter that does not exist there is empty
 *   end INDEX VALUE       point INDEX (from 0) has ended with a value, of which the least is the
 *                         best, or with the word "failed"
 */
#include "predictors/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char line[1 << 16];
    struct orch_space *space = NULL;
    GArray *trials = g_array_new(FALSE, TRUE, sizeof(struct orch_sampled));
    while (fgets(line, sizeof line, stdin)) {
        g_auto(GStrv) words = g_strsplit(g_strchomp(line), "\t", 0);
        guint count = g_strv_length(words);
        if (strcmp(words[0], "space") == 0) {
            orch_space_free(space);
            space = orch_space_new();
            g_array_set_size(trials, 0);
            for (guint i = 1; i + 1 < count; i += 2) {
                g_autoptr(GError) error = NULL;
                if (!orch_space_add(space, words[i], words[i + 1], NULL, &error)) {
                    fprintf(stderr, "search_ask: %s\n", error->message);
                    return 1;
                }
            }
        } else if (strcmp(words[0], "next") == 0 && count == 3 && space) {
            struct orch_sampling sampling = {.space = space,
                                             .trials = (const void *)trials->data,
                                             .count = trials->len,
                                             .seed = strtoull(words[2], NULL, 10)};
            const struct orch_sampler *sampler = orch_sampler_find(words[1]);
            if (!sampler)
                return 1;
            double *point = g_new(double, space->params->len);
            sampler->next(&sampling, point);
            for (unsigned i = 0; i < space->params->len; i++) {
                g_autofree char *text =
                    isnan(point[i]) ? NULL : orch_space_text(orch_space_param(space, i), point[i]);
                printf("%s%s", i ? "\t" : "", text ? text : "");
            }
            printf("\n");
            fflush(stdout);
            struct orch_sampled trial = {.point = point, .state = ORCH_SAMPLED_PENDING};
            g_array_append_val(trials, trial);
        } else if (strcmp(words[0], "end") == 0 && count == 3) {
            struct orch_sampled *trial =
                &g_array_index(trials, struct orch_sampled, strtoul(words[1], NULL, 10));
            bool failed = strcmp(words[2], "failed") == 0;
            trial->state = failed ? ORCH_SAMPLED_FAILED : ORCH_SAMPLED_ENDED;
            trial->value = failed ? (double)NAN : strtod(words[2], NULL);
        }
    }
    return 0;
}
