/* Frames, envelopes and mixtures of sound. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "products.h"

void spectral_centroid(const float *m, const float *f, long frames, long bins, float *centroid,
                       float *width)
{
#pragma omp parallel for
    for (long i = 0; i < frames; i++) {
        const float *row   = m + i * bins;
        float        total = 0, first = 0, second = 0;
#pragma omp simd reduction(+ : total, first)
        for (long k = 0; k < bins; k++)
            total += row[k], first += row[k] * f[k];
        const float mean = first / total;
#pragma omp simd reduction(+ : second)
        for (long k = 0; k < bins; k++)
            second += row[k] * (f[k] - mean) * (f[k] - mean);
        centroid[i] = mean, width[i] = sqrtf(second / total);
    }
}

enum { HOP = 512, HOPS = 4 };

/* Frames share three of their four parts, so each sample is squared once. */
void rms_envelope(const float *x, long frames, float *out)
{
    float *part = floats(frames + HOPS);

#pragma omp parallel for
    for (long i = 0; i < frames + HOPS - 1; i++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (long k = 0; k < HOP; k++)
            sum += x[i * HOP + k] * x[i * HOP + k];
        part[i] = sum;
    }
    for (long i = 0; i < frames; i++) {
        const float sum = part[i] + part[i + 1] + part[i + 2] + part[i + 3];
        out[i]          = 20 * log10f(sqrtf(sum / (HOP * HOPS)) + 1e-6F);
    }
    free(part);
}

/* A crossing is where the signs of neighbours differ, which 16 bits can count in a frame. */
void zero_crossings(const int16_t *x, long frames, long n, double *out)
{
#pragma omp parallel for
    for (long i = 0; i < frames; i++) {
        uint16_t count = 0;
        for (long k = 0; k < n - 1; k++)
            count = (uint16_t)(count + ((uint16_t)(x[i * n + k] ^ x[i * n + k + 1]) >> 15));
        out[i] = (double)count / (double)(n - 1);
    }
}

enum { GATE = 441, BLOCK = 4096 };

/* Maxima of 256 neighbours by doubling; two of them make those of 441. */
void noise_gate(const float *x, long n, float *out)
{
    const long n_out = n - GATE + 1;

#pragma omp parallel for
    for (long at = 0; at < n_out; at += BLOCK) {
        const long length = n_out - at < BLOCK ? n_out - at : BLOCK;
        float      level[BLOCK + GATE];
        for (long k = 0; k < length + GATE - 1; k++)
            level[k] = fabsf(x[at + k]);
        for (long step = 1, left = length + GATE - 2; step < 256; step *= 2, left -= step)
#pragma GCC ivdep
            for (long k = 0; k < left; k++)
                level[k] = level[k] > level[k + step] ? level[k] : level[k + step];
        for (long k = 0; k < length; k++) {
            const float most = level[k] > level[k + GATE - 256] ? level[k] : level[k + GATE - 256];
            out[at + k]      = most > 1.5F ? x[at + k + GATE - 1] : 0;
        }
    }
}

enum { FRAME = 1024, WINDOW = 512, LAGS = 256, AT_ONCE = 8 };

/* 128 lags at a time: a sample is compared with eight vectors of later ones. */
void yin(const float *x, long frames, float *out)
{
#pragma omp parallel for
    for (long i = 0; i < frames; i++) {
        const float *frame = x + i * FRAME;
        float        d[LAGS], sum = 0;
        for (long lag = 0; lag < LAGS; lag += AT_ONCE * LANES) {
            v16 part[AT_ONCE];
#pragma GCC unroll 8
            for (int k = 0; k < AT_ONCE; k++)
                part[k] = splat(0);
            for (long j = 0; j < WINDOW; j++)
#pragma GCC unroll 8
                for (int k = 0; k < AT_ONCE; k++) {
                    const v16 t = load(frame + j + lag + k * LANES) - frame[j];
                    part[k] += t * t;
                }
            for (int k = 0; k < AT_ONCE; k++)
                store(d + lag + k * LANES, part[k]);
        }
        for (long lag = 1; lag < LAGS; lag++) {
            sum += d[lag];
            out[i * (LAGS - 1) + lag - 1] = d[lag] * (float)lag / sum;
        }
    }
}

enum { STEMS = 16, PART = 1024 };

void mix(const int16_t *stems, const float *gains, long n, int16_t *out)
{
#pragma omp parallel for
    for (long at = 0; at < n; at += PART) {
        const long length     = n - at < PART ? n - at : PART;
        float      left[PART] = { 0 }, right[PART] = { 0 };
        for (long s = 0; s < STEMS; s++)
            for (long k = 0; k < length; k++) {
                const float x = stems[s * n + at + k];
                left[k] += gains[2 * s] * x, right[k] += gains[2 * s + 1] * x;
            }
        for (long k = 0; k < length; k++) {
            out[at + k]     = (int16_t)(tanhf(left[k] * (1 / 32768.0F)) * 32767);
            out[n + at + k] = (int16_t)(tanhf(right[k] * (1 / 32768.0F)) * 32767);
        }
    }
}
