/* index_math.c - Inserts integer arithmetic on indices before a statement. Arguments and results
 * are positions, so that sums and multiples need no values of their own, and constants are
 * folded.
 *
 * A position is an offset plus terms, each a factor times an axis or times a value.  A value is
 * made by a LET statement.
 *
 * Fields. A term of a position with `axis` -1 is a value, an index that is read at run time.
 *
 * Words. A slot is a buffer that a program reads or writes. */
#include "kernels/pass/index_math.h"

/* Puts a statement that stands nowhere yet before the insertion point, and returns its value's
 * number. After a failure (no memory) it is 0, which may be read. */
static int32_t insert(rd_index_math *n, int32_t stmt)
{
    if (n->t->failed)
        return 0;
    rd_put_before(n->t, stmt, n->next);
    return n->t->stmt[stmt].value;
}

/* Inserts a LET that makes a value like *let before the insertion point, and returns the value's
 * number. */
static int32_t insert_let(rd_index_math *n, const rd_tree_value *let)
{
    return insert(n, rd_add_made(n->t, let));
}

/* True if the position is a constant: an offset without terms of axes and values. */
static bool is_constant(const rd_linear *at)
{
    return at->n == 0;
}

/* Returns the number of a value that equals the position. If the position is just a value (one
 * term with factor 1, no offset), no new one is made; else a constant, or a COORD (the value of a
 * position) is inserted. slot and store are -1, as it is not loaded. */
static int32_t value_of(rd_index_math *n, rd_linear at)
{
    rd_tree_value let = {
        .kind = RD_I_COORD, .type = RD_I64, .from = RD_I64, .slot = -1, .store = -1
    };

    if (at.n == 1 && at.offset == 0 && n->t->term[at.first].axis < 0 &&
        n->t->term[at.first].coef == 1)
        return n->t->term[at.first].value;
    if (is_constant(&at)) {
        let.kind = RD_I_CONST;
        let.word = (rd_word){ .i64 = at.offset };
    } else
        let.at = at;
    return insert_let(n, &let);
}

/* Inserts a value of this kind and operator with `count` operands, and returns it as a position: 1
 * * value. slot and store are -1, as it is not loaded; arg is -1, as it is no result of a fold. */
static rd_linear insert_operation(rd_index_math *n, rd_inst_kind kind, rd_op op, rd_dtype type,
                                  int count, const int32_t *operand)
{
    rd_tree_value let = { .kind  = kind,
                          .type  = type,
                          .from  = RD_I64,
                          .op    = op,
                          .n     = count,
                          .arg   = -1,
                          .slot  = -1,
                          .store = -1 };

    let.first = rd_add_operands(n->t, operand, count);
    return rd_linear_plus_value(n->t, rd_linear_of(0), /*coef=*/1, insert_let(n, &let));
}

/* Inserts an operator on two positions before the insertion point, and returns its value as a
 * position. */
static rd_linear binary_op(rd_index_math *n, rd_op op, rd_dtype type, rd_linear a, rd_linear b)
{
    int32_t operand[2];

    operand[0] = value_of(n, a);
    operand[1] = value_of(n, b);
    return insert_operation(n, RD_I_MAP, op, type, /*count=*/2, operand);
}

/* Returns the smaller of two positions.  Constants are compared here, and equal positions need no
 * operator. */
rd_linear rd_index_min(rd_index_math *n, rd_linear a, rd_linear b)
{
    if (is_constant(&a) && is_constant(&b))
        return a.offset < b.offset ? a : b;
    return rd_linear_same(n->t, &a, &b) ? a : binary_op(n, RD_OP_minimum, RD_I64, a, b);
}

/* Returns the larger of two positions. Constants are compared here, and equal positions need no
 * operator. */
rd_linear rd_index_max(rd_index_math *n, rd_linear a, rd_linear b)
{
    if (is_constant(&a) && is_constant(&b))
        return a.offset > b.offset ? a : b;
    return rd_linear_same(n->t, &a, &b) ? a : binary_op(n, RD_OP_maximum, RD_I64, a, b);
}

/* Returns a >= b ? x : y. It inserts "r4 = ge a, b; r5 = choice r4, x, y"; if a and b are
 * constants, they are compared here. */
rd_linear rd_index_select(rd_index_math *n, rd_linear a, rd_linear b, rd_linear x, rd_linear y)
{
    int32_t operand[3];

    if (is_constant(&a) && is_constant(&b))
        return a.offset >= b.offset ? x : y;
    operand[0] = value_of(n, binary_op(n, RD_OP_ge, RD_BOOL, a, b));
    operand[1] = value_of(n, x);
    operand[2] = value_of(n, y);
    return insert_operation(n, RD_I_SELECT, RD_OP_ge, RD_I64, /*count=*/3, operand);
}

/* Returns the quotient a / by, rounded down also for a below 0. That of a constant is computed
 * here: `remainder` is in [0, by), so offset - remainder is a multiple of `by`. */
rd_linear rd_index_divide(rd_index_math *n, rd_linear a, int64_t by)
{
    const int64_t remainder = (a.offset % by + by) % by;

    if (is_constant(&a))
        return rd_linear_of((a.offset - remainder) / by);
    return binary_op(n, RD_OP_floordiv, RD_I64, a, rd_linear_of(by));
}

/* Inserts "r4 = load i64 s3[..]" and returns it as a position. It reads an index, so it is left
 * out of the count of loaded elements (uncounted). */
rd_linear rd_index_load(rd_index_math *n, int32_t slot, rd_dtype type, rd_linear at)
{
    const rd_tree_value let = { .kind      = RD_I_LOAD,
                                .type      = type,
                                .from      = type,
                                .arg       = -1,
                                .slot      = slot,
                                .store     = -1,
                                .at        = at,
                                .uncounted = true };

    return rd_linear_plus_value(n->t, rd_linear_of(0), /*coef=*/1, insert_let(n, &let));
}

/* Inserts "r6 = lower bound from r4 to r5 of ..", a binary search: the first k of [from, to) for
 * which the slot (array of the program's memory) has `least` or more at position at + stride * k;
 * to - 1 if none has. The statement is a LOWER_BOUND; in its fields x and weight are the ends, and
 * `arg` the stride. The value's kind is CLOSE, as a statement makes it that is no LET. */
rd_linear rd_index_search(rd_index_math *n, int32_t slot, rd_linear from, rd_linear to,
                          rd_linear at, int32_t stride, rd_linear least)
{
    const rd_tree_value let = {
        .kind = RD_I_CLOSE, .type = RD_I64, .from = RD_I64, .slot = -1, .store = -1
    };
    const int32_t  first = value_of(n, from), last = value_of(n, to);
    const int32_t  made = rd_add_made(n->t, &let);
    rd_stmt *const stmt = &n->t->stmt[made];

    stmt->kind   = RD_S_LOWER_BOUND;
    stmt->arg    = stride;
    stmt->x      = first;
    stmt->weight = last;
    stmt->slot   = slot;
    stmt->type   = RD_I64;
    stmt->at     = at;
    stmt->count  = least;
    return rd_linear_plus_value(n->t, rd_linear_of(0), /*coef=*/1, insert(n, made));
}
