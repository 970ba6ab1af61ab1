/* The innermost loops, compiled once for plain x86-64 and once for AVX2; the loader picks what the machine has.

   Additions, products and comparisons of single elements, each rounded on its own (setup.py forbids fused ones), and
   sums in a fixed order: every version gives the same floats, bit for bit. */

#ifndef SPACY_NONLOCAL_VECTOR_H
#define SPACY_NONLOCAL_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define NL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define NL_CLONES
#endif

#if defined(_MSC_VER)
#define NL_RESTRICT __restrict
#define NL_UNUSED
#else
#define NL_RESTRICT __restrict__
#define NL_UNUSED __attribute__((unused))
#endif

/* out[y] = max_p (last[p] + edge[p][y]),  arg[y] = the p that is largest, the lowest among equals */
NL_CLONES NL_UNUSED static void nl_step(
    float *NL_RESTRICT out, int32_t *NL_RESTRICT arg, const float *NL_RESTRICT last,
    const float *NL_RESTRICT edge, ptrdiff_t n_labels, ptrdiff_t width)
{
    ptrdiff_t p, y;
    for (y = 0; y < width; y++) {
        out[y] = -INFINITY;
        arg[y] = 0;
    }
    for (p = 0; p < n_labels; p++) {
        const float before = last[p];
        const float *NL_RESTRICT row = edge + p * width;
        if (before == -INFINITY)
            continue;
        for (y = 0; y < width; y++) {
            const float score = before + row[y];
            const int32_t better = score > out[y];
            arg[y] = better ? (int32_t)p : arg[y];
            out[y] = better ? score : out[y];
        }
    }
}

/* out[y] += Σ_k weights[rows[k]][y], added up from zero first; rows below 0 do not count */
NL_CLONES NL_UNUSED static void nl_add_rows(
    float *NL_RESTRICT out, float *NL_RESTRICT part, const float *NL_RESTRICT weights,
    const int32_t *NL_RESTRICT rows, ptrdiff_t n_rows, ptrdiff_t width)
{
    ptrdiff_t k, y;
    for (y = 0; y < width; y++)
        part[y] = 0;
    for (k = 0; k < n_rows; k++) {
        const float *NL_RESTRICT row = weights + (ptrdiff_t)rows[k] * width;
        if (rows[k] < 0)
            continue;
        for (y = 0; y < width; y++)
            part[y] += row[y];
    }
    for (y = 0; y < width; y++)
        out[y] += part[y];
}

/* e to the power of x <= 0, to about 1e-14; 0 below -700, where the true value would soon be no normal number.

   x = n ln 2 + r with |r| <= ln 2 / 2:  e^x = 2^n e^r, and e^r is its Taylor series. Adding 1.5 * 2^52 rounds to the
   whole number n and leaves it in the lowest bits, from where it is added to the exponent. */
static inline double nl_exp1(double x)
{
    const double round = 6755399441055744.0;
    const double shifted = x * 1.4426950408889634 + round;
    const double n = shifted - round;
    const double r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
    double e = 1.0 / 39916800;
    uint64_t bits, power;
    e = e * r + 1.0 / 3628800;
    e = e * r + 1.0 / 362880;
    e = e * r + 1.0 / 40320;
    e = e * r + 1.0 / 5040;
    e = e * r + 1.0 / 720;
    e = e * r + 1.0 / 120;
    e = e * r + 1.0 / 24;
    e = e * r + 1.0 / 6;
    e = e * r + 0.5;
    e = e * r + 1.0;
    e = e * r + 1.0;
    memcpy(&bits, &e, sizeof bits);
    memcpy(&power, &shifted, sizeof power);
    bits += power << 52;
    memcpy(&e, &bits, sizeof e);
    return x < -700.0 ? 0.0 : e;
}

/* Factors below e^-230 = 1e-100 may vanish: three of them still make a normal number, four do not. */
#define NL_LOW -230.0

/* out[i] = exp(scores[i] - top), where no score is above top; returns 1 if one is allowed, but low, plus 2 if one is
   not allowed */
NL_CLONES NL_UNUSED static int nl_exp(
    double *NL_RESTRICT out, const float *NL_RESTRICT scores, double top, ptrdiff_t n)
{
    ptrdiff_t i;
    int low = 0, not_allowed = 0;
    for (i = 0; i < n; i++) {
        const double x = (double)scores[i] - top;
        low |= (x < NL_LOW) & (scores[i] > -INFINITY);
        not_allowed |= scores[i] == -INFINITY;
        out[i] = nl_exp1(x);
    }
    return low + 2 * not_allowed;
}

/* a[y] /= total, e[y] /= total; returns whether an a is not zero, but low */
NL_CLONES NL_UNUSED static int nl_normalise(
    double *NL_RESTRICT a, double *NL_RESTRICT e, double total, ptrdiff_t width)
{
    ptrdiff_t y;
    int low = 0;
    for (y = 0; y < width; y++) {
        a[y] /= total;
        e[y] /= total;
        low |= (a[y] < 1e-100) & (a[y] > 0);
    }
    return low;
}

/* out[y] = Σ_p from[p] pair[p][y] */
NL_CLONES NL_UNUSED static void nl_onward(
    double *NL_RESTRICT out, const double *NL_RESTRICT from, const double *NL_RESTRICT pair,
    ptrdiff_t n_labels, ptrdiff_t width)
{
    ptrdiff_t p, y;
    for (y = 0; y < width; y++)
        out[y] = 0;
    for (p = 0; p < n_labels; p++) {
        const double share = from[p];
        const double *NL_RESTRICT row = pair + p * width;
        if (share == 0)
            continue;
        for (y = 0; y < width; y++)
            out[y] += share * row[y];
    }
}

/* out[p] = Σ_y pair[p][y] to[y], as four sums side by side */
NL_CLONES NL_UNUSED static void nl_backward(
    double *NL_RESTRICT out, const double *NL_RESTRICT pair, const double *NL_RESTRICT to,
    ptrdiff_t n_labels, ptrdiff_t width)
{
    ptrdiff_t p, y, i;
    for (p = 0; p < n_labels; p++) {
        const double *NL_RESTRICT row = pair + p * width;
        double sum[4] = {0, 0, 0, 0};
        for (y = 0; y + 4 <= width; y += 4)
            for (i = 0; i < 4; i++)
                sum[i] += row[y + i] * to[y + i];
        for (; y < width; y++)
            sum[0] += row[y] * to[y];
        out[p] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

/* out[p][y] += from[p] to[y] */
NL_CLONES NL_UNUSED static void nl_outer(
    double *NL_RESTRICT out, const double *NL_RESTRICT from, const double *NL_RESTRICT to,
    ptrdiff_t n_labels, ptrdiff_t width)
{
    ptrdiff_t p, y;
    for (p = 0; p < n_labels; p++) {
        const double share = from[p];
        double *NL_RESTRICT row = out + p * width;
        if (share == 0)
            continue;
        for (y = 0; y < width; y++)
            row[y] += share * to[y];
    }
}

/* out[i] += x[i] */
NL_CLONES NL_UNUSED static void nl_add(float *NL_RESTRICT out, const float *NL_RESTRICT x, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        out[i] += x[i];
}

/* w[i] += Δ[i] and, if there is a u, u[i] += clock Δ[i], with Δ[i] = step rates[i] change[i] */
NL_CLONES NL_UNUSED static void nl_add_scaled(
    float *NL_RESTRICT w, double *NL_RESTRICT u, const float *NL_RESTRICT change, float step,
    const float *NL_RESTRICT rates, double clock, ptrdiff_t n)
{
    ptrdiff_t i;
    if (rates == NULL) {
        for (i = 0; i < n; i++)
            w[i] += step * change[i];
        if (u != NULL)
            for (i = 0; i < n; i++)
                u[i] += clock * (step * change[i]);
    } else {
        for (i = 0; i < n; i++)
            w[i] += step * rates[i] * change[i];
        if (u != NULL)
            for (i = 0; i < n; i++)
                u[i] += clock * (step * rates[i] * change[i]);
    }
}

#endif
