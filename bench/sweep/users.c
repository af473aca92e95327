/* users.c - functions and reducers that a user of the library might write, and the same by
 * operators, for the loops. */
#include "sweep.h"
#include <math.h>
#include <stddef.h>

/* ---- Functions ------------------------------------------------------------------------------- */
RD_FN1(softsign, x, x / (1 + abs(x)))

static rd_expr *map_softsign(rd_expr *x)
{
    return rd_map(x, softsign);
}

static node *number(program *p, const node *like, double value)
{
    return sweep_number(p, value, like->type);
}

static node *loops_softsign(program *p, node *x)
{
    return sweep_map(p, "div", x,
                     sweep_map(p, "add", sweep_map(p, "abs", x, NULL), number(p, x, 1)));
}

static rd_expr *map_text(rd_expr *x)
{
    return rd_map(x, "x > 0.5 ? sqrt(x) : x * x + 0.25");
}

static node *loops_text(program *p, node *x)
{
    node *low = sweep_map(p, "add", sweep_map(p, "square", x, NULL), number(p, x, 0.25));

    return sweep_where(p, sweep_map(p, "gt", x, number(p, x, 0.5)), sweep_map(p, "sqrt", x, NULL),
                       low);
}

static float bent(float x)
{
    return x > 1 ? 2 * x - 1 : x * x;
}

static rd_expr *map_pointer(rd_expr *x)
{
    return rd_map(x, bent);
}

static node *loops_pointer(program *p, node *x)
{
    node *high = sweep_map(p, "sub", sweep_map(p, "mul", x, number(p, x, 2)), number(p, x, 1));

    return x->type == RD_F32 ? sweep_where(p, sweep_map(p, "gt", x, number(p, x, 1)), high,
                                           sweep_map(p, "square", x, NULL))
                             : NULL;
}

static const char *halve(void *user, int64_t n, const void *const *in, void *out)
{
    const float *x = in[0];
    float       *y = out;

    (void)user;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * x[i] / 2;
    return NULL;
}

static rd_expr *map_block(rd_expr *x)
{
    static const rd_fn f = {
        .size = sizeof f, .name = "halve", .arity = 1, .in = RD_F32, .out = RD_F32, .block = halve
    };

    return rd_map(x, &f);
}

static node *loops_block(program *p, node *x)
{
    return x->type == RD_F32 ? sweep_map(p, "div", sweep_map(p, "square", x, NULL), number(p, x, 2))
                             : NULL;
}

const user_code sweep_maps[] = {
    { .name = "softsign", .map = map_softsign, .loops = loops_softsign },
    { .name = "text", .map = map_text, .loops = loops_text },
    { .name = "pointer", .map = map_pointer, .loops = loops_pointer },
    { .name = "block", .map = map_block, .loops = loops_block },
};
const int sweep_n_maps = sizeof sweep_maps / sizeof *sweep_maps;

/* ---- Reducers -------------------------------------------------------------------------------- */
RD_REDUCER(span, float, float, 1, (int64_t n; float lo, hi;), (s->n = 0; s->lo = 0; s->hi = 0;),
           (
               if (s->n == 0 || x < s->lo) { s->lo = x; } if (s->n == 0 || x > s->hi) {
                   s->hi = x;
               } s->n += 1;),
           (
               if (b->n > 0 && (a->n == 0 || b->lo < a->lo)) {
                   a->lo = b->lo;
               } if (b->n > 0 && (a->n == 0 || b->hi > a->hi)) { a->hi = b->hi; } a->n += b->n;),
           (y[0] = s->hi - s->lo;))

RD_REDUCER(rms, double, double, 1, (double sum; int64_t n;), (s->sum = 0; s->n = 0;),
           (s->sum += x * x; s->n += 1;), (a->sum += b->sum; a->n += b->n;),
           (y[0] = sqrt(s->sum / (double)s->n);))

static node *loops_span(program *p, const node *r, node *x)
{
    return sweep_map(p, "sub", sweep_reduce(p, F_MAX, x, r->dims, r->keep),
                     sweep_reduce(p, F_MIN, x, r->dims, r->keep));
}

static node *loops_rms(program *p, const node *r, node *x)
{
    node *wide = sweep_cast(p, x, RD_F64);

    return sweep_map(p, "sqrt",
                     sweep_reduce(p, F_MEAN, sweep_map(p, "square", wide, NULL), r->dims, r->keep),
                     NULL);
}

const user_code sweep_reducers[] = {
    { .name = "span", .reducer = span, .type = RD_F32, .loops_fold = loops_span },
    { .name = "rms", .reducer = rms, .type = RD_F64, .loops_fold = loops_rms },
};
const int sweep_n_reducers = sizeof sweep_reducers / sizeof *sweep_reducers;

/* ---- Drawing --------------------------------------------------------------------------------- */
void sweep_draw_users(dice *d, program *p)
{
    const rd_dtype type = sweep_chance(d, 0.7) ? RD_F32 : RD_F64;
    const shape    s    = sweep_draw_shape(d, sweep_draw_count(d, p, type), 0);
    node          *x    = sweep_draw_leaf(d, p, type, &s, 0, 2);

    if (sweep_chance(d, 0.3)) {
        const user_code *u = &sweep_reducers[type == RD_F64 || sweep_chance(d, 0.4)];

        p->root[p->n_roots++] = sweep_user_fold(p, u, x, sweep_draw_dims(d, s.rank));
        return;
    }
    x = sweep_user(p, &sweep_maps[sweep_roll(d, sweep_n_maps)], x);
    if (x && sweep_chance(d, 0.5))
        x = sweep_reduce(p, sweep_chance(d, 0.5) ? F_SUM : F_MAX, x, sweep_draw_dims(d, s.rank),
                         false);
    p->root[p->n_roots++] = x;
}
