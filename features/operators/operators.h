/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the operators of a PyTorch model, as share/python's orch.export_ops writes them, into the
 * graph of lib/net: JSON, a line each for the file, every parameter and every operator.
 *
 *     {"format":"orch operators","version":1,"model":"ResNet","batch":8,"sequence":null,"fixed":{}}
 *     {"parameter":"fc.weight","shape":[1000,2048],"dtype":"float32","trainable":true}
 *     {"id":174,"op":"addmm","in":[["fc.bias",[1000]],[173,["b",2048]],["fc.weight",[2048,1000]]],
 *      "out":["b",1000],"dtype":"float32","arguments":{"beta":1}}
 *
 * An operand is where its values come from (the id of an earlier operator, the name of a parameter,
 * or null) and its shape there. A size is a number, or a factor with a letter for each of the batch
 * and the tokens of a sequence that it grows with: "12b", "bs". A network of lib/net is of one
 * sample: the batch counts as 1, and no shape has it twice. Where the file says that the batch is
 * fixed, a sample is that batch.
 *
 * Operators that move the elements of a value or read a part of it are not in the file. Those that
 * the table of operator_kinds.c lacks are taken by the bytes that they read and write, with a note.
 */
#ifndef ORCH_FEATURES_OPERATORS_OPERATORS_H
#define ORCH_FEATURES_OPERATORS_OPERATORS_H

#include "lib/net/net.h"

/** Reads a file. `input` is the size that was asked for, 0 for the file's own: of a sequence the
 * number of tokens (height) may differ from the file's unless that is fixed, nothing else may.
 * `notes` (char *, or NULL) gets lines on what is fixed, unknown, unused or constant. Fails with
 * ORCH_ERROR_IO (unreadable), ORCH_ERROR_USAGE (another size) or ORCH_ERROR_RECIPE (no such file,
 * with its line). The caller frees. */
struct orch_net *orch_operators_load(const char *path, struct orch_net_shape input,
                                     GPtrArray *notes, GError **error);
/** The same from memory; `name` replaces the path in messages. */
struct orch_net *orch_operators_load_bytes(const void *bytes, size_t length, const char *name,
                                           struct orch_net_shape input, GPtrArray *notes,
                                           GError **error);

#endif
