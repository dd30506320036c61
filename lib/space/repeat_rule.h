/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `repeat: auto(ci=2%, max=20, metric=last val_accuracy)`: a setting is repeated until its median
 * is known. What is not given has its default: 2 %, 20, and the metric of the search. */
#ifndef ORCH_SPACE_REPEAT_RULE_H
#define ORCH_SPACE_REPEAT_RULE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** `max` is at least so many, and so many repeats without a value end a setting. */
#define ORCH_REPEATS_MIN 3

struct orch_repeat_rule {
    double ci;    /* half width of the median's interval that is enough, as a share of the median */
    int max;      /* repeats at most, of each setting */
    char *metric; /* "val_accuracy"; NULL: that of the search */
    char *summary; /* "last", "best", ...; NULL: last */
};
void orch_repeat_rule_free(struct orch_repeat_rule *rule);
/** The caller frees the copy. */
struct orch_repeat_rule *orch_repeat_rule_copy(const struct orch_repeat_rule *rule);

/** Whether the text is meant as such a rule, and not as a number. */
bool orch_repeat_rule_is_meant(const char *text);
/** Reads a rule. NULL with ORCH_ERROR_RECIPE, and `*out_at` set to the offset in `text` of what is
 * wrong. The caller frees. */
struct orch_repeat_rule *orch_repeat_rule_parse(const char *text, size_t *out_at, GError **error);

#endif
