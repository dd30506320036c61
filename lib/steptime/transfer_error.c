/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/transfer_error.h"

#include "lib/base/interval.h"

#include <math.h>
#include <string.h>

struct error_row {
    enum orch_asked asked;
    int precision; /* -1: of all */
    double offset_sd, student, spread;
    int groups;
    double covered;
};
#include "lib/steptime/left_out_errors.inc"

/* The precision under which the measurements have this one: the same units at the same rate. */
static enum orch_precision measured_as(enum orch_precision precision)
{
    return precision == ORCH_BF16 ? ORCH_FP16 : precision == ORCH_FP32_IEEE ? ORCH_FP32 : precision;
}

/* True for a chip of which the fit has six rows or more. */
static bool has_chip(const struct orch_gpu_spec *gpu)
{
    return gpu->chip && g_strv_contains(CHIPS, gpu->chip);
}

static bool is_of_family(const char *net)
{
    for (int i = 0; net && FAMILIES[i]; i++) {
        size_t length = strlen(FAMILIES[i]);
        if (strncmp(net, FAMILIES[i], length) == 0 && !g_ascii_isalpha(net[length]))
            return true;
    }
    return false;
}

/* The row of this precision, else that of all. */
static const struct error_row *find_row(enum orch_asked asked, enum orch_precision precision)
{
    const struct error_row *any = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(ERRORS); i++) {
        if (ERRORS[i].asked != asked)
            continue;
        if (ERRORS[i].precision == (int)measured_as(precision))
            return &ERRORS[i];
        any = ERRORS[i].precision < 0 ? &ERRORS[i] : any;
    }
    return any;
}

struct orch_transfer_error orch_transfer_error_of(const struct orch_gpu_spec *gpu,
                                                  enum orch_precision precision, const char *net,
                                                  const struct orch_transfer *transfer)
{
    bool has_family = is_of_family(net);
    enum orch_asked asked = has_chip(gpu) ? has_family ? ORCH_ASKED_KNOWN : ORCH_ASKED_NETWORK
                            : transfer && transfer->arch_was_measured ? ORCH_ASKED_CHIP
                                                                      : ORCH_ASKED_ARCH;
    const struct error_row *row = find_row(asked, precision);
    const struct error_row *family = find_row(ORCH_ASKED_NETWORK, precision);
    bool are_both_new = !has_family && asked != ORCH_ASKED_NETWORK;
    return (struct orch_transfer_error){.asked = asked,
                                        .offset_sd = row->offset_sd,
                                        .student = row->student,
                                        .spread = row->spread,
                                        .family =
                                            are_both_new ? family->student * family->offset_sd : 0,
                                        .groups = row->groups,
                                        .covered = row->covered};
}

/* Variance of a mean of runs about the chip's offset. */
static double noise(const struct orch_transfer_error *error, int runs)
{
    double sd = error->spread / ORCH_NORMAL_90;
    return sd * sd / runs;
}

double orch_transfer_error_half(const struct orch_transfer_error *error, int runs)
{
    double sd = error->offset_sd;
    double known = runs > 0 ? sd / sqrt(1 + sd * sd / noise(error, runs)) : sd;
    return hypot(hypot(error->student * known, error->family), error->spread);
}

double orch_transfer_error_widest(void)
{
    double widest = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(ERRORS); i++)
        widest = MAX(widest, hypot(ERRORS[i].student * ERRORS[i].offset_sd, ERRORS[i].spread));
    return widest;
}

double orch_transfer_error_weight(const struct orch_transfer_error *error, int runs)
{
    double variance = error->offset_sd * error->offset_sd;
    return runs > 0 ? variance / (variance + noise(error, runs)) : 0;
}

const char *orch_transfer_error_left_out(enum orch_asked asked)
{
    static const char *const words[] = {[ORCH_ASKED_KNOWN] = "single rows",
                                        [ORCH_ASKED_NETWORK] = "families of networks",
                                        [ORCH_ASKED_CHIP] = "chips",
                                        [ORCH_ASKED_ARCH] = "architectures"};
    return words[asked];
}
