/* map_rules.c - derivatives of maps: the rows RD_DERIVATIVE of core/ops.def.
 *
 * A row gives the change of the result for a change g of one operand, as function text that is
 * linear in g.  Forward mode adds these changes over operands.  In reverse mode g is the cotangent
 * of the result, and the text is what the operand gets. */
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <math.h>
#include <string.h>

enum { MOST_ARITY = 3 };

/* The texts of an operator, one an operand. */
typedef struct row {
    const char *of[MOST_ARITY];
    const char *why; /* it has none; the sentence for users */
} row;

static const row rows[RD_N_OPS] = {
#define RD_DERIVATIVE(name, ...)    [RD_OP_##name] = { { __VA_ARGS__ }, NULL },
#define RD_NO_DERIVATIVE(name, why) [RD_OP_##name] = { { NULL }, why },
#define RD_OP(...)
#define RD_TEST(...)
#include "core/ops.def"
};

/* An operator of floats without a row in either list does not compile: its HAS_name is missing. */
enum {
#define RD_DERIVATIVE(name, ...)    HAS_##name,
#define RD_NO_DERIVATIVE(name, why) HAS_##name,
#define RD_OP(...)
#define RD_TEST(...)
#include "core/ops.def"
    N_HAS
};
enum {
#define NEEDS_ARITH(name) NEEDS_##name = HAS_##name,
#define NEEDS_SAME(name)  NEEDS_##name = HAS_##name,
#define NEEDS_FLOAT(name) NEEDS_##name = HAS_##name,
#define NEEDS_ROUND(name) NEEDS_##name = HAS_##name,
#define NEEDS_LOGIC(name)
#define NEEDS_BITS(name)
#define NEEDS_INTS(name)
#define NEEDS_COUNT(name)
#define RD_OP(name, n, rule, ...) NEEDS_##rule(name)
#define RD_TEST(...)
#include "core/ops.def"
    N_NEEDS = N_HAS
};

/* ---- Roots of sums of squares ---------------------------------------------------------------- */
/* True if x is a square, as x^2 or as a product of a node with itself. */
static bool is_square(const rd_expr *x)
{
    return x->kind == RD_EXPR_MAP &&
           (x->op == RD_OP_square || (x->op == RD_OP_mul && x->in[0] == x->in[1]));
}

/* True if y is a length: the root of a sum of squares, or of their mean. At 0 the root has an
 * infinite derivative and the squares have 0, whose product would be NaN, as in a kernel of
 * distances where two points are the same. The length has a kink there, and the rule takes 0.
 * The sums: the reducer `moments` (a variance), a dot product of a node with itself, or a sum of
 * squares. A reducer of the caller (`user`) is none. */
static bool is_length(const rd_expr *y)
{
    const rd_expr *const x = y->in[0];

    if (y->op != RD_OP_sqrt || x->kind != RD_EXPR_REDUCE || x->as.fold->user)
        return false;
    switch (x->as.fold->reducer) {
    case RD_RED_moments: return true;
    case RD_RED_dot: return x->in[0] == x->in[1];
    case RD_RED_sum:
    case RD_RED_sum2: return is_square(x->in[0]);
    default: return false;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */
/* Returns the function text for the change of y by operand k, in terms of g, y and the operands
 * a, b, c. It is that of the operator's row, except for lengths (0 where y is 0) and for 1 / b.
 * There the text is -y * y * g, as a division would take several times as long. */
static const char *text_of(const rd_expr *y, int k)
{
    return is_length(y)                                               ? "y == 0 ? 0 : 0.5 * g / y"
           : y->op == RD_OP_div && k == 1 && rd_grad_is_one(y->in[0]) ? "-y * y * g"
                                                                      : rows[y->op].of[k];
}

/* Returns the exponent of a power if it is a constant; NaN if it is none. */
static double exponent_of(const rd_expr *y)
{
    const rd_expr *x = y->in[1];

    while (x->kind == RD_EXPR_VIEW) /* a number that is repeated */
        x = x->in[0];
    return x->kind == RD_EXPR_NUMBER ? rd_word_to_double(x->as.number->value, x->type) : NAN;
}

/* Returns the change of a power a^n by a constant n if a changes by g: n a^(n - 1) g.  The new
 * power is made as a user's, so that few exponents call pow(): 3 a a g for a^3.  NULL after a
 * failure. */
static rd_expr *change_of_power(rd_grad_step *s, double n, rd_expr *g)
{
    rd_expr *power;

    if (n == 1)
        return g;
    power = map_2(RD_OP_pow, s->call, rd_with_origins(s->y->in[0], /*origin=*/NULL),
                  rd_num(s->ctx, n - 1));
    power = power ? map_2(RD_OP_mul, s->call, rd_num(s->ctx, n), power) : NULL;
    return power ? map_2(RD_OP_mul, s->call, power, g) : NULL;
}

/* Returns the change of the node if operand k changes by g, from the text of the operator's row.
 * *flat: the derivative is 0, and NULL is returned. NULL and not flat: a failure, such as an
 * operator without a derivative, is recorded. The row `r` has a text for each operand in `of`
 * ("0": flat), or the reason `why` it has none. Powers by a constant exponent have a text of
 * their own: change_of_power(). In the text, a, b and c are the operands, y the node and g the
 * change: `name` has the letters, and `operand` what they stand for. */
static rd_expr *change_by(rd_grad_step *s, int k, rd_expr *g, bool *flat)
{
    static const char names[]    = "abc";
    rd_expr *const    y          = s->y;
    const row *const  r          = &rows[y->op];
    const char *const text       = text_of(y, k);
    char              name[8]    = "";
    rd_expr          *operand[8] = { NULL };

    *flat = r->of[k] && !strcmp(r->of[k], "0");
    if (*flat)
        return NULL;
    if (!r->of[k])
        return rd_fail(s->ctx, RD_ERR_ARGUMENT, "%s: %s has no derivative: %s", s->call,
                       rd_op_table[y->op].name, r->why ? r->why : "its operands do not change");
    if ((y->op == RD_OP_pow || y->op == RD_OP_pow_half) && k == 0 && !isnan(exponent_of(y))) {
        *flat = exponent_of(y) == 0;
        return *flat ? NULL : change_of_power(s, exponent_of(y), g);
    }
    memcpy(name, names, (size_t)y->n_in);
    memcpy(operand, y->in, (size_t)y->n_in * sizeof *operand);
    name[y->n_in]        = 'y';
    operand[y->n_in]     = y;
    name[y->n_in + 1]    = 'g';
    operand[y->n_in + 1] = g;
    return rd_grad_text(s, text, name, operand);
}

/* ---- where and cast, which have no row ------------------------------------------------------- */
/* Returns the change of where(c, a, b) if a (k = 1) or b (k = 2) changes by g: g where that
 * operand is taken, else 0. */
static rd_expr *change_of_choice(rd_grad_step *s, int k, rd_expr *g)
{
    return rd_grad_text(s, k == 1 ? "c ? g : 0" : "c ? 0 : g", "cg",
                        (rd_expr *const[]){ s->y->in[0], g });
}

/* Reverse mode: sets s->change[k] to what the node adds to the cotangent of operand k, the gradient
 * of the scalar result with respect to it. s->g is the node's own. For a cast it is g in the
 * operand's type; else the text of the operator's row, as that is linear in g. An operand of
 * which the derivative is 0 (flat) gets nothing. False after a failure. `depends` says of which
 * operands a change matters. */
static bool pull(rd_grad_step *s)
{
    rd_expr *const y = s->y;

    for (int k = 0; k < y->n_in; k++) {
        bool flat = false;

        if (!s->depends[k])
            continue;
        if (y->op == RD_OP_where)
            s->change[k] = change_of_choice(s, k, s->g);
        else if (y->op == RD_OP_cast)
            s->change[k] = rd_cast_to(s->g, y->in[k]->type);
        else
            s->change[k] = change_by(s, k, s->g, &flat);
        if (!s->change[k] && !flat)
            return false;
    }
    return true;
}

/* Forward mode: returns the tangent of where(c, a, b), how it changes along the direction: it
 * chooses between the tangents of a and b. An operand without a tangent has zeros. */
static rd_expr *push_choice(rd_grad_step *s)
{
    rd_expr *const zero = rd_grad_zeros(s->y);

    if (!zero)
        return NULL;
    return rd_grad_text(s, "c ? a : b", "cab",
                        (rd_expr *const[]){ s->y->in[0], s->change[1] ? s->change[1] : zero,
                                            s->change[2] ? s->change[2] : zero });
}

/* Forward mode: returns the tangent of the node, how it changes along the direction: the sum of
 * its changes by the operands' tangents, s->change (NULL: 0). NULL after a failure. A flat operand
 * adds nothing. y's derivative is zeros if no operand changes it. */
static rd_expr *push(rd_grad_step *s)
{
    rd_expr *const y   = s->y;
    rd_expr       *sum = NULL;

    if (y->op == RD_OP_where)
        return push_choice(s);
    if (y->op == RD_OP_cast)
        return rd_cast_to(s->change[0], y->type);
    for (int k = 0; k < y->n_in; k++) {
        bool           flat = false;
        rd_expr *const part = s->change[k] ? change_by(s, k, s->change[k], &flat) : NULL;

        if (s->change[k] && !part && !flat)
            return NULL;
        if (part)
            sum = sum ? map_2(RD_OP_add, s->call, sum, part) : part;
        if (part && !sum)
            return NULL;
    }
    return sum ? sum : rd_grad_zeros(y);
}

const rd_grad_rule rd_map_rule_grad = { pull, push };
