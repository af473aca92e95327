/* calls.c - instructions that may fail: index checks of gathers, and calls of users' functions.
 *
 * Words.  A fault is the first element, row by row, at which an instruction is known to fail.
 * Instructions run on the whole tile in turn, but the error to report is that of the first element
 * in the order of the reference executor. */
#include "kernels/cpu/reference/user_call.h"
#include "kernels/cpu/tile/run/tile_task.h"
#include <inttypes.h>
#include <stdio.h>

/* ---- Faults ---------------------------------------------------------------------------------- */
/* Notes that element (r, c) fails.  The reference runs all instructions of an element before the
 * next element, so a later instruction may fail for an earlier element, which is then the one to
 * report.  The tile is cut down to the rows that may do so; if none may, the task fails now. (At
 * row level a column is a row of the tile.) */
static void fail(rd_tiles *m, int64_t r, int64_t c, rd_status status)
{
    const bool tile = m->level == RD_AT_TILE;

    m->fault = (rd_fault){ .row = tile ? r : c, .col = tile ? c : 0, .status = status };
    if (tile)
        m->rows = r + 1;
    else
        m->cols = c;
    if (r == 0 && c == 0)
        m->task->status = status;
}

/* True if a failure of element (r, c) would come before the known one.  At row level the tile has
 * been cut down to the elements before it, so each may. */
static bool may_be_first(const rd_tiles *m, int64_t r, int64_t c)
{
    return m->level != RD_AT_TILE || r < m->fault.row || (r == m->fault.row && c < m->fault.col);
}

/* ---- Indices --------------------------------------------------------------------------------- */
/* Checks a gathered index, and makes it count from the beginning of its axis if it is negative;
 * inst->value is the extent. False, with a message in the task, if the index is out of range.
 * Unsigned indices cannot be negative; class u64 has all of them. */
static bool check_index(rd_tiles *m, const rd_inst *inst, rd_word given, rd_word *index)
{
    const int64_t extent = inst->value.i64;

    *index = given;
    if (rd_dtype_class(inst->from) == RD_CLASS_u64) {
        if (given.u64 < (uint64_t)extent)
            return true;
        snprintf(m->task->sentence, sizeof m->task->sentence,
                 "rd_take: index %" PRIu64 " is outside an axis of extent %" PRId64, given.u64,
                 extent);
    } else {
        if (given.i64 >= -extent && given.i64 < extent) {
            index->i64 += given.i64 < 0 ? extent : 0;
            return true;
        }
        snprintf(m->task->sentence, sizeof m->task->sentence,
                 "rd_take: index %" PRId64 " is outside an axis of extent %" PRId64, given.i64,
                 extent);
    }
    return false;
}

/* Checks n indices, each `step` after the last, and adds extent_if_negative to negative ones.  True
 * if all are in range.  Such a loop without branches is vectorised. */
static inline __attribute__((always_inline)) bool check_run(int64_t n, int64_t *restrict index,
                                                            const int64_t *restrict given,
                                                            int64_t  step,
                                                            int64_t  extent_if_negative,
                                                            uint64_t extent)
{
    uint64_t outside = 0;

    for (int64_t c = 0; c < n; c++) {
        const int64_t i = given[c * step], at = i + (i < 0 ? extent_if_negative : 0);

        index[c] = at;
        outside |= (uint64_t)at >= extent;
    }
    return !outside;
}

/* Checks row r of indices by a vector loop (a step that is known to be 1 makes a faster one).
 * inst->value is the extent; signed indices may count from the end. False if some may be out of
 * range, or the row must go element by element: after a failure, of bools, or in place, where given
 * indices would be lost. */
static bool check_row(const rd_tiles *m, const rd_inst *inst, const rd_reg_view *x,
                      const rd_reg_view *y, int64_t r)
{
    const int64_t  extent   = inst->value.i64;
    const bool     from_end = rd_dtype_class(inst->from) != RD_CLASS_u64;
    const int64_t *given    = (const int64_t *)(const void *)rd_view_at(x, r, 0);
    int64_t       *index    = (int64_t *)(void *)rd_view_at(y, r, 0);

    if (r >= m->fault.row || x->elem == RD_ELEM_b8 || x->at == y->at)
        return false;
    return x->col == 1
               ? check_run(m->cols, index, given, /*step=*/1, from_end ? extent : 0,
                           (uint64_t)extent)
               : check_run(m->cols, index, given, x->col, from_end ? extent : 0, (uint64_t)extent);
}

/* INDEX: checks the indices of a gather.  Rows go by a vector loop where that can tell that all is
 * well.  A faulty index becomes 0, as later LOADs still read something.  An axis of extent 0 fails
 * at the first element. */
void rd_tiles_index(rd_tiles *m, int32_t pc)
{
    const rd_inst    *inst = &m->p->inst[pc];
    const rd_reg_view x = rd_tiles_view(m, inst->a), y = rd_tiles_target(m, pc, inst->dst);

    for (int64_t r = 0; r < m->rows; r++) {
        if (y.col == 1 && check_row(m, inst, &x, &y, r))
            continue;
        for (int64_t c = 0; c < m->cols; c++) {
            rd_word index = { 0 };

            if (may_be_first(m, r, c) && !check_index(m, inst, rd_view_word(&x, r, c), &index)) {
                fail(m, r, c, RD_ERR_AXIS);
                index.i64 = 0;
            }
            rd_view_set(&y, r, c, index);
        }
    }
}

/* ---- Callbacks ------------------------------------------------------------------------------- */
/* The operands of a call of the user's function. */
typedef struct arguments {
    int32_t     n;
    rd_reg_view in[RD_MAX_CALL];
} arguments;

/* True if the arguments of a call are all contiguous along the row, so that functions of arrays can
 * take them. */
static bool is_dense(const arguments *a)
{
    for (int32_t k = 0; k < a->n; k++)
        if (a->in[k].col != 1)
            return false;
    return true;
}

/* Calls a user's function of one or two numbers for each element of row r.  False if the function
 * takes arrays.  The strides dx and dz are 0 for scalars of the row. */
static bool call_numbers(const rd_tiles *m, const rd_call *call, const arguments *a,
                         const rd_reg_view *y, int64_t r)
{
    const int64_t n = m->cols, dx = a->in[0].col, dz = a->n > 1 ? a->in[1].col : 0;
    const char   *x = rd_view_at(&a->in[0], r, 0), *z = a->n > 1 ? rd_view_at(&a->in[1], r, 0) : x;
    char         *to = rd_view_at(y, r, 0);

    for (int64_t c = 0; call->f32_1 && c < n; c++)
        ((float *)to)[c] = call->f32_1(((const float *)x)[c * dx]);
    for (int64_t c = 0; call->f64_1 && c < n; c++)
        ((double *)to)[c] = call->f64_1(((const double *)x)[c * dx]);
    for (int64_t c = 0; call->f32_2 && c < n; c++)
        ((float *)to)[c] = call->f32_2(((const float *)x)[c * dx], ((const float *)z)[c * dz]);
    for (int64_t c = 0; call->f64_2 && c < n; c++)
        ((double *)to)[c] = call->f64_2(((const double *)x)[c * dx], ((const double *)z)[c * dz]);
    return call->f32_1 || call->f64_1 || call->f32_2 || call->f64_2;
}

/* True if registers hold a type as memory does, so that nothing need be converted. */
static bool is_register(rd_dtype type)
{
    return type == RD_BOOL || (rd_dtype_size(type) == rd_elem_size(rd_elem_of(type)) &&
                               !rd_dtype_is_narrow_float(type));
}

/* Calls a user's function of n elements on row r, in the types that it takes: the whole row, or
 * pieces of 256 elements where these are converted. False if it failed. store() converts from
 * registers to the type that the function takes, load() its results back. A function returns NULL
 * if it has not failed, else its message, which call_elements() finds again. */
static bool call_block(const rd_tiles *m, const rd_inst *inst, const arguments *a,
                       const rd_reg_view *y, int64_t r)
{
    enum { SOME = 256 };
    const rd_call    *call        = &m->p->call[inst->arg];
    const bool        as_they_are = is_register(call->in_type) && is_register(inst->type);
    const int64_t     most        = as_they_are ? m->cols : SOME;
    _Alignas(64) char in[RD_MAX_CALL][8 * SOME], out[8 * SOME];
    const void       *at[RD_MAX_CALL];

    for (int64_t c = 0, n; c < m->cols; c += n) {
        n = m->cols - c < most ? m->cols - c : most;
        for (int32_t k = 0; k < a->n; k++) {
            at[k] = rd_view_at(&a->in[k], r, c);
            if (!as_they_are) {
                m->code->simd->store[call->in_type](n, in[k], /*stride=*/1, at[k]);
                at[k] = in[k];
            }
        }
        if (call->block(call->user, n, at, as_they_are ? rd_view_at(y, r, c) : out))
            return false;
        if (!as_they_are)
            m->code->simd->load[inst->type](n, rd_view_at(y, r, c), out, /*stride=*/1);
    }
    return true;
}

/* Calls a user's function on row r of a tile: it takes an array of floats per argument, and fills
 * y. */
static void call_floats(const rd_tiles *m, const rd_call *call, const arguments *a,
                        const rd_reg_view *y, int64_t r)
{
    const void *at[RD_MAX_CALL];

    for (int32_t k = 0; k < a->n; k++)
        at[k] = rd_view_at(&a->in[k], r, 0);
    if (y->elem == RD_ELEM_f32)
        call->f32(m->cols, (const float *const *)at, (float *)(void *)rd_view_at(y, r, 0));
    else
        call->f64(m->cols, (const double *const *)at, (double *)(void *)rd_view_at(y, r, 0));
}

/* Calls the user's function on row r at once.  False if elements must go one by one: operands or
 * the result are not contiguous along the row, or the row is one in which a failure must be found
 * (from m->fault.row on, or a function that fails). */
static bool call_row(const rd_tiles *m, const rd_inst *inst, const arguments *a,
                     const rd_reg_view *y, int64_t r)
{
    const rd_call *call = &m->p->call[inst->arg];

    if (y->col != 1 || r >= m->fault.row)
        return false;
    if (call->block)
        return is_dense(a) && call_block(m, inst, a, y, r);
    if (call_numbers(m, call, a, y, r))
        return true;
    if (is_dense(a))
        call_floats(m, call, a, y, r);
    return is_dense(a);
}

/* Calls the user's function on one element of row r at a time, and reports the first that fails. */
static void call_elements(rd_tiles *m, const rd_inst *inst, const arguments *a,
                          const rd_reg_view *y, int64_t r)
{
    const rd_call *call = &m->p->call[inst->arg];

    for (int64_t c = 0; c < m->cols && may_be_first(m, r, c); c++) {
        rd_word     words[RD_MAX_CALL], result = { 0 };
        const char *sentence;

        for (int32_t k = 0; k < a->n; k++)
            words[k] = rd_view_word(&a->in[k], r, c);
        sentence = rd_call_run(call, words, inst->type, &result);
        rd_view_set(y, r, c, result);
        if (sentence) {
            snprintf(m->task->sentence, sizeof m->task->sentence, "%s: %s", call->name, sentence);
            fail(m, r, c, RD_ERR_CALLBACK);
        }
    }
}

/* CALL: calls a user's function on a tile: row by row where the elements of all arguments lie as it
 * takes them, else element by element. */
void rd_tiles_call(rd_tiles *m, int32_t pc)
{
    const rd_inst    *inst = &m->p->inst[pc];
    const rd_call    *call = &m->p->call[inst->arg];
    const rd_reg_view y    = rd_tiles_target(m, pc, inst->dst);
    arguments         a    = { .n = call->n_in };

    for (int32_t k = 0; k < a.n; k++)
        a.in[k] = rd_tiles_view(m, call->in[k]);
    for (int64_t r = 0; r < m->rows; r++)
        if (!call_row(m, inst, &a, &y, r))
            call_elements(m, inst, &a, &y, r);
}
