/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/class_choice.h"

#include "lib/base/error.h"

static bool is_repeated(const int64_t *classes, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (classes[i] == classes[at])
            return true;
    return false;
}

bool orch_classes_check(const struct orch_training *t, GError **error)
{
    const struct orch_image_set_facts *facts = orch_image_set_find(t->dataset);
    const int known = facts ? facts->classes : 0;
    const int64_t *classes = t->classes.items;
    if (t->classes.count == 1) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "name at least two classes",
                       "'classes' has only one class, but a classifier needs two");
        return false;
    }
    for (size_t i = 0; i < t->classes.count; i++) {
        if (known && classes[i] >= known)
            orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                           "classes: %" G_GINT64_FORMAT ", but '%s' has classes 0 to %d",
                           classes[i], t->dataset, known - 1);
        else if (is_repeated(classes, i))
            orch_error_set(error, ORCH_ERROR_RECIPE, "name each class once",
                           "classes: %" G_GINT64_FORMAT " is given twice", classes[i]);
        else
            continue;
        return false;
    }
    return true;
}

bool orch_classes_suffice(const struct orch_subset *subset, GError **error)
{
    if (subset->classes > 1)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "choose at least two classes that have images",
                   "the images of '%s' have only one class, but a classifier needs two",
                   subset->dataset->name);
    return false;
}
