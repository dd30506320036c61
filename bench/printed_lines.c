/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of output that are read in a second: build/bench_printed. The lines are those of usual
 * programs (docs/printed-values.md). */
#include "lib/wire/printed.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const LINES[] = {
    "Epoch 18/20: loss: 0.3 accuracy: 0.91 val_loss: 0.4 val_accuracy: 0.88",
    "Train Epoch: 1 [640/60000 (1%)] Loss: 2.258",
    "Epoch: [0][  10/5005] Time  0.516 ( 0.6) Loss 6.9 (7.0) Acc@1 0.71 ( 0.70)",
    "{'loss': 0.45, 'learning_rate': 4.5e-05, 'epoch': 0.5}",
    "{\"step\": 3, \"loss\": 0.41, \"val\": {\"acc\": \"91.2%\"}}",
    "2026-11-22 09:00:05,123 INFO loss: 0.5 took 350ms",
    "Downloading https://example.org/data.tar.gz to /tmp/data",
    "step=5 loss=0.25 lr=1e-3 images/s=1,234.5",
};

int main(void)
{
    enum { ROUNDS = 50000 };
    struct orch_printed_line line;
    orch_printed_line_init(&line);
    clock_t start = clock(); /* CPU time, so that other programs do not count */
    size_t values = 0;
    for (int i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(LINES); k++) {
            orch_printed_line_parse(&line, LINES[k], strlen(LINES[k]));
            values += line.values->len;
        }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%.0f lines per second of CPU time, %zu values\n",
           ROUNDS * (double)G_N_ELEMENTS(LINES) / seconds, values);
    orch_printed_line_clear(&line);
    return 0;
}
