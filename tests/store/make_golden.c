/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a store as the fixtures of this version have it: `make_golden FILE`. A new schema version
 * gets its own file in tests/data; those of older versions are never made again. */
#include "tests/store/fixture.h"

#include <stdio.h>

static void put_unversioned(struct orch_store *store)
{
    const struct orch_record bare = {.key = "01890a5d-ac96-774b-bcce-b302099a8058",
                                     .state = "crashed",
                                     .reason = "signal 11 (SIGSEGV)",
                                     .exit_code = -1,
                                     .signal = 11,
                                     .seed = 7,
                                     .repeat = 1,
                                     .attempt = 2,
                                     .wall_ms = (double)NAN,
                                     .started_ns = 1,
                                     .ended_ns = 2};
    assert_ok(orch_store_record(store, &bare, error));
}

int main(int argc, char **argv)
{
    if (argc != 2 || access(argv[1], F_OK) == 0) {
        fprintf(stderr, "usage: make_golden NEW_FILE\n");
        return 2;
    }
    GError *problem = NULL;
    const struct store_options plain = {.migrations = &store_migrations, .never_wal = true};
    struct orch_store *store = orch_store_open_with(argv[1], ORCH_STORE_CREATE, &plain, &problem);
    if (!store) {
        fprintf(stderr, "%s\n", problem->message);
        return 1;
    }
    fixture_put(store, FIXTURE_KEY);
    put_unversioned(store);
    orch_store_close(store);
    return 0;
}
