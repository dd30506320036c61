/* SPDX-License-Identifier: MIT */
/* The library that does most of a trial's computing and whose version decides how long it takes:
 * LibTorch for orch's own training plugins, PyTorch for Python programs. Its version is recorded
 * with the run's environment; times of two versions are not pooled. */
#ifndef ORCH_WIRE_LIBRARY_FACT_H
#define ORCH_WIRE_LIBRARY_FACT_H

#include <jansson.h>
#include <stdbool.h>

/** Returns "libtorch 2.11.0" from a recorded or current environment (an object of names and
 * versions, may be NULL); NULL when it has no such library. The caller frees. */
char *orch_environment_library(const json_t *environment);

/** The same from a run's facts (JSON text, may be NULL or malformed). The caller frees. */
char *orch_facts_library(const char *facts);

/** True if both texts name the same library in different versions. NULL: unknown, never differs. */
bool orch_libraries_differ(const char *a, const char *b);

#endif
