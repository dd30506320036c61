/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exp(x) = 2^n exp(r) with n the integer nearest to x / ln 2, and exp(r) by the polynomial of
 * Cephes' expf (Moshier), whose relative error is below 2e-7 for |r| <= ln 2 / 2. */
#include "plugins/common/boxes/softmax.h"

#include <stdint.h>
#include <string.h>

#define LEAST (-87.0F)
/* Added to a number between -2^22 and 2^22 it leaves the nearest integer in the low bits. */
#define ROUNDER 12582912.0F

static inline float exp_of(float x)
{
    x = x < LEAST ? LEAST : x;
    const float shifted = x * 1.44269504F + ROUNDER;
    const float n = shifted - ROUNDER;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    int32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000; /* 2^n */
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* Four at a time: each maximum and each sum would else wait for the one before. */
struct orch_softmax orch_softmax_row(const float *in, int classes, float *out)
{
    float most[4] = {in[0], in[0], in[0], in[0]}, sum[4] = {0};
    int c = 0;
    for (; c + 4 <= classes; c += 4)
        for (int i = 0; i < 4; i++)
            most[i] = in[c + i] > most[i] ? in[c + i] : most[i];
    for (; c < classes; c++)
        most[0] = in[c] > most[0] ? in[c] : most[0];
    for (int i = 1; i < 4; i++)
        most[0] = most[i] > most[0] ? most[i] : most[0];
    for (c = 0; c < classes; c++)
        out[c] = exp_of(in[c] - most[0]);
    for (c = 0; c + 4 <= classes; c += 4)
        for (int i = 0; i < 4; i++)
            sum[i] += out[c + i];
    for (; c < classes; c++)
        sum[0] += out[c];
    return (struct orch_softmax){most[0], (sum[0] + sum[1]) + (sum[2] + sum[3])};
}
