/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression on layers and GPU that homework 4 asks for, shown with the law that was chosen. */
#include "features/curve/curve_items.h"

#include "core/stats/numbers.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

#define CLEAR_ERRORS 2.0 /* standard errors from 0 that a reader takes for an effect */

static void add_term(struct orch_table *table, const struct orch_curve_ols_term *term)
{
    g_autofree char *value = orch_number_format(term->value);
    g_autofree char *error = orch_number_format(term->error);
    g_autofree char *both = g_strdup_printf("%s (%s)", value, error);
    json_t *json = json_pack("{s:o}", "value", orch_json_finite(term->value));
    if (isfinite(term->error))
        json_object_set_new(json, "standard_error", orch_json_finite(term->error));
    orch_table_add(table, isfinite(term->error) ? both : value, json);
}

static struct orch_table *table_new(const struct orch_curve_ols *plain,
                                    const struct orch_curve_set *set)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(headers, g_strdup("of"));
    g_ptr_array_add(headers,
                    g_strdup_printf(">constant (%s)", orch_curve_set_device(set, plain->base)));
    if (plain->has_layers)
        g_ptr_array_add(headers, g_strdup(">per layer"));
    for (int g = 0; g < plain->devices; g++)
        if (plain->has_device[g] && g != plain->base)
            g_ptr_array_add(headers, g_strdup_printf(">on %s", orch_curve_set_device(set, g)));
    g_ptr_array_add(headers, g_strdup(">R2"));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    orch_table_set_heading(table, 0, NULL, "parameter");
    return table;
}

/* Says of each device's coefficient that is clearly not 0 by its own standard error why the F test
 * finds no effect of the device. */
static void note_untold(struct orch_section *section, const struct orch_curve_set_law *law,
                        const struct orch_curve_set *set)
{
    const struct orch_curve_ols *plain = law->plain;
    for (int i = 0; i < plain->outputs; i++) {
        const struct orch_law_test *test = &law->law->lines[i].test;
        g_autofree char *name = orch_curve_set_law_param(law, i), *p = orch_p_format(test->p);
        for (int g = 0; g < plain->devices && !isnan(test->p) && !test->matters; g++) {
            const struct orch_curve_ols_term *term = &plain->lines[i].device[g];
            const double t = fabs(term->value / term->error);
            if (!plain->has_device[g] || g == plain->base || !(t >= CLEAR_ERRORS))
                continue;
            orch_section_note(section,
                              "the term of %s for %s is %.2g times its standard error, but the F "
                              "test above finds no effect of the device: p is %s, and would have "
                              "to be below %.2g, because %d parameters are tested",
                              name, orch_curve_set_device(set, g), t, p,
                              ORCH_NOISE_LEVEL / law->law->outputs, law->law->outputs);
        }
    }
}

void orch_curve_ols_describe(struct orch_section *section, const struct orch_curve_set_law *law,
                             const struct orch_curve_set *set)
{
    const struct orch_curve_ols *plain = law->plain;
    if (!plain) {
        orch_section_note(section, "the model of layers and device needs more curves");
        return;
    }
    const bool r2_counts = orch_law_r2_counts(plain->rows, plain->terms);
    struct orch_table *table = table_new(plain, set);
    for (int i = 0; i < plain->outputs; i++) {
        const struct orch_curve_ols_line *line = &plain->lines[i];
        g_autofree char *name = orch_curve_set_law_param(law, i);
        orch_table_add(table, name, NULL);
        add_term(table, &line->constant);
        if (plain->has_layers)
            add_term(table, &line->per_layer);
        for (int g = 0; g < plain->devices; g++)
            if (plain->has_device[g] && g != plain->base)
                add_term(table, &line->device[g]);
        orch_table_add_real(table, r2_counts ? line->r2 : (double)NAN);
    }
    orch_section_table(section, table);
    orch_section_note(section,
                      "the table above has a second model, for comparison: parameter = constant + "
                      "(per layer) x layers + device. Its %d terms are fitted to %d independent "
                      "curves (ordinary least squares). Standard errors are in brackets%s",
                      plain->terms, plain->rows,
                      r2_counts ? "" : ". There is no R2: fewer than two curves for each term");
    note_untold(section, law, set);
}
