/* time_kernels.c - measures functions: of the library, by vectors; and of C's library. */
#include "core/clock.h"
#include "kernels/cpu/calibrate/meter.h"
#include "kernels/cpu/simd/simd.h"
#include <math.h>

/* Returns the nanoseconds of one call of a kernel for n elements: the least of five measurements,
 * each of 65536 elements in all. */
static double ns_of_kernel(rd_simd_map *kernel, int64_t n, void *y, const void *x)
{
    enum { COUNTS = 5, ELEMENTS = 1 << 16 };
    const int64_t times    = ELEMENTS / n;
    double        least    = INFINITY;
    uint32_t      warnings = 0;

    for (int k = 0; k < COUNTS; k++) {
        const double begun = rd_seconds();

        for (int64_t t = 0; t < times; t++)
            kernel(n, y, x, x, x, &warnings);
        least = fmin(least, (rd_seconds() - begun) / (double)times);
    }
    return 1e9 * least;
}

/* Measures the vector kernels of elementary functions: nanoseconds of an element. Kernel [0] is the
 * one without scalar operands; the RD_METER_ROW elements are from 0.5 to 1.5. */
static void measure_functions(rd_meter *m, const rd_simd *simd)
{
    static const struct {
        int     row;
        rd_op   op;
        rd_elem elem;
    } functions[] = {
        { RD_SPEED_exp_f32, RD_OP_exp, RD_ELEM_f32 },
        { RD_SPEED_exp_f64, RD_OP_exp, RD_ELEM_f64 },
        { RD_SPEED_log_f32, RD_OP_log, RD_ELEM_f32 },
        { RD_SPEED_log_f64, RD_OP_log, RD_ELEM_f64 },
        { RD_SPEED_sin_f32, RD_OP_sin, RD_ELEM_f32 },
        { RD_SPEED_sin_f64, RD_OP_sin, RD_ELEM_f64 },
        { RD_SPEED_pow_f32, RD_OP_pow, RD_ELEM_f32 },
        { RD_SPEED_pow_f64, RD_OP_pow, RD_ELEM_f64 },
        { RD_SPEED_erf_f32, RD_OP_erf, RD_ELEM_f32 },
        { RD_SPEED_erf_f64, RD_OP_erf, RD_ELEM_f64 },
        { RD_SPEED_tanh_f32, RD_OP_tanh, RD_ELEM_f32 },
        { RD_SPEED_tanh_f64, RD_OP_tanh, RD_ELEM_f64 },
    };

    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        rd_simd_map *const kernel = simd->map[functions[k].elem][functions[k].op][0];

        for (int i = 0; i < RD_METER_ROW; i++)
            if (functions[k].elem == RD_ELEM_f32)
                ((float *)m->x)[i] = (float)(0.5 + (double)i / RD_METER_ROW);
            else
                m->x[i] = 0.5 + (double)i / RD_METER_ROW;
        if (kernel)
            rd_meter_set(m, functions[k].row,
                         ns_of_kernel(kernel, RD_METER_ROW, m->y, m->x) / RD_METER_ROW);
    }
}

/* Measures the call of a kernel (on one element), its time for an element of many, and two
 * functions of the C library. The operands are volatile, so that a compiler makes each call. */
static void measure_calls(rd_meter *m, const rd_simd *simd)
{
    rd_simd_map *const add = simd->map[RD_ELEM_f64][RD_OP_add][0];
    volatile double    x = 0.5, y = 0;
    double             exp_ns = INFINITY, fmod_ns = INFINITY;
    enum { TIMES = 20000 };

    rd_meter_set(m, RD_SPEED_tile_call, ns_of_kernel(add, /*n=*/1, m->y, m->x));
    rd_meter_set(m, RD_SPEED_tile_element,
                 ns_of_kernel(add, RD_METER_ROW, m->y, m->x) / RD_METER_ROW);
    for (int k = 0; k < 5; k++) {
        double begun = rd_seconds();

        for (int i = 0; i < TIMES; i++)
            y = exp(x);
        exp_ns = fmin(exp_ns, 1e9 * (rd_seconds() - begun) / TIMES);
        begun  = rd_seconds();
        for (int i = 0; i < TIMES; i++)
            y = fmod(y, x);
        fmod_ns = fmin(fmod_ns, 1e9 * (rd_seconds() - begun) / TIMES);
    }
    rd_meter_set(m, RD_SPEED_one_exp, exp_ns);
    rd_meter_set(m, RD_SPEED_call, fmod_ns);
}

/* Measures the vector kernels of the instruction set with vectors of m->s->vector bytes. */
void rd_meter_kernels(rd_meter *m)
{
    static const char *const names[] = { "baseline", "avx2", "avx512" };
    const rd_simd *const     simd    = rd_simd_named(names[m->s->vector >= 64   ? 2
                                                           : m->s->vector >= 32 ? 1
                                                                                : 0]);

    measure_functions(m, simd ? simd : rd_simd_here());
    measure_calls(m, simd ? simd : rd_simd_here());
}
