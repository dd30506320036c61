/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the texts of a Python script that may be paths of files which it reads. */
#ifndef ORCH_CORE_INPUTS_SCRIPT_DATA_H
#define ORCH_CORE_INPUTS_SCRIPT_DATA_H

#include <glib.h>
#include <stdbool.h>

/** True for a text that may be the path of a file: with a dot or a slash, and nothing that a path
 * hardly has. */
bool orch_script_may_be_file(const char *text);

/** Adds to `out` (char *, which it owns) the literal texts of a Python script that may be files:
 * each by itself, and joined to the ones before it ("a", "b.csv" and "a/b.csv" of
 * Path("a") / "b.csv"). Texts that are evidently written (open(.., "w"), torch.save(m, ".."),
 * OUT = "..") are left out. In a script that
 * changes sys.path, texts that may be folders are added, too. */
void orch_script_data_read(const char *text, GPtrArray *out);

#endif
