/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which timed runs may be in one table of times: those of one version of LibTorch or PyTorch on a
 * device, and, for a network on it, of one memory layout and with or without CUDA graphs. The
 * newest run decides. */
#ifndef ORCH_CORE_ROWS_POOLING_H
#define ORCH_CORE_ROWS_POOLING_H

#include <stddef.h>

enum orch_pooling {
    ORCH_POOLING_KEPT,
    ORCH_POOLING_OTHER_LIBRARY, /* the device's newest run used the library in another version */
    ORCH_POOLING_OTHER_LAYOUT,  /* the newest run of its work on the device used another layout */
    ORCH_POOLING_OTHER_GRAPHS,  /* the newest run of its work on the device replayed its steps as
                                   CUDA graphs, and this one did not, or the reverse */
    ORCH_POOLING_NO_TIME,       /* set by the caller: the run neither counts nor decides */
};

/** A timed run. Texts are borrowed. */
struct orch_pooled_run {
    const char *key;      /* the run's; later runs have greater ones */
    const char *device;   /* "" when unknown */
    const char *library;  /* "libtorch 2.11.0" (lib/wire/library_fact.h); NULL: none or unknown */
    const char *work;     /* what is computed: network, input and precision */
    double channels_last; /* 1, or 0 for the plain layout; NaN: unknown, which fits both */
    double cuda_graphs;   /* 1 if steps were replayed as CUDA graphs, else 0; NaN: unknown, which
                             fits both */
    enum orch_pooling pooling;
};

/** Sets `pooling` of all runs but those with NO_TIME. */
void orch_pooling_choose(struct orch_pooled_run *runs, size_t count);

#endif
