/* short_sums.c - narrow accumulators: sums of small ints in a type narrower than the fold's.
 *
 * A state takes few elements before it is added to a wider one.  The range of each element
 * follows from types and operations, so the sum of a block has a range, too.  A type that holds
 * this range never rounds or wraps: a sum of 64 bools fits a byte.  Vectors hold four times as
 * many bytes as int32s.
 *
 * A register is a value of the program.  The steps of a block are added by one lane, an
 * accumulator.  `sums` is the type of a lane's sum, `row_sums` of the sum of all lanes. */
#include "core/value_ranges.h"
#include "kernels/loop/loop.h"

/* DEEP: operands deeper than this in an expression count as unknown.  MOST_STEPS: longer blocks are
 * not summed in narrow types. */
enum { DEEP = 8, MOST_STEPS = 1 << 14 };

typedef struct registers {
    const rd_program *p;
    const int32_t    *made; /* which instruction makes each */
} registers;

static const rd_range unknown;

/* ---- Ranges ---------------------------------------------------------------------------------- */
static rd_range range_of(const registers *r, int32_t reg, int depth);

/* Returns the range of an operator's result (a register that instruction `by` makes), from the
 * ranges of its operands. A bool is 0 or 1. */
static rd_range range_of_map(const registers *r, const rd_inst *by, int depth)
{
    const int32_t in[3] = { by->a, by->b, by->c };
    const int     n     = rd_op_table[by->op].arity;
    rd_range      x[3]  = { unknown, unknown, unknown };

    if (by->type == RD_BOOL)
        return rd_range_of_type(RD_BOOL);
    for (int k = 0; k < n && k < 3; k++)
        x[k] = range_of(r, in[k], depth + 1);
    return rd_range_of_op(by->op, by->type, x);
}

/* Returns the range of a value that is made in another way, such as a result of a fold. It counts
 * only if the type has 16 bits or less; 65535 covers signed and unsigned ones. */
static rd_range range_of_other(rd_dtype type)
{
    enum { MOST = 65535 };

    if (!rd_small_type(type))
        return unknown;
    return rd_range_from(rd_dtype_kind(type) == RD_KIND_INT ? -MOST : 0, MOST);
}

/* Returns the range of numbers that an int register can have, from the ranges of its operands down
 * to a depth of DEEP; unknown for floats. */
static rd_range range_of(const registers *r, int32_t reg, int depth)
{
    const rd_inst *by = reg >= 0 ? &r->p->inst[r->made[reg]] : NULL;

    if (!by || rd_dtype_kind(by->type) == RD_KIND_FLOAT)
        return unknown;
    if (depth == DEEP)
        return rd_range_of_type(by->type);
    switch (by->kind) {
    case RD_I_CONST: return rd_range_cast(rd_range_from(by->value.i64, by->value.i64), by->type);
    case RD_I_LOAD: return rd_range_of_type(by->type);
    case RD_I_CAST: return rd_range_cast(range_of(r, by->a, depth + 1), by->type);
    case RD_I_MAP: return range_of_map(r, by, depth);
    case RD_I_SELECT:
        return rd_range_cast(
            rd_range_either(range_of(r, by->b, depth + 1), range_of(r, by->c, depth + 1)),
            by->type);
    default: return range_of_other(by->type);
    }
}

/* Returns the bytes of the widest value that an element is computed from.  Casts that only widen do
 * not count: vectors would have to be put together from several for a narrower sum. WIDE: the width
 * where the depth ends, as all types have at most 8 bytes. A choice is as wide as its operands;
 * constants, which have no width of their own, count as 1 byte. */
static int width_of(const registers *r, int32_t reg, int depth)
{
    enum { WIDE = 8 };
    const rd_inst *by    = reg >= 0 ? &r->p->inst[r->made[reg]] : NULL;
    const int      own   = by ? rd_dtype_size(by->type) : 1;
    const bool     wider = by && by->kind == RD_I_CAST && own >= rd_dtype_size(by->from);
    int            widest;

    if (!by || by->kind == RD_I_CONST)
        return 1;
    if (depth == DEEP)
        return WIDE;
    widest = wider || by->kind == RD_I_SELECT ? 1 : own;
    if (by->kind == RD_I_CAST || by->kind == RD_I_MAP || by->kind == RD_I_SELECT) {
        const int32_t in[3] = { by->a, by->b, by->c };
        const int     n     = by->kind == RD_I_MAP    ? rd_op_table[by->op].arity
                              : by->kind == RD_I_CAST ? 1
                                                      : 3;

        for (int k = 0; k < n && k < 3; k++) {
            const int width = width_of(r, in[k], depth + 1);

            widest = width > widest ? width : widest;
        }
    }
    return widest;
}

/* ---- Types of sums --------------------------------------------------------------------------- */
/* Finds the narrowest type of at least `least` bytes that holds all sums of up to n elements in the
 * range x.  False: even int32 is too narrow. */
static bool find_type(rd_range x, int64_t n, int least, rd_dtype *type)
{
    static const rd_dtype types[] = { RD_U8, RD_I8, RD_U16, RD_I16, RD_I32 };
    const rd_range        sum     = rd_range_times(x, n);

    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (rd_range_fits(sum, types[k]) && rd_dtype_size(types[k]) >= least) {
            *type = types[k];
            return true;
        }
    return false;
}

/* Returns the most steps that one state (accumulator) takes before its block ends: a block's, or
 * all of the fold's if there are fewer. */
static int64_t most_steps(const rd_loop_fold *f)
{
    const int64_t steps = f->emit.fold->steps;

    return f->steps < steps ? f->steps : steps;
}

/* True if a narrow sum is possible: a plain sum of 64-bit ints, or of ints that are cast to
 * doubles, as in means, which is exact. Not if doubles are masked, as a masked sum of nothing is
 * -0.0; nor with weights, which are factors; nor in scans, group-bys and sparse rows, or blocks
 * (runs of a fold's steps) that may begin anywhere (loose). */
static bool may_be_short(const rd_program *p, const int32_t *made, const rd_loop_fold *f)
{
    const rd_fold *const fold = f->emit.fold;
    const rd_inst *const x    = &p->inst[made[p->inst[f->step].a]];

    if (!rd_reducer_adds_elements(fold->reducer) || fold->scan || fold->n_group || fold->by_rows ||
        fold->steps > MOST_STEPS || f->emit.weighted || fold->loose)
        return false;
    if (fold->type == RD_F64)
        return !f->emit.masked && x->kind == RD_I_CAST;
    if (fold->lane.n_add > 1) /* any lane takes such an element, in blocks of any length */
        return false;
    return fold->type == RD_I64 || fold->type == RD_U64;
}

/* Chooses the narrow types of a sum, if there are some: `sums` holds the sum of a block (a run of
 * a fold's steps) in one lane (partial accumulator), `row_sums` that of all lanes together.
 * `least`: bytes of the elements' widest operand, as vectors of narrower sums would be put
 * together from several; 4 suffice. */
void rd_find_short_sum(const rd_program *p, const int32_t *made, rd_loop_fold *f)
{
    const registers r   = { p, made };
    const int32_t   reg = f->step >= 0 ? p->inst[f->step].a : -1;
    const rd_inst  *by  = reg >= 0 ? &p->inst[made[reg]] : NULL;

    f->emit.is_short = false;
    if (!by || !may_be_short(p, made, f))
        return;
    const int32_t  of    = f->emit.fold->type == RD_F64 ? by->a : reg;
    const rd_range x     = range_of(&r, of, /*depth=*/0);
    const int      width = width_of(&r, of, /*depth=*/0), least = width < 4 ? width : 4;

    f->emit.is_short = find_type(x, most_steps(f), least, &f->emit.sums) &&
                       find_type(x, most_steps(f) * f->emit.fold->lanes, least, &f->emit.row_sums);
}
