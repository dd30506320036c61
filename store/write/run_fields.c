/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/write/run_fields.h"

#include "store/store.h"

enum { OWN_r = true, OWN_s = false, OWN_m = false };

#define ROW(kind_, member_, table_, column_, shown_, what_)                                        \
    {                                                                                              \
        .text = #member_,                                                                          \
        .shown = shown_,                                                                           \
        .what = what_,                                                                             \
        .kind = STORE_FIELD_##kind_,                                                               \
        .is_own = OWN_##table_,                                                                    \
        .in_record = offsetof(struct orch_record, member_),                                        \
        .in_run = offsetof(struct orch_run, member_),                                              \
    },

const struct store_run_field store_run_fields[STORE_RUN_FIELD_COUNT] = {STORE_RUN_FIELDS(ROW)};
