/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Report items whose content is a text: one that the recipe has, and one that the student writes.
 */
#include "core/report/items.h"

static bool fill_text(struct orch_section_context *a, GError **error)
{
    (void)error;
    orch_section_text(a->section, "%s", json_string_value(a->item->spec));
    return true;
}

const struct orch_report_kind ORCH_REPORT_TEXT = {
    .name = "text",
    .has_trials = orch_item_without_trials,
    .fill = fill_text,
};

static bool leave_to_student(struct orch_section_context *a, GError **error)
{
    (void)error;
    const char *ctx = json_is_string(a->item->spec) ? json_string_value(a->item->spec) : "";
    orch_section_student(a->section, "%s", ctx);
    return true;
}

const struct orch_report_kind ORCH_REPORT_STUDENT = {
    .name = "student",
    .may_be_bare = true,
    .has_trials = orch_item_without_trials,
    .fill = leave_to_student,
};
