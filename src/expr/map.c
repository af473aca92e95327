/* map.c - elementwise operators on operands of any kind: real, complex, sparse. */
#include "expr/complex.h"
#include "expr/plain.h"
#include "expr/sparse.h"
#include <assert.h>

/* Makes cond ? yes : no, element by element, of operands of any kind; x[0] is the condition.  If a
 * branch is complex, the real and the imaginary part are chosen separately. */
static rd_expr *map_choice(const char *call, rd_expr *const *x)
{
    bool     weak;
    rd_expr *in[3] = { x[0], x[1], x[2] };

    if (rd_dtype_is_complex(rd_joint_type(/*n=*/2, x + 1, &weak)))
        return rd_complex_map(RD_OP_where, call, 3, x);
    if (rd_is_complex(x[0]))
        in[0] = rd_cast_to(x[0], RD_BOOL);
    return rd_real_map(RD_OP_where, call, 3, in);
}

/* Applies an operator under another type rule than its own in ops.def (which types it takes and
 * works in).  Complex operands keep their own rules. */
rd_expr *rd_map_rule(rd_op op, rd_rule rule, const char *call, int n, rd_expr *const *x)
{
    if (!rd_operands(call, n, x))
        return NULL;
    return rd_any_complex(n, x) ? rd_complex_map(op, call, n, x)
                                : rd_real_rule(op, rule, call, n, x);
}

/* Applies an operator of the table (ops.def) to operands of any kind: broadcasts, promotes and
 * casts.  NULL after recording for `call`. */
rd_expr *rd_map_op(rd_op op, const char *call, int n, rd_expr *const *x)
{
    if (op == RD_OP_where)
        return rd_operands(call, n, x) ? map_choice(call, x) : NULL;
    assert(rd_op_table[op].rule != RD_RULE_SPECIAL && rd_op_table[op].arity == n);
    return rd_map_rule(op, rd_op_table[op].rule, call, n, x);
}

/* ---- Public functions ------------------------------------------------------------------------ */
/* These rows make functions as all others do, but rdim.h does not declare them: rd_map(x, fmod)
 * and the evaluator use them. */
rd_expr *rd_fmod(rd_expr *x, rd_expr *y);
rd_expr *rd_pow_half(rd_expr *x, rd_expr *y);

/* Each row of ops.def with one or two operands becomes a public function, such as rd_sin() and
 * rd_add(). */
#define PUBLIC_1(name)                                      \
    rd_expr *rd_##name(rd_expr *x)                          \
    {                                                       \
        return rd_map_op(RD_OP_##name, "rd_" #name, 1, &x); \
    }
#define PUBLIC_2(name)                                                              \
    rd_expr *rd_##name(rd_expr *x, rd_expr *y)                                      \
    {                                                                               \
        return rd_map_op(RD_OP_##name, "rd_" #name, 2, (rd_expr *const[]){ x, y }); \
    }
#define PUBLIC_3(name)
#define RD_OP(name, arity, ...)   PUBLIC_##arity(name)
#define RD_TEST(name, arity, ...) PUBLIC_##arity(name)
#include "core/ops.def"

/* Makes cond ? yes : no, element by element. */
rd_expr *rd_where(rd_expr *cond, rd_expr *yes, rd_expr *no)
{
    return rd_map_op(RD_OP_where, "rd_where", 3, (rd_expr *const[]){ cond, yes, no });
}

/* Limits x to lo .. hi: a maximum, then a minimum. */
rd_expr *rd_clip(rd_expr *x, rd_expr *lo, rd_expr *hi)
{
    rd_expr *raised = rd_map_op(RD_OP_maximum, "rd_clip", 2, (rd_expr *const[]){ x, lo });

    return rd_map_op(RD_OP_minimum, "rd_clip", 2, (rd_expr *const[]){ raised, hi });
}
