/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the training loop share: a small data set in a folder of its own, and a
 * training on tests/plugins/tiny_torch.c in place of LibTorch. */
#ifndef ORCH_TESTS_UNIT_TRAINING_FIXTURE_H
#define ORCH_TESTS_UNIT_TRAINING_FIXTURE_H

#include "plugins/common/training/training.h"

/** Images of the set `mnist` in the folder, and their side. */
enum { TRAIN = 80, TEST = 40, SIDE = 28 };

/** The working directory from begin to end. */
extern char *training_fixture_folder;

/** Group set-up and tear-down of cmocka: makes the folder with its data set, removes it. */
int training_fixture_begin(void **state);
int training_fixture_end(void **state);

/** A training of 4 epochs of 5 steps on the set. */
struct orch_training training_fixture_usual(void);
/** Runs the training, which must end with `status` and a message that contains `what`. */
void training_fixture_fails(const struct orch_training *t, int status, const char *what);
/** The training must not pass its check; the message contains `what`. */
void training_fixture_refused(const struct orch_training *t, const char *what);

#endif
