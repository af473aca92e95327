/* sparse_maps.c - maps and casts of sparse expressions: the map of their values, and the map of
 * their fills.  An array is *.stored* if it has no fill: there is nothing at other places.
 *
 * Words. A plain expression is real and dense. An expression is real if it is not complex. A weak
 * number takes the type of the operands beside it; a strong one keeps its own. */
#include "expr/plain.h"
#include "expr/sparse.h"

/* ---- Maps ------------------------------------------------------------------------------------ */
/* True if x is a constant of rank 0, which may be weak (its type gives way to that of other
 * operands). */
static bool is_number(const rd_expr *x)
{
    return x->kind == RD_EXPR_NUMBER && x->rank == 0;
}

/* The index of the operand that gives the result its pattern (its list of nonzero positions); -1:
 * none is sparse.  It is the first one without a fill (NULL: nothing exists elsewhere) if there is
 * any, else the first sparse one.  So the loop goes backwards. */
static int leader(int n, rd_expr *const *x)
{
    int found = -1;

    for (int k = n; k-- > 0;)
        if (rd_has_pattern(x[k]) && (found < 0 || !rd_fill_of(x[k]) || rd_fill_of(x[found])))
            found = k;
    return found;
}

/* Broadcasts the operands to their common shape.  Numbers stay as they are, as they may be weak.
 * False after a failure. */
static bool broadcast_all(const char *call, int n, rd_expr *const *x, rd_expr **y)
{
    int     rank;
    int64_t extent[RD_MAX_RANK];

    if (!rd_common_shape(call, n, x, &rank, extent))
        return false;
    for (int k = 0; k < n; k++)
        if (!(y[k] = is_number(x[k]) ? x[k] : rd_real_broadcast(x[k], rank, extent, call)))
            return false;
    return true;
}

/* Applies an operator under a type rule to plain (real, dense) operands; the operator `where`
 * ignores the rule, as it has its own. */
static rd_expr *plain_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    return op == RD_OP_where ? rd_plain_map(op, call, n, x) : rd_plain_rule(op, rule, call, n, x);
}

/* Makes all axes of all operands count from 0, since only the result has origins (first indices).
 * False after a failure. */
static bool from_0(int n, rd_expr **x)
{
    bool ok = true;

    for (int k = 0; k < n; k++)
        ok &= (x[k] = rd_real_from(x[k], /*origin=*/NULL)) != NULL;
    return ok;
}

/* True if the result is 0 wherever one operand is 0, as in a product, and all operands are sparse
 * with fills of 0 (the values at positions not stored).  Then the result's positions are the
 * intersection of theirs.  False for floats, as 0 * inf is NaN. */
static bool annihilates(rd_op op, int n, rd_expr *const *x)
{
    bool found = rd_keeps_zero(op) == RD_KEEPS_ANY;

    for (int k = 0; k < n && found; k++)
        found = rd_has_pattern(x[k]) && rd_fill_of(x[k]) &&
                rd_zero_of(rd_fill_of(x[k])) == RD_ZERO &&
                rd_dtype_kind(x[k]->type) != RD_KIND_FLOAT;
    return found;
}

/* Makes a map with sparse operands.  First all get one pattern (the list of stored positions).
 * Then the operator is applied to the values at these positions, and to the fills, the values
 * elsewhere.  Without a fill (NULL, ".stored") in any operand, the result has none. */
static rd_expr *sparse_map(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    rd_expr *y[3], *values[3], *fill[3], *at_stored, *elsewhere = NULL;
    int64_t  origin[RD_MAX_RANK];
    bool     nothing = false; /* an operand has no fill */

    if (!broadcast_all(call, n, x, y))
        return NULL;
    rd_origins_of_all(n, y, origin);
    if (!from_0(n, y) || !rd_mask_products(op, n, y, call))
        return NULL;
    const int first = leader(n, y);
    if (first < 0) /* a view has made all of them dense */
        return rd_plain_from(plain_rule(op, rule, call, n, y), origin);
    if (!rd_merge_patterns(call, y[first], annihilates(op, n, y), n, y))
        return NULL;
    for (int k = 0; k < n; k++) {
        if (!(values[k] = rd_at_stored(y[first], y[k], call)))
            return NULL;
        fill[k] = rd_has_pattern(y[k]) ? rd_fill_of(y[k]) : y[k];
        nothing |= !fill[k];
    }
    for (int k = 0; k < n && !nothing; k++) {
        /* Merging left this operand its own pattern, as it has coordinates along other axes
         * than the leader: its "fill" is then all of it, looked up densely. */
        if (rd_has_pattern(y[k]) && !rd_same_pattern(y[first], y[k]))
            fill[k] = rd_at_all_places(y[k], call);
        /* A fill that is the same everywhere is computed once, even by a long chain of maps. */
        if (!(fill[k] = rd_slim(fill[k])))
            return NULL;
    }
    at_stored = plain_rule(op, rule, call, n, values);
    if (!nothing)
        elsewhere = plain_rule(op, rule, call, n, fill);
    if (!at_stored || (!nothing && !elsewhere))
        return NULL;
    /* Operands that were numbers gave results of smaller shape. */
    at_stored = rd_plain_broadcast(at_stored, rd_values_of(y[first])->rank,
                                   rd_values_of(y[first])->extent, call);
    if (elsewhere)
        elsewhere = rd_plain_broadcast(rd_plain_cast(elsewhere, at_stored->type), y[first]->rank,
                                       y[first]->extent, call);
    return rd_sparse_from(rd_sparse_with(y[first], at_stored, elsewhere), origin);
}

/* Applies an operator to real operands, plain or sparse, under another type rule than its own. */
rd_expr *rd_real_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    bool weak;

    if (!rd_any_pattern(n, x))
        return rd_plain_rule(op, rule, call, n, x);
    if (!rd_operands(call, n, x))
        return NULL;
    const rd_dtype type = rd_joint_type(n, x, &weak);
    if (rule == RD_RULE_ROUND && rd_dtype_kind(type) != RD_KIND_FLOAT)
        return x[0]; /* rounding ints changes nothing */
    return rd_rule_takes(rule, type, x[0]->ctx, call) ? sparse_map(op, rule, call, n, x) : NULL;
}

/* Applies an operator to real operands, plain or sparse, under its own type rule. That of `where`
 * is RD_RULE_SPECIAL: its condition is a bool, and the other operands decide the type. */
rd_expr *rd_real_map(rd_op op, const char *call, int n, rd_expr *const *x)
{
    if (op != RD_OP_where)
        return rd_real_rule(op, rd_op_table[op].rule, call, n, x);
    if (!rd_any_pattern(n, x))
        return rd_plain_map(op, call, n, x);
    return rd_operands(call, n, x) ? sparse_map(op, RD_RULE_SPECIAL, call, n, x) : NULL;
}

/* ---- Parts of complex numbers ---------------------------------------------------------------- */
/* Gives the real and the imaginary part of a complex array one pattern (list of stored positions).
 * A part that is still dense, or that has no fill while the other has one, is read at the positions
 * of the other.  False after a failure. */
static bool make_alike(const char *call, rd_expr *x[2])
{
    const int first = leader(2, x), other = 1 - first;

    if (!rd_merge_patterns(call, x[first], /*annihilates=*/false, 2, x))
        return false;
    rd_expr *const lead = x[first], *const y = x[other];
    /* Both have a fill (the value where nothing is stored), or neither has: nothing is left to
     * do. */
    if (rd_has_pattern(y) && rd_same_pattern(lead, y) && !rd_fill_of(lead) == !rd_fill_of(y))
        return true;
    rd_expr *const old    = rd_values_of(lead);
    rd_expr       *values = rd_at_stored(lead, y, call), *fill = NULL;
    values = values ? rd_plain_broadcast(values, old->rank, old->extent, call) : NULL;
    if (rd_fill_of(lead) && !(fill = rd_at_all_places(y, call)))
        return false;
    x[other] = rd_sparse_with(lead, values, fill);
    return x[other] != NULL;
}

/* Gives both parts of complex numbers one pattern if either is sparse; their origins become the
 * same, too.  False after a failure. */
bool rd_sparse_alike(const char *call, rd_expr *x[2])
{
    int64_t origin[RD_MAX_RANK];

    if (!rd_all_listed(2, x))
        return false;
    if (leader(2, x) < 0) /* both are dense */
        return true;
    rd_origins_of_all(2, x, origin);
    if (!from_0(2, x) || !make_alike(call, x))
        return false;
    for (int k = 0; k < 2 && x[k]; k++)
        x[k] = rd_sparse_from(x[k], origin);
    return x[0] && x[1];
}

/* ---- Conversions ----------------------------------------------------------------------------- */
/* Casts the values and the fill of a SPARSE. */
static rd_expr *sparse_cast(rd_expr *x, rd_dtype type)
{
    rd_expr *const values = rd_plain_cast(rd_values_of(x), type);
    rd_expr *const fill   = rd_plain_cast(rd_fill_of(x), type);

    return values && (fill || !rd_fill_of(x)) ? rd_sparse_with(x, values, fill) : NULL;
}

/* Casts a real x, plain (dense) or sparse.  A LATER is a sparse product whose nonzero positions are
 * computed on demand.  It can note one cast, in its own type against as.later->type, in which it is
 * computed.  For a second cast it is computed. */
rd_expr *rd_real_cast(rd_expr *x, rd_dtype type)
{
    if (x && rd_is_later(x) && x->type != type) {
        if (x->type == (rd_dtype)x->as.later->type)
            return rd_later_as(x, type);
        x = rd_listed(x); /* a LATER notes just one cast */
    }
    if (!x || x->type == type || !rd_has_pattern(x))
        return rd_plain_cast(x, type);
    return sparse_cast(x, type);
}
