/* SPDX-License-Identifier: MIT */
#ifndef ORCH_HOST_SIGNAL_TEXT_H
#define ORCH_HOST_SIGNAL_TEXT_H

/** A signal's number and name: "signal 11 (SIGSEGV)". The caller frees. */
char *orch_signal_text(int number);

#endif
