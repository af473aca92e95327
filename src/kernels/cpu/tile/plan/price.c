/* price.c - the predicted time of the tile machine: each kernel passes over the elements of a
 * tile.
 *
 * Words.  near is the time of one element that lies next to the one before it.  s holds the
 * measured speeds of this machine, in nanoseconds for one operation of each kind (speeds.h).  The
 * time of an instruction is its elements times the time of one, and the calls of its kernel times
 * the time of a call.
 *
 * Fields. A STEP reads an element (a), weights (b), a mask (c) and a group's label (d), -1: none.
 * Strides .row and .col say how far a position moves from row to row and from column to column. An
 * instruction is skipped (`skip`) if another one's kernel does its work. A LOAD is `direct` if its
 * register is the memory itself. */
#include "kernels/cpu/sort/row_sort.h"
#include "kernels/cpu/tile/plan/tile_plan.h"
#include "kernels/emit/emit.h"
#include "kernels/loop/price.h"
#include <math.h>

/* Returns the predicted nanoseconds of one elementary function, such as an exponential: by vectors,
 * or by a call of the C library where there are no vector kernels. s->call is the time of a call
 * with the cost 8 (fmod). */
static double function_ns(const rd_inst *inst, const rd_speeds *s)
{
    return rd_op_table[inst->op].by == RD_BY_LIBM ? s->call * (double)rd_op_table[inst->op].cost / 8
                                                  : rd_function_ns(s, inst->op, inst->type);
}

/* Returns the predicted nanoseconds to load or store one element; `near` if it is adjacent to the
 * last one.  Others are transposed in squares or accessed one by one.  Stores of the latter kind
 * also wait for their cache lines from the second-level cache.  s->one_memory is the time of an
 * access at an odd place, s->l2 the bytes of the second level in a nanosecond.  A LOAD that
 * `by_pieces` reads stretches as they lie, so it does not count as a gather. */
static double access_ns(const rd_inst *inst, const rd_tile_inst *t, const rd_speeds *s, double near)
{
    enum { LINE = 64 };
    const bool gathers = t->strides.gathers && !t->by_pieces; /* done piece by piece of an axis */
    /* distance of neighbours in elements */
    const int64_t by    = t->strides.col < 0 ? -t->strides.col : t->strides.col;
    const double  bytes = gathers ? LINE : (double)by * rd_dtype_size(inst->type);

    if (!gathers && by <= 1)
        return near;
    if (t->transposes)
        return s->one_memory + near;
    return 3 * s->one_memory + near +
           (inst->kind == RD_I_STORE ? 2 * fmin(bytes, LINE) / s->l2 : 0);
}

/* Returns the predicted nanoseconds in which a STEP or SCAN takes one element.  Kernels that take
 * neighbours together cost `near` times the operations of the reducer.  Masked elements (inst->c is
 * the mask) and folds without a lane mapping go one by one, each waiting for the addition before it
 * (chain_add).  one_memory is the time of an access at an odd place, for a group's state. */
static double step_ns(const rd_inst *inst, const rd_tile_code *code, int32_t i, const rd_speeds *s,
                      double near)
{
    const rd_tile_fold *f    = &code->fold[inst->arg];
    const double        cost = rd_fold_cost(f->fold) > 1 ? rd_fold_cost(f->fold) : 1;

    if (f->running && inst->c < 0) /* each element waits for the one before, or neighbours do not */
        return f->mapping == RD_FOLD_COLUMNS ? 2 * near * cost : s->chain_add * cost;
    if (inst->c >= 0)
        return 1.5 * s->chain_add * cost;
    if (inst->kind == RD_I_SCAN) /* along memory by a tree of prefixes */
        return f->mapping == RD_FOLD_COLUMNS ? 2 * near : 0.4 * s->chain_add;
    if (f->mapping == RD_FOLD_ELEMENTS)
        return (code->inst[i].group ? 2 * s->one_memory : 0) + s->chain_add * cost;
    return near * cost;
}

/* Returns the bytes of one element that the kernel of instruction i passes over: those of a
 * register, or of memory where a sum reads small ints there (`small` is the LOAD that it
 * replaces). */
static int32_t bytes_of(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const int32_t small = code->inst[i].small_ints_load;

    return small < 0 ? rd_register_size(p->inst[i].type)
                     : rd_dtype_size(p->address[p->inst[small].arg].type);
}

/* Returns the predicted nanoseconds in which a fold with an exponential in its step (logsumexp)
 * takes one element.  If elements go one by one, each waits for the state before it, and for a
 * branch: the greatest element so far changes or does not.  s->one_exp is a call of exp, s->miss a
 * branch that was not foreseen. */
static double exponential_ns(const rd_inst *inst, const rd_tile_code *code, const rd_speeds *s,
                             double near)
{
    return code->fold[inst->arg].mapping == RD_FOLD_ELEMENTS
               ? s->one_exp + s->miss + s->chain_add
               : near + rd_function_ns(s, RD_OP_exp, inst->type);
}

/* Returns the predicted nanoseconds of one element of instruction i, by measured speeds s.  `near`
 * is the time of an element that lies next to the one before it; s->tile_element is that of 8 bytes
 * in the first-level cache. */
double rd_tile_element_ns(const rd_program *p, const rd_tile_code *code, int32_t i,
                          const rd_speeds *s)
{
    static const double FAR  = 2.5; /* buffers of a tile fill the second level */
    const rd_inst      *inst = &p->inst[i];
    const double        near = FAR * s->tile_element * bytes_of(p, code, i) / 8;

    switch (inst->kind) {
    case RD_I_LOAD:
    case RD_I_STORE: return access_ns(inst, &code->inst[i], s, near);
    case RD_I_STEP:
    case RD_I_SCAN:
        return rd_takes_exponential(p, inst) && inst->c < 0 ? exponential_ns(inst, code, s, near)
                                                            : step_ns(inst, code, i, s, near);
    case RD_I_CALL: return near + rd_call_ns(s, &p->call[inst->arg]);
    case RD_I_MAP:
        return rd_inst_is_function(inst) ? function_ns(inst, s)
                                         : near * (double)rd_op_table[inst->op].cost;
    default: return near;
    }
}

/* True if an instruction calls a kernel on the elements of a tile.  Not those that are fused away,
 * LOADs whose register is the memory itself, loops and constants. */
static bool is_kernel(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_tile_inst *t = &code->inst[i];

    return t->level == RD_AT_TILE && !t->skip && !t->direct && p->inst[i].kind != RD_I_LOOP &&
           p->inst[i].kind != RD_I_END && p->inst[i].kind != RD_I_CONST;
}

/* True if an instruction calls its kernel once for each row of a tile.  Maps take a whole tile at
 * once, and so do steps whose elements go to all cells in turn (CHANNELS). */
static bool goes_by_rows(const rd_inst *inst, const rd_tile_code *code)
{
    if (inst->kind == RD_I_STEP)
        return code->fold[inst->arg].mapping != RD_FOLD_CHANNELS;
    return inst->kind == RD_I_LOAD || inst->kind == RD_I_STORE || inst->kind == RD_I_SCAN;
}

/* Returns how often an instruction calls its kernel in the whole program, at least once.  A call
 * takes a row if the instruction goes by rows and rows are shorter than a tile, else a whole
 * tile. */
static double calls_of(const rd_program *p, const rd_tile_code *code, int32_t i)
{
    const rd_inst *inst = &p->inst[i];
    const double   n    = rd_program_times(p, i);
    const int64_t  row  = inst->loop >= 0 ? rd_trips(p, inst->loop) : 1;
    /* a call has few elements */
    const bool   few  = goes_by_rows(inst, code) && row < code->buffer_elements;
    const double each = few ? (double)row : (double)code->buffer_elements;

    return each > 0 && n > each ? n / each : 1;
}

/* Returns the predicted nanoseconds of a SORT over the whole program; `add` is the time of one
 * operation.  Short rows that are sorted side by side in vectors take a third of that of single
 * rows. */
static double order_ns(const rd_program *p, const rd_tile_code *code, int32_t i, double add)
{
    const rd_sorting *row  = &p->sorting[p->inst[i].arg];
    const int64_t     rows = p->inst[i].loop >= 0 ? rd_trips(p, p->inst[i].loop) : 1;
    const double      part = rd_sort_can_interleave(row, rows, code->simd->vector) ? 1. / 3 : 1;

    return rd_program_times(p, i) * rd_sorting_ops(row) * part * add;
}

/* Returns the predicted nanoseconds of all kernels of the program on tiles, elements and calls,
 * with memory traffic left out. s->tile_call is the time of a call of a kernel, s->one_add that of
 * an addition. */
double rd_tile_compute_ns(const rd_program *p, const rd_tile_code *code, const rd_speeds *s)
{
    double ns = 0;

    for (int32_t i = 0; i < p->n_inst; i++)
        if (p->inst[i].kind == RD_I_SORT)
            ns += order_ns(p, code, i, s->one_add);
        else if (is_kernel(p, code, i))
            ns += rd_program_times(p, i) * rd_tile_element_ns(p, code, i, s) +
                  s->tile_call * calls_of(p, code, i);
    return ns;
}
