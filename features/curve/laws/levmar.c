/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Damping scales with the diagonal (Marquardt), so the units of parameters do not matter. A
 * parameter at its bound whose gradient points outward is fixed for that step (Bertsekas 1982), and
 * the step of the others is clipped at the bounds. A change of variables (x = y^2) was rejected:
 * its gradient vanishes at 0, where half of the fits end. GSL's solvers do not support bounds.
 */
#include "features/curve/laws/levmar.h"

#include <float.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define STEPS_MAX 500
#define DAMPING_MAX 1e16
#define N ORCH_LEVMAR_PARAMS_MAX

/* Solves g s = v for symmetric positive definite g by Cholesky; false if it is not. */
static bool cholesky_solve(double g[N][N], double *v, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = g[i][j];
            for (int k = 0; k < j; k++)
                sum -= g[i][k] * g[j][k];
            if (i == j && !(sum > 0))
                return false;
            g[i][j] = i == j ? sqrt(sum) : sum / g[j][j];
        }
        for (int k = 0; k < i; k++)
            v[i] -= g[i][k] * v[k];
        v[i] /= g[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            v[i] -= g[k][i] * v[k];
        v[i] /= g[i][i];
    }
    return true;
}

static double sum_of_squares(const double *v, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += v[i] * v[i];
    return isfinite(sum) ? sum : HUGE_VAL;
}

struct normal {
    double matrix[N][N], gradient[N];
};

static void normal_equations(const struct orch_levmar *p, const double *residuals,
                             const double *derivatives, struct normal *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < p->residuals; i++) {
        const double *row = derivatives + i * (size_t)p->params;
        for (int a = 0; a < p->params; a++) {
            out->gradient[a] += row[a] * residuals[i];
            for (int b = 0; b <= a; b++)
                out->matrix[a][b] += row[a] * row[b];
        }
    }
}

/* Computes a damped step within the bounds; false if no parameter can move. */
static bool damped_step(const struct orch_levmar *p, const struct normal *e, double damping,
                        const double *x, double *out)
{
    int free_params[N], count = 0;
    for (int a = 0; a < p->params; a++) {
        bool is_held = (x[a] <= p->lower[a] && e->gradient[a] > 0) ||
                       (x[a] >= p->upper[a] && e->gradient[a] < 0);
        if (!is_held && e->matrix[a][a] > 0)
            free_params[count++] = a;
    }
    /* scale the diagonal to 1 before factoring */
    double matrix[N][N] = {{0}}, step[N] = {0};
    for (int i = 0; i < count; i++) {
        int a = free_params[i];
        double scale = sqrt(e->matrix[a][a]);
        step[i] = -e->gradient[a] / scale;
        for (int j = 0; j <= i; j++) {
            int b = free_params[j];
            matrix[i][j] = e->matrix[a][b] / (scale * sqrt(e->matrix[b][b]));
        }
        matrix[i][i] = 1 + damping;
    }
    if (count == 0 || !cholesky_solve(matrix, step, count))
        return false;
    bool has_moved = false;
    memcpy(out, x, (size_t)p->params * sizeof *x);
    for (int i = 0; i < count; i++) {
        int a = free_params[i];
        double to = x[a] + step[i] / sqrt(e->matrix[a][a]);
        out[a] = fmin(fmax(to, p->lower[a]), p->upper[a]);
        has_moved = has_moved || out[a] != x[a];
    }
    return has_moved;
}

double orch_levmar_solve(const struct orch_levmar *p, double *x)
{
    size_t n = p->residuals;
    g_autofree double *residuals = g_new(double, n *(size_t)(p->params + 2));
    double *tried = residuals + n, *derivatives = tried + n;
    double start[N], next[N], damping = 1e-3;
    for (int a = 0; a < p->params; a++)
        start[a] = fmin(fmax(x[a], p->lower[a]), p->upper[a]);
    p->model(p->context, start, residuals, derivatives);
    double best = sum_of_squares(residuals, n);
    if (best == HUGE_VAL)
        return best;
    memcpy(x, start, (size_t)p->params * sizeof *x);
    for (int step = 0; step < STEPS_MAX && best > 0; step++) {
        struct normal equations;
        normal_equations(p, residuals, derivatives, &equations);
        double found = HUGE_VAL;
        for (; damping <= DAMPING_MAX; damping *= 8) {
            if (!damped_step(p, &equations, damping, x, next))
                continue;
            p->model(p->context, next, tried, NULL);
            found = sum_of_squares(tried, n);
            if (found < best)
                break;
        }
        if (!(found < best))
            break;
        best = found;
        memcpy(x, next, (size_t)p->params * sizeof *x);
        p->model(p->context, x, residuals, derivatives);
        damping = fmax(damping / 16, 1e-15);
    }
    return best;
}
