/* random_formula.c - a formula by chance, as text and as the calls that it means.  Axes of what is read
 * by index are its indices alone, as the formula has them, until it meets something with more. */
#include "random_formula.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { I = 1, J = 2, DEPTH = 5 };

/* Which indices x has; of whole arrays none. */
typedef struct term {
    rd_expr *x;
    unsigned has;
} term;

static uint64_t chance(random_formula *f, uint64_t below)
{
    f->state = f->state * 6364136223846793005u + 1442695040888963407u;
    return (f->state >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static void put(random_formula *f, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (f->n < RANDOM_FORMULA_TEXT)
        f->n += vsnprintf(f->text + f->n, (size_t)(RANDOM_FORMULA_TEXT - f->n), format, list);
    va_end(list);
    if (chance(f, 4) == 0 && f->n + 1 < RANDOM_FORMULA_TEXT) {
        f->text[f->n++] = ' ';
        f->text[f->n]   = '\0';
    }
}

/* ---- Operands ------------------------------------------------------------------------------------ */
static term number(random_formula *f)
{
    const int value = (int)chance(f, 9);

    if (chance(f, 2)) {
        put(f, "%d", value);
        return (term){ rd_int(f->ctx, value), 0 };
    }
    put(f, "%d.5", value);
    return (term){ rd_num(f->ctx, value + 0.5), 0 };
}

static term whole_operand(random_formula *f)
{
    switch (chance(f, 6)) {
    case 0: put(f, "x"); return (term){ f->x, 0 };
    case 1: put(f, "q"); return (term){ f->q, 0 };
    case 2: put(f, "v"); return (term){ f->v, 0 };
    case 3: put(f, "x[::-1,:]"); return (term){ rd_flip(f->x, RD_DIMS(0)), 0 };
    case 4: put(f, "q[:, None, 2]"); return (term){ rd_slice(f->q, ":, new, 2"), 0 };
    default: return number(f);
    }
}

static term indexed_operand(random_formula *f)
{
    switch (chance(f, 9)) {
    case 0: put(f, "x[i,j]"); return (term){ f->x, I | J };
    case 1: put(f, "q[3-i,j]"); return (term){ rd_flip(f->q, RD_DIMS(0)), I | J };
    case 2: put(f, "v[j]"); return (term){ f->v, J };
    case 3: put(f, "v[i+1]"); return (term){ rd_slice(f->v, "1:"), I };
    case 4: put(f, "x[i,-2]"); return (term){ rd_slice(f->x, ":, -2"), I };
    case 5: put(f, "i"); return (term){ rd_coord(rd_slice(f->x, ":, 0"), 0), I };
    case 6: put(f, "mean(x, axis=0)[j]"); return (term){ rd_mean(f->x, RD_DIMS(0)), J };
    case 7: put(f, "(max[k] q[i, k])"); return (term){ rd_max(f->q, RD_DIMS(1)), I };
    default: return number(f);
    }
}

/* ---- Operators ------------------------------------------------------------------------------------ */
static term make(random_formula *f, int depth, bool by_index);

/* As its axes meet those of others. */
static rd_expr *seen(term t, unsigned all)
{
    return t.has == all || !t.has ? t.x : rd_expand(t.x, t.has == I ? 1 : 0);
}

static term unary(random_formula *f, int depth, bool by_index)
{
    static const struct {
        const char *text;
        rd_expr *(*call)(rd_expr *);
    } rows[]         = { { "sqrt(", rd_sqrt }, { "exp(", rd_exp },     { "-(", rd_neg },
                         { "!(", rd_not },     { "abs(", rd_abs },     { "floor(", rd_floor },
                         { "relu(", rd_relu }, { "isnan(", rd_isnan }, { "(", NULL } };
    const uint64_t k = chance(f, sizeof rows / sizeof *rows);

    /* a power binds tighter than a sign before it */
    put(f, "(%s", rows[k].text);
    term t = make(f, depth - 1, by_index);
    put(f, "))");
    if (rows[k].call)
        t.x = rows[k].call(t.x);
    return t;
}

static term binary(random_formula *f, int depth, bool by_index)
{
    static const struct {
        const char *text;
        rd_expr *(*call)(rd_expr *, rd_expr *);
    } rows[] = {
        { "+", rd_add },       { "-", rd_sub },     { "*", rd_mul }, { "/", rd_div },
        { "^", rd_pow },       { "<", rd_lt },      { "==", rd_eq }, { ">=", rd_ge },
        { "//", rd_floordiv }, { " and ", rd_and }, { "||", rd_or }, { "%", rd_remainder }
    };
    const uint64_t k = chance(f, sizeof rows / sizeof *rows);

    put(f, "(");
    const term a = make(f, depth - 1, by_index);
    put(f, "%s", rows[k].text);
    const term b = make(f, depth - 1, by_index);
    put(f, ")");
    return (term){ rows[k].call(seen(a, a.has | b.has), seen(b, a.has | b.has)), a.has | b.has };
}

static term choice(random_formula *f, int depth, bool by_index)
{
    const bool call = chance(f, 2);

    put(f, call ? "where(" : "(");
    const term c = make(f, depth - 1, by_index);
    put(f, call ? "," : "?");
    const term a = make(f, depth - 1, by_index);
    put(f, call ? "," : ":");
    const term     b   = make(f, depth - 1, by_index);
    const unsigned has = a.has | b.has | c.has;
    put(f, ")");
    return (term){ rd_where(seen(c, has), seen(a, has), seen(b, has)), has };
}

static term reduced(random_formula *f, int depth)
{
    static const char *const names[] = { "sum", "max", "mean", "var", "argmax", "any" };
    const char              *name    = names[chance(f, 6)];

    put(f, "%s(x +", name);
    const term t = make(f, depth - 1, false);
    put(f, ", axis=-1, keepdims=true)");
    return (term){ rd_reduce(rd_add(f->x, t.x), name, RD_KEEP(-1)), 0 };
}

static term make(random_formula *f, int depth, bool by_index)
{
    const uint64_t kind = depth ? chance(f, 8) : 0;

    if (kind < 2)
        return by_index ? indexed_operand(f) : whole_operand(f);
    if (kind < 6)
        return binary(f, depth, by_index);
    if (kind == 6)
        return unary(f, depth, by_index);
    return by_index || chance(f, 2) ? choice(f, depth, by_index) : reduced(f, depth);
}

rd_expr *random_formula_whole(random_formula *f)
{
    f->n = 0;
    return make(f, DEPTH, false).x;
}

rd_expr *random_formula_by_index(random_formula *f)
{
    f->n = 0;
    put(f, "o[i in 0:4, j in 0:5] = ");
    const term t = make(f, DEPTH, true);
    return rd_broadcast(seen(t, I | J), RD_SHAPE(4, 5));
}
