/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/schedule/lr_schedule.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

bool orch_schedule_kind_parse(const char *name, enum orch_schedule_kind *out)
{
    static const char *const names[] = {"constant", "steps", "cosine", "linear"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(names[i], name) == 0) {
            *out = (enum orch_schedule_kind)i;
            return true;
        }
    return false;
}

/* Parses "60" or "30%" as epochs. */
static bool parse_one(const char *text, double epochs, double *out)
{
    size_t length = strlen(text);
    bool share = length && text[length - 1] == '%';
    g_autofree char *number = g_strndup(text, length - share);
    double value;
    if (!orch_real_parse(number, &value) || value < 0)
        return false;
    *out = share ? value / 100 * epochs : value;
    return true;
}

bool orch_schedule_milestones_parse(struct orch_schedule *schedule, const char *const *texts,
                                    size_t count, size_t *out_late, GError **error)
{
    double read[ORCH_MILESTONES_MAX];
    size_t late = 0;
    if (count > ORCH_MILESTONES_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "%zu milestones are too many: at most %d are possible", count,
                       ORCH_MILESTONES_MAX);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!parse_one(texts[i], schedule->epochs, &read[i])) {
            orch_error_set(
                error, ORCH_ERROR_RECIPE, "write epochs such as 60, or shares such as 30%",
                "milestone '%s' is neither a number of epochs nor a percentage", texts[i]);
            return false;
        }
        if (i && read[i] <= read[i - 1]) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "write milestones in rising order",
                           "milestone '%s' is not after '%s'", texts[i], texts[i - 1]);
            return false;
        }
        late += read[i] >= schedule->epochs;
    }
    if (count)
        memcpy(schedule->milestones, read, count * sizeof *read);
    schedule->milestone_count = count;
    if (out_late)
        *out_late = late;
    return true;
}

/* Share of the epochs after the warm-up that is over. */
static double share_over(const struct orch_schedule *schedule, double epoch)
{
    double length = fmax(schedule->epochs - schedule->warmup_epochs, 1e-9);
    return fmin(1, fmax(0, (epoch - schedule->warmup_epochs) / length));
}

static double without_warmup(const struct orch_schedule *schedule, double epoch)
{
    double rate = schedule->lr;
    switch (schedule->kind) {
    case ORCH_SCHEDULE_CONSTANT:
        return rate;
    case ORCH_SCHEDULE_STEPS:
        /* a percentage may exceed its epoch by a rounding error */
        for (size_t i = 0; i < schedule->milestone_count; i++)
            if (epoch >= schedule->milestones[i] - 1e-9)
                rate *= schedule->gamma;
        return rate;
    case ORCH_SCHEDULE_COSINE:
        return schedule->lr_min +
               (schedule->lr - schedule->lr_min) * (1 + cos(PI * share_over(schedule, epoch))) / 2;
    case ORCH_SCHEDULE_LINEAR:
        return rate + (schedule->lr_min - rate) * share_over(schedule, epoch);
    }
    return rate;
}

double orch_schedule_rate(const struct orch_schedule *schedule, double epoch)
{
    double rate = without_warmup(schedule, fmax(epoch, schedule->warmup_epochs));
    if (epoch >= schedule->warmup_epochs)
        return rate;
    double start = schedule->warmup_start * rate;
    return start + (rate - start) * epoch / schedule->warmup_epochs;
}
