/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often `orch bisect` names the right commit, and with how many runs, on simulated histories;
 * and the runs that bisection with a fixed number of repeats needs for the same reliability.
 *
 *   build/bench_bisect_paths [PATHS]     (default: 400 histories of each kind)
 */
#include "tests/bisect/change_paths.h"

#include <stdio.h>
#include <stdlib.h>

#define REPEATS_MOST 100

/* Finds the least number of repeats with which bisection is right as often. */
static unsigned equal_repeats(const struct change_path *path, unsigned paths, double share,
                              struct change_tally *out)
{
    for (unsigned repeats = 1; repeats < REPEATS_MOST; repeats++) {
        change_paths_bisect(path, repeats, paths, 1, out);
        if (out->right >= share * paths)
            return repeats;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {8, 25, 75, 200};
    static const double steps[] = {1, 2, 5};
    unsigned paths = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;
    printf("%u simulated histories of each kind; step in standard deviations of one run\n"
           "commits  step  found  right of found   runs  no step  open  "
           "bisection: repeats  right   runs  times as many\n",
           paths);
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            struct change_path path = {
                .places = lengths[l] + 1, .step = steps[s], .repeat_most = 60};
            struct change_tally ours, theirs;
            change_paths_search(&path, paths, 1, &ours);
            unsigned repeats = equal_repeats(&path, paths, (double)ours.right / paths, &theirs);
            printf("%7zu  %4.0f  %5.3f  %14.3f  %5.1f  %7.3f  %4.3f  %18u  %5.3f  %5.1f  %13.2f\n",
                   lengths[l], steps[s], (double)ours.found / paths,
                   ours.found ? (double)ours.right / ours.found : 0, ours.runs / paths,
                   (double)ours.none / paths, (double)ours.open / paths, repeats,
                   (double)theirs.right / paths, theirs.runs / paths, theirs.runs / ours.runs);
            fflush(stdout);
        }
    return 0;
}
