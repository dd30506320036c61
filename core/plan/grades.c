/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/grades.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>

void orch_forecast_grades_init(struct orch_forecast_grades *grades)
{
    grades->wall_s = g_array_new(FALSE, FALSE, sizeof(double));
    grades->answers = g_array_new(FALSE, FALSE, sizeof(struct orch_answer));
}

void orch_forecast_grades_release(struct orch_forecast_grades *grades)
{
    g_array_unref(grades->wall_s);
    g_array_unref(grades->answers);
}

void orch_forecast_grades_add(struct orch_forecast_grades *grades, struct orch_interval forecast_s,
                              double wall_s)
{
    struct orch_answer answer = {.value = forecast_s};
    g_array_append_val(grades->wall_s, wall_s);
    g_array_append_val(grades->answers, answer);
}

struct orch_score orch_forecast_grades_score(const struct orch_forecast_grades *grades)
{
    return orch_score_of((const double *)(void *)grades->wall_s->data,
                         (const struct orch_answer *)(void *)grades->answers->data, NULL,
                         grades->wall_s->len);
}

char *orch_forecast_grades_text(const struct orch_forecast_grades *grades)
{
    guint n = grades->wall_s->len;
    if (!n)
        return NULL;
    struct orch_score score = orch_forecast_grades_score(grades);
    const double percent = 100 * score.median_relative_error;
    g_autofree char *error = g_strdup_printf(percent < 10 ? "%.2g" : "%.0f", percent);
    return g_strdup_printf("%u forecast%s: median error %s %%, %d of %u within the 90 %% interval",
                           n, orch_plural(n), error, (int)lround(score.coverage_90 * n), n);
}

static json_t *one_json(const struct orch_forecast_grades *grades)
{
    guint n = grades->wall_s->len;
    struct orch_score score = orch_forecast_grades_score(grades);
    return json_pack("{s:i s:o s:o}", "graded", (int)n, "median_relative_error",
                     n ? orch_json_finite(score.median_relative_error) : json_null(), "coverage_90",
                     n ? orch_json_finite(score.coverage_90) : json_null());
}

json_t *orch_forecast_grades_json(const struct orch_forecast_grades *planned,
                                  const struct orch_forecast_grades *renewed)
{
    if (!planned->wall_s->len && !renewed->wall_s->len)
        return json_null();
    json_t *json = one_json(planned);
    json_object_set_new(json, "renewed", renewed->wall_s->len ? one_json(renewed) : json_null());
    return json;
}
