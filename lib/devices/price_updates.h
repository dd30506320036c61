/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prices that the user added to the built-in ones with 'orch gpu prices --update'. They are in
 * prices.csv in orch's folder of the user's data directory, with the columns of
 * share/hardware/prices.csv. */
#ifndef ORCH_LIB_DEVICES_PRICE_UPDATES_H
#define ORCH_LIB_DEVICES_PRICE_UPDATES_H

#include "lib/devices/hardware.h"

/** Maximum number of rows. */
#define ORCH_PRICE_UPDATES_MAX 20000

/** The path of the file. The caller frees. */
char *orch_price_updates_file(void);

/** Reads the file and puts its rows at the front of hardware->offers. A missing file is no error.
 * ORCH_ERROR_RECIPE with the location of an invalid row. */
bool orch_price_updates_load(struct orch_hardware *hardware, GError **error);

/** The effect of adding a table. */
struct orch_price_change {
    unsigned added,
        replaced;   /* `replaced`: the user had another price for the same offer and date */
    unsigned known; /* rows that the user already had */
};
/** Adds the rows of the table at `path`, which may use any name of a GPU. The user's file is
 * replaced atomically and unchanged on failure. ORCH_ERROR_RECIPE with the location of the error,
 * or ORCH_ERROR_IO. */
bool orch_price_updates_add(const struct orch_hardware *hardware, const char *path,
                            struct orch_price_change *out, GError **error);

/** Removes all rows, or with `gpu` (a name in the tables) those of this GPU alone. */
bool orch_price_updates_remove(const char *gpu, unsigned *out_removed, GError **error);

#endif
