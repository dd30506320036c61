/* SPDX-License-Identifier: MIT */
#ifndef ORCH_LIB_BASE_WRITE_ALL_H
#define ORCH_LIB_BASE_WRITE_ALL_H

#include <stdbool.h>
#include <stddef.h>

/** Writes all bytes to a blocking descriptor, continuing after interrupts and short writes. Returns
 * false with errno; some bytes may have been written. */
bool orch_write_all(int fd, const char *bytes, size_t length);

#endif
