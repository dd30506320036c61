/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of a roofline (Williams et al. 2009): what a device's memory and units allow at best,
 * by operations per byte, and where layers lie. */
#ifndef ORCH_FEATURES_PALEO_ROOFLINE_CHART_H
#define ORCH_FEATURES_PALEO_ROOFLINE_CHART_H

#include "core/render/chart.h"
#include "features/paleo/roofline_roofs.h"
#include "store/store.h"

/** A layer in the chart. */
struct orch_roofline_dot {
    char *name, *kind; /* "layer1.0.conv1", "conv" */
    double flops, bytes;
    double s; /* measured; NaN: not measured, and drawn on the roof */
};
/** An empty list of struct orch_roofline_dot. */
GArray *orch_roofline_dots_new(void);

/** Adds the layers of a run of plugin `layerbench`, from the CSV table `artifact` that it left:
 * columns layer, kind, gflop, mbytes, ms, and precision, which must be `precision` (NULL: any).
 * Rows without operations or bytes are left out. Returns how many were added; 0 also when the run
 * has no such table here. */
unsigned orch_roofline_dots_add_run(GArray *dots, struct orch_store *store,
                                    const struct orch_run *run, const char *artifact,
                                    const char *precision);
/** Adds a layer that was not measured. */
void orch_roofline_dots_add(GArray *dots, const char *name, const char *kind, double flops,
                            double bytes);

/** Draws the roofs, of which the peak at `precision` and memory bound the layers, and the layers:
 * measured ones filled, at their rate; others hollow, on the roof. The layers that take longest are
 * named. NULL when memory or that peak is not known. The caller frees. */
struct orch_chart *orch_roofline_chart(const char *title, const struct orch_roofline_roofs *roofs,
                                       enum orch_precision precision, const GArray *dots);

/** The most operations per second that the roofs allow at an intensity (FLOP/byte). */
double orch_roofline_attainable(const struct orch_roofline_roofs *roofs,
                                enum orch_precision precision, double intensity);

#endif
