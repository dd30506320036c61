/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from a GPU's specification: peaks by precision, its link, prices, relatives. */
#ifndef ORCH_FEATURES_HARDWARE_GPU_FACTS_H
#define ORCH_FEATURES_HARDWARE_GPU_FACTS_H

#include "lib/devices/hardware.h"

struct orch_gpu_facts {
    const char *unit_name;           /* what one device is: "one GPU of a card", ... */
    double tf32_tflops, bf16_tflops; /* 0: it has no such units */
    double ridge;                    /* FLOP/byte: below it memory is the bound (fp32) */
    const struct orch_link *link;    /* between the GPUs of a node */
    const struct orch_price *price;  /* the default one; NULL: none is known */
    double usd_per_hour;             /* of one GPU, with a price */
    double spot_usd_per_hour;        /* of one GPU of the same instance; 0: not offered */
};
struct orch_gpu_facts orch_gpu_facts_of(const struct orch_hardware *hardware,
                                        const struct orch_gpu_spec *spec);

/** The boards of a die, or the dies of a board, by the beginning of their names: const struct
 * orch_gpu_spec *; the caller unrefs. */
GPtrArray *orch_gpu_relatives(const struct orch_hardware *hardware,
                              const struct orch_gpu_spec *spec);
/** The part of a GPU's name before '-', which its relatives share. The caller frees. */
char *orch_gpu_stem(const struct orch_gpu_spec *spec);

/** An offer of a cloud, for one GPU. */
struct orch_offer {
    const struct orch_price *price;
    double usd_per_hour, spot_usd_per_hour; /* 0: not offered */
    bool has_ended;                         /* no longer rented out */
};
/** The prices of the hardware file, then the offers of clouds, for the GPU of that name (NULL:
 * all): struct orch_offer by value; the caller unrefs. */
GArray *orch_offers_of(const struct orch_hardware *hardware, const char *gpu);

#endif
