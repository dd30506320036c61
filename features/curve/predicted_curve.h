/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predicts the loss curve of a network that has not been run: the b parameters of measured curves
 * are regressed on network size and device. */
#ifndef ORCH_FEATURES_CURVE_PREDICTED_CURVE_H
#define ORCH_FEATURES_CURVE_PREDICTED_CURVE_H

#include "core/workspace/open_network.h"
#include "features/curve/curve_set.h"

/** The network, device and length to predict for. */
struct orch_curve_question {
    struct orch_net_request net; /* the input shape and classes default to those of the runs */
    const char *device;          /* a substring of a device's name; NULL: mean over devices */
    int64_t epochs;              /* 0: as many as the runs have */
};

struct orch_predicted_curve {
    char *net;
    const char *device; /* the device that --gpu names, or NULL: mean over devices. Borrowed */
    struct orch_curve_set *set; /* made from the runs; borrows their curves */
    struct orch_curve_set_law *law;
    struct orch_stages *stages;
    struct orch_run_curve units; /* the unit of k and the range of the runs; its key is the
                                    network's name, it has no speed. Borrows */
    double last_k;               /* the end of the range that is shown */
    struct orch_heldout_error left_out;
};

/** Predicts the curve. `curves` (struct orch_run_curve *), `results` (struct orch_curve_result) and
 * `costs` (json_t *, may be NULL) have one element for each run. `notes` is as in
 * orch_network_open. ORCH_ERROR_USAGE for an unknown network or device, ORCH_ERROR_NOT_FOUND when
 * the runs do not record their network. The caller frees. */
struct orch_predicted_curve *orch_predicted_curve_new(const struct orch_curve_question *question,
                                                      const GPtrArray *curves,
                                                      const GArray *results, const GPtrArray *costs,
                                                      GPtrArray *notes, GError **error);
void orch_predicted_curve_free(struct orch_predicted_curve *p);

#endif
