/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/trial_forecasts.h"

#include "core/schedule/time_left.h"
#include "features/predict/estimator.h"
#include "features/predict/step_tier.h"
#include "features/predict/trial/duration.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/write/trial_record.h"

#include <math.h>
#include <string.h>

/* The GPU of a device_key: "2x Tesla V100-SXM2-16GB"; else this machine's processor. */
static const struct orch_gpu_spec *gpu_of(const struct orch_hardware *hardware,
                                          const char *device_key)
{
    size_t digits = strspn(device_key, "0123456789");
    bool has_gpus = digits && g_str_has_prefix(device_key + digits, "x ");
    return orch_hardware_gpu(hardware, has_gpus ? device_key + digits + 2 : "here", NULL);
}

static void set(struct orch_time_left_on_gpu *out, enum orch_tier tier, double seconds,
                double spread, char *why)
{
    out->tier = orch_tier_name(tier);
    out->why = why;
    out->left_s = orch_duration_of_spread(seconds, spread);
}

/* Uses the trial's pace when that and its own device are known, else the analytical model alone. */
static bool answer(struct orch_estimator *estimator, const json_t *record,
                   const struct orch_gpu_spec *gpu, double share, const struct orch_remaining *here,
                   struct orch_time_left_on_gpu *out, GError **error)
{
    const json_t *cost = json_object_get(json_object_get(record, "facts"), "cost");
    const struct orch_hardware *hardware = orch_estimator_hardware(estimator);
    const struct orch_gpu_spec *own = gpu_of(hardware, orch_json_text(record, "device_key", ""));
    struct orch_white_estimate there, mine;
    out->gpu = g_strdup(gpu->name);
    if (!cost || !orch_estimator_white(estimator, cost, gpu, &there)) {
        orch_error_set(
            error, ORCH_ERROR_USAGE,
            "the plugin must declare network, batch and precision (orch plugin show)",
            "the time on %s cannot be estimated: the amount of work in the trial is unknown",
            gpu->name);
        return false;
    }
    if (own && here && here->left_s.mid > 0 && orch_estimator_white(estimator, cost, own, &mine)) {
        double ratio = there.step_s / mine.step_s;
        double own_spread = log(here->left_s.high / here->left_s.mid) / ORCH_NORMAL_90;
        set(out, ORCH_TIER_TRANSFERRED, here->left_s.mid * ratio,
            hypot(own_spread, hypot(there.spread, mine.spread)),
            g_strdup_printf("a step takes %.3g times as long as on %s, by the roofline", ratio,
                            own->name));
        return true;
    }
    if (!isfinite(there.whole_s) || !(share > 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       own ? "wait until the trial has made some progress"
                           : "'orch doctor --bench' measures this machine",
                       own ? "the remaining work of the trial is not known yet"
                           : "the speed of this machine is not known");
        return false;
    }
    set(out, there.is_transferred ? ORCH_TIER_TRANSFERRED : ORCH_TIER_PRIOR, share * there.whole_s,
        there.spread,
        g_strdup_printf("%s, without the speed measured here",
                        there.is_transferred ? "the analytical model" : "a roofline"));
    return true;
}

bool orch_predict_time_left(const json_t *record, const char *gpu, double share,
                            const struct orch_remaining *here, struct orch_time_left_on_gpu *out,
                            GError **error)
{
    struct orch_hardware *hardware = orch_hardware_load(error);
    const struct orch_gpu_spec *spec = hardware ? orch_hardware_gpu(hardware, gpu, error) : NULL;
    struct orch_estimator *estimator = orch_estimator_new(NULL);
    bool ok = spec && answer(estimator, record, spec, share, here, out, error);
    orch_estimator_free(estimator);
    orch_hardware_free(hardware);
    if (!ok)
        orch_time_left_on_gpu_release(out);
    return ok;
}
