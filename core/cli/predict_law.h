/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --curve RUN... --net NEW`: the loss curve of a network that was not run, from those
 * of the runs: the b's of their curves, regressed on the networks' size and the device. */
#ifndef ORCH_CORE_CLI_PREDICT_LAW_H
#define ORCH_CORE_CLI_PREDICT_LAW_H

#include "core/answer/curve_set.h"
#include "core/cli/predict.h"

struct predicted_curve {
    char *net;
    const char *device;         /* that --gpu named, or NULL: on average. Borrowed */
    struct orch_curve_set *set; /* of the runs, whose curves it borrows */
    struct orch_set_law *law;
    struct orch_stages *stages;
    struct orch_run_curve units; /* what k is and how far the runs went; its key is the network's
                                    name, it has no speed. Borrows */
    double last_k;               /* up to which it is shown */
    struct orch_left_out_error left_out;
};

/** `curves`: struct orch_run_curve *, `results`: struct orch_curve_result, `costs`: json_t * (or
 * NULL), one a run. `epochs` 0: as far as the runs went. ORCH_ERROR_USAGE for an unknown network or
 * device, ORCH_ERROR_NOT_FOUND when the runs do not say their network. The caller frees. */
struct predicted_curve *predicted_curve_new(const struct predict_options *o,
                                            const GPtrArray *curves, const GArray *results,
                                            const GPtrArray *costs, int64_t epochs, GError **error);
void predicted_curve_free(struct predicted_curve *p);

/** Its loss over k, in some rows. The caller prints or frees. */
struct orch_table *predicted_curve_table(const struct predicted_curve *p);
/** The regression, the b's, the curve and how good such predictions were. */
void predicted_curve_print(struct orch_cli *cli, const struct predicted_curve *p);
json_t *predicted_curve_json(const struct predicted_curve *p);

#endif
