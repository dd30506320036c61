/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far off an answer of the analytical model (lib/steptime/transfer.h) may be, by the shape of
 * the question: what of it was among the measurements of the fit. Derived by bench/distil.py from
 * what it leaves out. */
#ifndef ORCH_STEPTIME_TRANSFER_ERROR_H
#define ORCH_STEPTIME_TRANSFER_ERROR_H

#include "lib/steptime/transfer.h"

enum orch_asked {
    ORCH_ASKED_KNOWN,   /* the chip and the network's family were measured */
    ORCH_ASKED_NETWORK, /* no network of this family was */
    ORCH_ASKED_CHIP,    /* the chip was not, its architecture was */
    ORCH_ASKED_ARCH,    /* no chip of this architecture was */
};

struct orch_transfer_error {
    enum orch_asked asked;
    double offset_sd, student, spread; /* logarithms: of a group's offset, about the offset */
    double family;  /* of the offset of a family of networks that was not measured, beside that of a
                       chip; 0: none */
    int groups;     /* that it is derived from */
    double covered; /* share inside, mean over chips or families of which each was left out */
};

/** The error of a question. `transfer`: the model for this GPU and precision; NULL: none covers it.
 * `net` may be NULL: of no family. */
struct orch_transfer_error orch_transfer_error_of(const struct orch_gpu_spec *gpu,
                                                  enum orch_precision precision, const char *net,
                                                  const struct orch_transfer *transfer);
/** 90 % of the logarithms of the error lie within +- this, after `runs` configurations were
 * measured on the chip. */
double orch_transfer_error_half(const struct orch_transfer_error *error, int runs);
/** The widest half of all shapes: for networks unlike any of the fit. */
double orch_transfer_error_widest(void);
/** How much of the mean deviation of these configurations is the chip's, in [0, 1). */
double orch_transfer_error_weight(const struct orch_transfer_error *error, int runs);
/** "chips that were left out of the fit". */
const char *orch_transfer_error_left_out(enum orch_asked asked);

#endif
