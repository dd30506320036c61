/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of runs in JSON files share (import_json.c lists them; parts: import_parts.c):
 * parts of a document become parts of a run. Untrusted; what has another type than expected is
 * passed over. */
#ifndef ORCH_FEATURES_IMPORTS_IMPORT_JSON_H
#define ORCH_FEATURES_IMPORTS_IMPORT_JSON_H

#include "features/imports/import_runs.h"

#include "lib/base/json.h"

enum { ORCH_IMPORT_DEPTH_MAX = 8 /* of objects in objects */ };

/** What a reader of a document fills. */
struct reading {
    const char *tool, *experiment; /* the file's name without its end */
    const json_t *root;
    json_t *benchmarks; /* asv: what its other file says of each benchmark; may be NULL */
    GPtrArray *runs;
    GHashTable *by_name; /* Google Benchmark: name -> run, because its samples lie apart */
};

/** A number, also "NaN" and the like as a text. */
bool orch_import_number(const json_t *value, double *out);

/** Adds a value to a run. `value` may be NULL. */
typedef void orch_import_add(struct orch_imported_run *run, const char *name, const json_t *value);
orch_import_add orch_import_add_param, orch_import_add_label, orch_import_add_result;
/** Adds the members of an object by `add`, those of inner objects as "a.b", down to
 * ORCH_IMPORT_DEPTH_MAX. `prefix`: "" for none. */
void orch_import_members(struct orch_imported_run *run, const char *prefix, const json_t *object,
                         int depth, orch_import_add *add);
/** Adds the points of {"steps": [...], "values": [...], "times": [seconds, ...]}; times may be
 * absent. */
void orch_import_series(struct orch_imported_run *run, const char *name, const json_t *series);
/** Reads a file of a folder as JSON. NULL: there is none or, with a warning, it cannot be read. */
json_t *orch_import_document(const char *folder, const char *name, GPtrArray *warnings);

/* ---- the items of a list, each a run or a part of one -----------------------------------------
 * `key`: of the item, when the list is an object; else NULL. */

typedef void orch_import_item(struct reading *r, const char *key, json_t *item);
orch_import_item orch_import_hyperfine, orch_import_pyperf, orch_import_pytest, orch_import_google,
    orch_import_asv, orch_import_tinydb;

#endif
