/* SPDX-License-Identifier: MIT */
#ifndef ORCH_WIRE_PRINTED_RUN_H
#define ORCH_WIRE_PRINTED_RUN_H

#include "lib/wire/printed_reader.h"

/** Takes the pending words as what the line, and the lines indented below it, are about. */
void orch_printed_run_set_about(struct reader *r, const char *unit);

/** Ends words without a value: a label for following values ("val:", "[train]", "Test set:"), a log
 * level, what the line is about, or prose. */
void orch_printed_run_drop(struct reader *r);

/** Kind of counter that a name's last word denotes; `is_plain`: in a form not used for settings. */
enum orch_printed_kind orch_printed_run_kind(const struct orch_printed_token *word, bool is_plain);

/** Sets the value's name from the pending words; false if they do not form a name. */
bool orch_printed_run_name(struct reader *r, struct orch_printed_value *value);

#endif
