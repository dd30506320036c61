/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pages of the manual that come with the program, printed by `orch help TOPIC`. */
#ifndef ORCH_CORE_CLI_MANUAL_H
#define ORCH_CORE_CLI_MANUAL_H

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/** A topic that `orch help` explains. A feature lists its own in its descriptor; an element without
 * a name ends the list. */
struct orch_help_topic {
    const char *name;    /* "filters" */
    const char *page;    /* the file below docs: "where.md" */
    const char *heading; /* the section of that page; NULL: all of it */
    const char *summary; /* one line */
};

/** Returns the topic of all features with that name, or NULL. Borrowed. */
const struct orch_help_topic *orch_manual_topic(const char *name);

/** Prints the names of all topics, separated by commas, or (`with_summaries`) a line for each. */
void orch_manual_topics(FILE *out, bool with_summaries);

/** Prints a topic's text for a terminal of `columns` columns: paragraphs are wrapped, links have
 * their words alone. ORCH_ERROR_IO when the manual is not beside the program. */
bool orch_manual_print(FILE *out, const struct orch_help_topic *topic, int columns, GError **error);

/** Writes the text of Markdown like orch_manual_print. `heading` may be NULL; false when the text
 * has no such heading. */
bool orch_manual_render(FILE *out, const char *markdown, const char *heading, int columns);

#endif
