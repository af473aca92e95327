/* factors.c - numbers that cotangents are multiplied by.
 *
 * Rules are linear in the cotangent, so a number that multiplies one multiplies all that follows
 * from it.  Reverse mode makes many: the 2 of a square, the -1 of a difference, the 1 / n of a
 * mean, the seed 1.  They stay beside the cotangent, and multiply the result once instead of each
 * pair of points:
 *
 *     sum over j of -(2 * (x[i] - y[j]) * (-0.5 * (k[i, j] * (b[j] * 1))))
 *       ->  sum over j of (x[i] - y[j]) * (k[i, j] * b[j]), times 1 */
#include "expr/maps.h"
#include "grad/derivative.h"
#include <math.h>
#include <string.h>

/* Numbers in the text of a rule stand no deeper below its products. */
enum { DEEPEST = 4 };

/* True for a finite number other than 0, alone or repeated. */
static bool is_number(const rd_expr *x, double *value)
{
    while (x->kind == RD_EXPR_VIEW)
        x = x->in[0];
    if (x->kind != RD_EXPR_NUMBER)
        return false;
    *value = rd_word_to_double(x->as.number->value, x->type);
    return isfinite(*value) && *value != 0;
}

static bool is_one(const rd_expr *x)
{
    double value;

    return x && is_number(x, &value) && value == 1;
}

static rd_expr *ones(const rd_grad_step *s, const rd_expr *x)
{
    rd_expr *const one = rd_number(s->ctx, x->type, rd_word_from_int(1, x->type));

    return one ? rd_broadcast_to(one, x->rank, x->extent, s->call) : NULL;
}

/* True for the node, its operands and its cotangent, which other nodes may read: they stay whole. */
static bool is_given(const rd_grad_step *s, const rd_expr *x)
{
    bool given = x == s->y || x == s->g;

    for (int k = 0; k < s->y->n_in; k++)
        given |= x == s->y->in[k];
    return given;
}

static rd_scaled without_number(const rd_grad_step *s, rd_expr *x, int depth);

/* A product or quotient of a and b without the numbers of both. */
static rd_scaled of_two(const rd_grad_step *s, rd_expr *x, int depth)
{
    const bool      divides = x->op == RD_OP_div;
    const rd_scaled a       = without_number(s, x->in[0], depth - 1);
    const rd_scaled b       = without_number(s, x->in[1], depth - 1);
    const double    by      = divides ? a.by / b.by : a.by * b.by;

    if ((a.x == x->in[0] && b.x == x->in[1] && !is_one(a.x) && !is_one(b.x)) || !isfinite(by) ||
        by == 0)
        return (rd_scaled){ x, 1 };
    if (is_one(b.x))
        return (rd_scaled){ a.x, by };
    if (is_one(a.x) && !divides)
        return (rd_scaled){ b.x, by };
    return (rd_scaled){ map_2((rd_op)x->op, s->call, a.x, b.x), by };
}

static rd_scaled without_number(const rd_grad_step *s, rd_expr *x, int depth)
{
    rd_scaled of;
    double    value;

    if (is_number(x, &value))
        return (rd_scaled){ value == 1 ? x : ones(s, x), value };
    if (depth == 0 || x->kind != RD_EXPR_MAP || is_given(s, x))
        return (rd_scaled){ x, 1 };
    if (x->op == RD_OP_neg) {
        of = without_number(s, x->in[0], depth - 1);
        return (rd_scaled){ of.x, -of.by };
    }
    return x->op == RD_OP_mul || x->op == RD_OP_div ? of_two(s, x, depth) : (rd_scaled){ x, 1 };
}

bool rd_grad_keeps_factors(rd_dtype type)
{
    return type == RD_F32 || type == RD_F64;
}

rd_scaled rd_grad_without_number(const rd_grad_step *s, rd_expr *x)
{
    return x && rd_grad_keeps_factors(x->type) ? without_number(s, x, DEEPEST)
                                               : (rd_scaled){ x, 1 };
}

rd_expr *rd_grad_whole(const char *call, rd_scaled x)
{
    if (!x.x || x.by == 1)
        return x.x;
    return x.by == -1 ? map_1(RD_OP_neg, call, x.x)
                      : map_2(RD_OP_mul, call, x.x, rd_num(x.x->ctx, x.by));
}
