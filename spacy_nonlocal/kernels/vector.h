/* The innermost loops, compiled once for plain x86-64 and once for AVX2; the loader picks what the machine has.

   Only additions and comparisons of single elements: every version gives the same floats, bit for bit. */

#ifndef SPACY_NONLOCAL_VECTOR_H
#define SPACY_NONLOCAL_VECTOR_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
