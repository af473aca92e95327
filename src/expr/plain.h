/* plain.h - plain expressions: their elements are real and dense.
 *
 * Planning and kernels know plain expressions alone.  A sparse expression (sparse.h) consists of
 * plain ones, a complex expression (complex.h) of plain and sparse ones.  Both are built with
 * the functions here.
 *
 * The functions for any operand (expr.h) test which of the three an operand is, and call the
 * matching layer.  Functions here never call those of expr.h: calls go one way, from the upper
 * layers to this one. */
#ifndef RD_EXPR_PLAIN_H
#define RD_EXPR_PLAIN_H
#include "expr/affine.h"
#include "expr/origin.h"

/* ---- Maps (map_plain.c) ---------------------------------------------------------------------- */
/* These do what rd_map_op(), rd_map_rule() and rd_cast_to() do. */
rd_expr *rd_plain_map(rd_op op, const char *call, int n, rd_expr *const *x);
rd_expr *rd_plain_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x);
rd_expr *rd_plain_cast(rd_expr *x, rd_dtype type);

/* Makes a map of one plain (real, dense) operand; failures name `call`. */
static inline rd_expr *plain_1(rd_op op, const char *call, rd_expr *x)
{
    return rd_plain_map(op, call, 1, &x);
}

/* Makes a map of two plain (real, dense) operands; failures name `call`. */
static inline rd_expr *plain_2(rd_op op, const char *call, rd_expr *x, rd_expr *y)
{
    return rd_plain_map(op, call, 2, (rd_expr *const[]){ x, y });
}

/* Makes the map cond ? yes : no of plain (real, dense) operands; failures name `call`. */
static inline rd_expr *plain_where(const char *call, rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return rd_plain_map(RD_OP_where, call, 3, (rd_expr *const[]){ cond, yes, no });
}

/* True if a power by the number y is computed by products.  rd_plain_power() makes it
 * (power_plain.c).  y has the type of the base. */
bool     rd_is_product(const rd_expr *y);
rd_expr *rd_plain_power(const char *call, rd_expr *x, rd_expr *y);

/* True if one of two operands is u64 and the other a signed int: no int type holds both. */
bool rd_is_beside_u64(rd_expr *const *x);
/* Compares two such operands exactly (compare_ints.c). */
rd_expr *rd_compare_ints(rd_op op, const char *call, rd_expr *const *x);

/* ---- Views (view_plain.c) -------------------------------------------------------------------- */
/* These do what rd_view(), rd_affine_view(), rd_broadcast_to() and rd_with_origins() do. */
rd_expr *rd_plain_view(rd_expr *x, int rank, const int64_t *extent, const int64_t *number,
                       const int64_t *origin);
rd_expr *rd_plain_affine(rd_expr *x, const rd_affine *v, const char *call);
rd_expr *rd_plain_broadcast(rd_expr *x, int rank, const int64_t *extent, const char *call);
rd_expr *rd_plain_from(rd_expr *x, const int64_t *origin);
/* These do what the calls without plain_ do.  The first two count places from 0, whatever the
 * origin of the axis is. */
rd_expr *rd_plain_select(rd_expr *x, int axis, int64_t place);
rd_expr *rd_plain_slice(rd_expr *x, int axis, int64_t start, int64_t stop, int64_t step);
rd_expr *rd_plain_permute(rd_expr *x, rd_index order);
rd_expr *rd_plain_expand(rd_expr *x, int axis);
rd_expr *rd_plain_squeeze(rd_expr *x, rd_dims d);

/* ---- Other selections (rearrange_plain.c) ---------------------------------------------------- */
/* Reshapes x to a shape that has as many elements. */
rd_expr *rd_plain_reshape(rd_expr *x, int rank, const int64_t *extent);
/* These do what rd_take_places() and rd_take_places_along() do. */
rd_expr *rd_plain_take(rd_expr *x, int axis, rd_expr *index);
rd_expr *rd_plain_take_along(rd_expr *x, int axis, rd_expr *index);
/* Facts and extents of the result of a take; rd_taking_ok() fills them in. */
typedef struct rd_taking {
    rd_axis_facts facts;
    int           rank;
    int64_t       extent[RD_MAX_RANK];
} rd_taking;
/* These fill in *t.  False after recording for `call` that the index does not fit x. */
bool rd_taking_ok(const char *call, rd_expr *x, int axis, rd_expr *index, rd_taking *t);
bool rd_taking_along_ok(const char *call, rd_expr *x, int axis, rd_expr *index, rd_taking *t);
/* The extents to which x, or an index, is broadcast before a take along an axis: its own along
 * that axis, the result's along the others. */
const int64_t *rd_beside_taken(const rd_expr *x, const rd_taking *t, int64_t extent[RD_MAX_RANK]);
/* Makes the TAKE node. */
rd_expr *rd_taking_node(const char *call, rd_expr *x, rd_expr *index, const rd_taking *t);

/* ---- Leaves (leaf_plain.c) ------------------------------------------------------------------- */
/* Fills in the facts of a leaf in memory, or of an input, that an array describes.  False after
 * recording what is wrong with the array. */
bool rd_leaf_facts_of(rd_ctx *ctx, const rd_array *array, const char *call, rd_leaf_facts *facts);
/* Makes the LEAF or INPUT node with these facts. */
rd_expr *rd_leaf_node(rd_ctx *ctx, const rd_array *array, const rd_leaf_facts *facts);
/* As rd_leaf_of(), for axes that begin at 0. */
rd_expr *rd_plain_leaf(rd_ctx *ctx, const rd_array *array, const char *call);

/* ---- Types of operators (map_types.c) -------------------------------------------------------- */
enum { RD_MOST_ARITY = 3 };
/* True if x is a weak number, which takes the type of the operands beside it. */
bool rd_is_weak(const rd_expr *x);
/* The type to which operands are promoted together.  A weak number counts only where the others
 * cannot hold numbers of its kind.  If all are weak, *weak is true and the type is i64, or f64
 * if one is a float. */
rd_dtype rd_joint_type(int n, rd_expr *const *x, bool *weak);
/* The type to which a rule of operators casts operands of a joint type. */
rd_dtype rd_working_type(rd_rule rule, rd_dtype type);
/* True if operators of this rule take operands of a joint type.  False after recording
 * RD_ERR_TYPE for `call`. */
bool rd_rule_takes(rd_rule rule, rd_dtype joint, rd_ctx *ctx, const char *call);
/* True if the type can hold the value of x.  Only a weak int can fail.  False after recording
 * RD_ERR_TYPE for `call`. */
bool rd_fits(const rd_expr *x, rd_dtype type, const char *call);

/* True if operators of this type rule give bools, whatever the types of their operands are. */
static inline bool rd_gives_bool(rd_rule rule)
{
    return rule == RD_RULE_COMPARE || rule == RD_RULE_TEST || rule == RD_RULE_LOGIC;
}

/* The value of an operator on weak numbers of the joint type `type`, as a weak number.  NULL if
 * it is not exact (map_numbers.c). */
rd_expr *rd_map_of_numbers(rd_op op, rd_dtype type, int n, rd_expr *const *x);
#endif
