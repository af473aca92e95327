/* widen_bytes.c - The pass widen_bytes widens bytes to ints in a loop of their own, if the strip
 * is shorter than a vector of bytes.
 *
 *     vector i0 {                    vector i0, by call { r9 = load u8 s0[i0]; a1[..] = r9 }
 *       r0 = load u8 s0[i0] .. }     vector i0 { r0 = load a1[..] .. }
 *
 * gcc 12 makes no vectors of a loop with so few bytes: a masked sum of f64, 32 lanes, AVX-512,
 * takes 33 ms, and 4 ms if the bytes are ints. Bytes that become nothing but int32 are an
 * exception: a count of bytes that pass a test takes 0.7 ms, and 4.2 ms if they are ints first.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/pass.h"
#include "kernels/pass/strip_arrays.h"

/* True if all steps of the strip (a range that vector loops visit) are sums in a narrow int type
 * (is_short), and there is one. Its bytes become ints of these sums alone. */
static bool has_only_short_sums(const rd_schedule *t, int32_t strip)
{
    bool has_step = false;

    for (int32_t s = strip; s >= 0; s = rd_next_stmt(t, s, strip)) {
        if (t->stmt[s].kind != RD_S_STEP && t->stmt[s].kind != RD_S_PREFIX)
            continue;
        if (!t->fold[t->stmt[s].fold].emit.is_short)
            return false;
        has_step = true;
    }
    return has_step;
}

/* True if the statement loads adjacent ints or bools of one byte from the program's memory
 * (slot >= 0), at an address without values (axis < 0).  Floats of one byte have a conversion. */
static bool is_byte(const rd_schedule *t, const rd_stmt *s, int32_t axis)
{
    const rd_tree_value *let = s->kind == RD_S_LET ? &t->let[s->value] : NULL;

    if (!let || let->kind != RD_I_LOAD || let->slot < 0 || rd_dtype_size(let->type) != 1 ||
        rd_dtype_kind(let->type) == RD_KIND_FLOAT)
        return false;
    for (int32_t k = 0; k < let->at.n; k++)
        if (t->term[let->at.first + k].axis < 0)
            return false;
    return rd_linear_coef(t, &let->at, axis) == 1;
}

/* True if a statement before the load in its body is no value: it may store to the load's memory,
 * and the load must not move before it. */
static bool is_stored_before(const rd_schedule *t, int32_t load)
{
    for (int32_t s = t->stmt[load].prev; s >= 0; s = t->stmt[s].prev)
        if (t->stmt[s].kind != RD_S_LET)
            return true;
    return false;
}

/* Returns the number of elements of the strip (a range that vector loops visit) in the generated
 * C: the padded one, if it is padded (rounds behind the last element have no effect). */
static int32_t width_of(const rd_for *strip)
{
    return strip->padded ? strip->padded : strip->width;
}

/* True if the number of the strip's elements is known (> 0), and less than a vector has bytes. */
static bool is_short(const rd_for *strip, int vector)
{
    return width_of(strip) > 0 && width_of(strip) < vector;
}

/* True if the loop maps bytes to bytes, four or more, which has vectors all the same.  In the tail
 * of 62 bytes of an image without border, ints took three times as long as the 31 strips before. */
static bool has_only_bytes(const rd_schedule *t, int32_t loop, int32_t width)
{
    enum { LEAST = 4 };

    for (int32_t s = t->stmt[loop].first; s >= 0; s = t->stmt[s].next) {
        const bool let = t->stmt[s].kind == RD_S_LET;

        if ((!let && t->stmt[s].kind != RD_S_STORE) ||
            rd_dtype_size(let ? t->let[t->stmt[s].value].type : t->stmt[s].type) != 1)
            return false;
    }
    return width >= LEAST;
}

/* Widens the loads of bytes that stand directly in the loop, by a packing loop before it that
 * makes them ints. Loads in rounds that were unrolled there, as by `unroll_jam`, stay loads of
 * bytes, and so do all in a loop of bytes alone. */
static void widen_in(rd_schedule *t, int32_t loop, int32_t width)
{
    const bool has_bytes_only = has_only_bytes(t, loop, width);

    for (int32_t s = t->stmt[loop].first; s >= 0 && !t->failed && !has_bytes_only;
         s         = t->stmt[s].next)
        if (is_byte(t, &t->stmt[s], rd_loop_of(t, loop)->axis) && !is_stored_before(t, s))
            rd_pack_value(t, loop, t->stmt[s].value, RD_I32, /*by_call=*/true);
}

/* The pass: in short strips (ranges that vector loops visit), loads of bytes are widened to ints
 * by a loop of their own, since gcc makes no vectors of them otherwise.  `strip` is the innermost
 * loop over such strips, or -1. Loops that are calls, or that the pass has added (from n on), stay
 * as they are. */
void rd_pass_widen_bytes(rd_schedule *t, const rd_target *target)
{
    int32_t strip = -1; /* the innermost one whose length is known */

    for (int k = 0; k < RD_N_PARTS; k++)
        for (int32_t s = t->part[k], n = t->n_stmt; s >= 0 && !t->failed;
             s = rd_next_stmt(t, s, t->part[k])) {
            const rd_for *loop = t->stmt[s].kind == RD_S_LOOP && s < n ? rd_loop_of(t, s) : NULL;

            if (loop && loop->strips_number >= 0 && !loop->substrip)
                strip = is_short(loop, target->vector) && !has_only_short_sums(t, s) ? s : -1;
            if (loop && loop->kind == RD_FOR_VECTOR && !loop->by_call && strip >= 0)
                widen_in(t, s, width_of(rd_loop_of(t, strip)));
        }
}
