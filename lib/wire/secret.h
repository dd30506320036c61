/* SPDX-License-Identifier: MIT */
/* What is recorded of secrets: values of parameters of type secret, and words of command lines that
 * look like one. */
#ifndef ORCH_WIRE_SECRET_H
#define ORCH_WIRE_SECRET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** What is shown and recorded in place of a secret in a command line. */
#define ORCH_SECRET_SHOWN "(secret)"

/** Returns the recorded form of the secret value of run `run_key`: "hmac-sha256:RUN:DIGEST", with a
 * key that never leaves this machine. Equal secrets of one run look equal; those of different runs
 * do not. New reference. */
json_t *orch_secret_record(const json_t *value, const char *run_key);

/** Whether a parameter's value is the recorded form of a secret; `run_key` NULL: of any run. */
bool orch_secret_is_recorded(const char *text, const char *run_key);

/** Returns where a secret begins in word `i` of a command line, or NULL. Words are secret after an
 * option, and after the '=' of an option or a variable, whose name is that of a secret:
 * --api-key X, --api-key=X, API_KEY=X. A name is divided at dashes, underscores, dots and capital
 * letters; it is that of a secret if one part is "secret", "password", "passwd", "passphrase",
 * "apikey" or "credentials", or the last one is "key" or "token" (not --key-frames, --tokens,
 * --tokenizer, --pad-token, --sort-key, --token-file). References ("${name}", "{name}") are no
 * secrets. */
const char *orch_secret_in_word(const char *const *words, size_t i);

/** Returns the words as a JSON array, with ORCH_SECRET_SHOWN in place of secrets. New reference. */
json_t *orch_secret_mask_words(const char *const *words, size_t count);

#endif
