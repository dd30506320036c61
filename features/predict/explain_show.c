/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints `orch predict --explain` as text. */
#include "features/predict/step_show.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static char *duration_at(const json_t *object, const char *name)
{
    return orch_duration_format(json_number_value(json_object_get(object, name)));
}

static void print_analytical_model(const json_t *white)
{
    g_autofree char *forward = duration_at(white, "forward_s");
    g_autofree char *backward = duration_at(white, "backward_s");
    g_autofree char *update = duration_at(white, "update_s");
    g_autofree char *exposed = duration_at(white, "exposed_exchange_s");
    double shift = json_number_value(json_object_get(white, "shift"));
    printf("analytical model: forward %s, backward %s, update %s; exposed exchange %s", forward,
           backward, update, exposed);
    if (fabs(shift - 1) > 1e-9)
        printf("; scaled by %.2f", shift);
    printf("\n");
}

static void print_learned(const json_t *learned)
{
    if (json_is_null(learned)) {
        printf("trained predictor: none ('orch predictor train' trains one)\n");
        return;
    }
    g_autofree char *step = duration_at(learned, "step_s");
    g_autofree char *roofline = json_is_null(json_object_get(learned, "roofline_s"))
                                    ? g_strdup("nothing")
                                    : duration_at(learned, "roofline_s");
    bool extrapolates = json_is_true(json_object_get(learned, "extrapolates"));
    orch_cli_print("trained predictor: %s; its roofline %s%s", step, roofline,
                   extrapolates ? "; extrapolation beyond the training rows" : "");
}

static void print_readings(const json_t *readings)
{
    for (size_t i = 0; i < json_array_size(readings); i++)
        orch_cli_print("  %s", json_string_value(json_array_get(readings, i)));
}

static void print_features(const json_t *features)
{
    printf("features of this setting\n");
    for (size_t i = 0; i < json_array_size(features); i++) {
        const json_t *f = json_array_get(features, i), *value = json_object_get(f, "value");
        g_autofree char *text = json_is_string(value)
                                    ? g_strdup(json_string_value(value))
                                    : orch_number_format(json_number_value(value));
        const char *unit = orch_json_text(f, "unit", "");
        orch_cli_print("  %-28s %s%s%s", orch_json_text(f, "name", ""), text, *unit ? " " : "",
                       unit);
    }
}

/* Returns a run's key, or the data set's name for rows of a data set. */
static const char *source_of(const json_t *record)
{
    const char *source = orch_json_text(record, "source", "-");
    return g_uuid_string_is_valid(source) ? orch_run_short_key(source) : source;
}

static void print_nearest(const json_t *nearest)
{
    printf("nearest measurements\n");
    for (size_t i = 0; i < json_array_size(nearest); i++) {
        const json_t *k = json_array_get(nearest, i);
        int64_t count = orch_json_int(k, "count", 0), runs = orch_json_int(k, "runs", 0);
        const char *precision = orch_json_text(k, "precision", "");
        g_autofree char *time = duration_at(k, "step_s");
        orch_cli_print("  %s  %s on %s, batch %s%s%s: %s (%d %s%s)", source_of(k),
                       orch_json_text(k, "net", ""), orch_json_text(k, "gpu", ""),
                       orch_json_text(k, "batch", ""), *precision ? ", " : "", precision, time,
                       (int)count, runs == count ? "run" : "row", orch_plural(count));
    }
    if (!json_array_size(nearest))
        printf("  none: the store has no run with a step time\n");
}

static void print_measured_steps(const json_t *steps)
{
    if (json_array_size(steps))
        printf("measured steps that the forecast uses (weight; measured divided by analytical "
               "time)\n");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *k = json_array_get(steps, i);
        g_autofree char *time = duration_at(k, "step_s");
        int workers = (int)orch_json_int(k, "workers", 1);
        g_autofree char *many = workers > 1 ? g_strdup_printf("%d x ", workers) : g_strdup("");
        const char *software = orch_json_text(k, "software", NULL);
        orch_cli_print("  %6.3f; %.2f  %s: %s on %s%s, %s, batch %d, %s: %s%s%s%s%s",
                       json_number_value(json_object_get(k, "weight")),
                       json_number_value(json_object_get(k, "measured_over_model")),
                       orch_json_text(k, "source", ""), orch_json_text(k, "net", ""), many,
                       orch_json_text(k, "gpu", ""), orch_json_text(k, "mode", ""),
                       (int)orch_json_int(k, "batch", 0), orch_json_text(k, "precision", ""), time,
                       software ? "; " : "", software ? software : "", software ? ", " : "",
                       orch_json_text(k, "date", ""));
    }
}

void orch_cli_explain_show(const json_t *explanation)
{
    print_analytical_model(json_object_get(explanation, "analytical_model"));
    print_learned(json_object_get(explanation, "learned"));
    print_readings(json_object_get(explanation, "readings"));
    print_features(json_object_get(explanation, "features"));
    print_nearest(json_object_get(explanation, "nearest"));
    print_measured_steps(json_object_get(explanation, "measured_steps"));
}
