/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/row_device.h"

#include "predictors/features/features.h"

#include <math.h>

#define BANDWIDTH_POWER 0.6
#define PEAK_POWER 0.25
#define TENSOR_PART 0.7 /* of what tensor cores add to the peak: other work stays at fp32 */
#define LEAN_POWER 0.2  /* more of the peak and less of the bandwidth, or the other way round */
#define WATTS_POWER 0.2
#define EVEN_MACS                                                                                  \
    370.0 /* multiply-adds for each value of work that leans on neither: ResNet-50's */
#define LEAN_FACTOR 4.0 /* so many times as many lean on the peak as far as counts */
#define USUAL_WATTS 250.0
/* Where operations are counted, a step takes no less than they take at the peak (fp64 on gaming
 * cards), and no less than the host takes to launch its kernels, whatever the GPU is. The powers
 * then need a scale: even work reaches half of a V100's peak at fp32. */
#define EVEN_PEAK 15.7
#define EVEN_BANDWIDTH 900.0
#define EVEN_WATTS 300.0
#define EVEN_SHARE 0.5
#define MOST_SHARE 1.2 /* of the peak as it is counted: Winograd's products are fewer */
#define LAUNCH_MS 0.08
#define BOUND_NORM 4.0

double orch_row_device_watts(const struct orch_gpu_spec *gpu)
{
    return gpu->watts > 0 ? gpu->watts : USUAL_WATTS;
}

/* fp32 counts without tensor cores: measured steps follow that ratio more closely than tf32's,
 * which only some of a step's products reach. */
static double peak_of(const struct orch_row_facts *f)
{
    double peak = orch_gpu_peak(f->gpu, f->precision == ORCH_FP32 ? ORCH_FP32_IEEE : f->precision);
    return peak > 0 ? peak / 1e12 : f->gpu->fp32_tflops;
}

struct orch_row_device orch_row_device_of(const struct orch_row_facts *f,
                                          const struct orch_row_work *w)
{
    bool is_gpu = f->gpu && f->gpu->unit != ORCH_GPU_HOST && f->gpu->bandwidth_gbs > 0 &&
                  f->gpu->fp32_tflops > 0;
    struct orch_row_device d = {.gpu = is_gpu ? f->gpu : NULL,
                                .peak_tflops = is_gpu ? peak_of(f) : (double)NAN,
                                .work = f->field[ORCH_FIELD_BATCH],
                                .macs_per_value = (double)NAN};
    d.counts_operations = w && w->gflop > 0;
    if (d.counts_operations)
        d.work = w->gflop;
    d.launches = d.counts_operations ? w->launches : 0;
    if (w && w->gmacs > 0 && w->macts_m > 0)
        d.macs_per_value = 1e3 * w->gmacs / w->macts_m;
    return d;
}

double orch_row_device_ms(const struct orch_row_device *d)
{
    if (!d->gpu || !(d->work > 0))
        return (double)NAN;
    double bandwidth = log(d->gpu->bandwidth_gbs), peak = log(d->peak_tflops);
    peak -= (1 - TENSOR_PART) * MAX(peak - log(d->gpu->fp32_tflops), 0);
    double watts = log(orch_row_device_watts(d->gpu));
    double lean = isfinite(d->macs_per_value)
                      ? CLAMP(log(d->macs_per_value / EVEN_MACS) / log(LEAN_FACTOR), -1, 1)
                      : 0;
    bandwidth -= log(EVEN_BANDWIDTH);
    peak -= log(EVEN_PEAK);
    watts -= log(EVEN_WATTS);
    double by_powers = d->work / (EVEN_SHARE * EVEN_PEAK) *
                       exp(-BANDWIDTH_POWER * bandwidth - PEAK_POWER * peak -
                           LEAN_POWER * lean * (peak - bandwidth) - WATTS_POWER * watts);
    double by_peak = d->counts_operations ? d->work / (MOST_SHARE * d->peak_tflops) : 0;
    double host = LAUNCH_MS * d->launches;
    return pow(pow(by_powers, BOUND_NORM) + pow(by_peak, BOUND_NORM) + pow(host, BOUND_NORM),
               1 / BOUND_NORM);
}
