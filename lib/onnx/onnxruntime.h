/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where ONNX Runtime's library lies on this machine. It is found as LibTorch is: Python's package
 * `onnxruntime` has it beside its module, so the interpreters are asked, without importing it. */
#ifndef ORCH_LIB_ONNX_ONNXRUNTIME_H
#define ORCH_LIB_ONNX_ONNXRUNTIME_H

#include <glib.h>

/** Names the library itself; then nothing else is looked for. */
#define ORCH_ONNXRUNTIME_VARIABLE "ORCH_ONNXRUNTIME"
/** What installs it. */
#define ORCH_ONNXRUNTIME_HINT                                                                      \
    "pip install onnxruntime (conda: onnxruntime-cpp; Debian 13: apt-get install "                 \
    "libonnxruntime1.21)"

/** One place. */
struct orch_onnxruntime {
    char *path; /* of the library; NULL: the package has none (before 1.19) */
    char *from; /* "python3 /usr/bin/python3", "conda", "the system" */
};

/** Returns the places (struct orch_onnxruntime *) in the order in which they are tried: the active
 * virtual environment, the python3 of each folder of $PATH, conda's, and the system's libraries.
 * Empty where there is none. Starts each python3 once. The caller unrefs. */
GPtrArray *orch_onnxruntime_find(void);

#endif
