/* price_functions.c - the time of an element of a mathematical function, in a vector. */
#include "kernels/loop/price_statement.h"

/* The measured function that another one resembles. */
typedef enum function_family {
    LIKE_EXP,
    LIKE_LOG,
    LIKE_SIN,
    LIKE_POW,
    LIKE_ERF,
    LIKE_TANH
} function_family;

/* Returns the measured function that an operator resembles in its algorithm. Those that are not
 * listed count as tanh. */
static function_family family_of(rd_op op)
{
    switch (op) {
    case RD_OP_exp:
    case RD_OP_exp2:
    case RD_OP_exp10:
    case RD_OP_sigmoid:
    case RD_OP_silu: return LIKE_EXP;
    case RD_OP_log:
    case RD_OP_log2:
    case RD_OP_log10:
    case RD_OP_cbrt: return LIKE_LOG;
    case RD_OP_sin:
    case RD_OP_cos:
    case RD_OP_tan: return LIKE_SIN;
    case RD_OP_pow:
    case RD_OP_atan2:
    case RD_OP_logaddexp: return LIKE_POW;
    case RD_OP_erf:
    case RD_OP_erfc:
    case RD_OP_erfinv:
    case RD_OP_ndtr:
    case RD_OP_gelu: return LIKE_ERF;
    default: return LIKE_TANH;
    }
}

/* Returns the time of one element of a user's function.  A function that takes a whole block costs
 * a sixteenth of a scalar call for each element. */
double rd_call_ns(const rd_speeds *s, const rd_call *call)
{
    enum { OF_BLOCK = 16 };

    return call->f32 || call->f64 || call->block ? s->call / OF_BLOCK : s->call;
}

/* Returns the time of one element of a function, in a vector: that of the measured function of its
 * family, times the ratio of the two operators' costs in ops.def. */
double rd_function_ns(const rd_speeds *s, rd_op op, rd_dtype type)
{
    const struct {
        rd_op  op;
        double f32, f64;
    } like[]                     = { [LIKE_EXP]  = { RD_OP_exp, s->exp_f32, s->exp_f64 },
                                     [LIKE_LOG]  = { RD_OP_log, s->log_f32, s->log_f64 },
                                     [LIKE_SIN]  = { RD_OP_sin, s->sin_f32, s->sin_f64 },
                                     [LIKE_POW]  = { RD_OP_pow, s->pow_f32, s->pow_f64 },
                                     [LIKE_ERF]  = { RD_OP_erf, s->erf_f32, s->erf_f64 },
                                     [LIKE_TANH] = { RD_OP_tanh, s->tanh_f32, s->tanh_f64 } };
    const function_family family = family_of(op);
    const double times = (double)rd_op_table[op].cost / (double)rd_op_table[like[family].op].cost;

    return times * rd_of_floats(type, like[family].f32, like[family].f64);
}
