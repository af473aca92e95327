/* reduce_rules.c - derivatives of reductions: the rows RD_REDUCER_DERIVATIVE of core/reducers.def.
 *
 * A row says how the result changes with one element, as text that is linear in the change g.  In
 * reverse mode g is the cotangent of the element's result, and the text is what the element gets:
 * a map, so nothing is stored.  In forward mode g is the element's tangent, and the result's
 * tangent is the sum of the texts over the reduced axes.
 *
 *     sum over j of exp(x[i, j])   cotangent of x[i, j]:  exp(x[i, j]) * g[i] */
#include "expr/maps.h"
#include "expr/origin.h"
#include "grad/derivative.h"
#include <string.h>

/* The texts of a reducer. */
typedef struct row {
    const char *of_x, *of_w;
} row;

static const row rows[RD_N_REDUCERS] = {
#define RD_REDUCER_DERIVATIVE(name, of_x, of_w) [RD_RED_##name] = { of_x, of_w },
#include "core/reducers.def"
};

/* A reduction whose derivative is being made. Its operands, without origins (first indices of
 * axes), have one shape. */
typedef struct reduction {
    rd_grad_step        *s;
    const rd_expr       *y;
    const rd_fold_facts *fold;
    rd_expr             *x, *w, *mask, *label; /* w, mask, label: NULL if there is none */
} reduction;

/* Reads the operands of the reduction s->y into *r: elements, weights, mask, label. False after
 * a failure. s->y->in may have fewer than 4: the others are NULL. rd_from_0() takes their
 * origins away. */
static bool begin(reduction *r, rd_grad_step *s)
{
    rd_expr *in[4] = { NULL };

    memcpy(in, s->y->in, (size_t)s->y->n_in * sizeof *in);
    if (!rd_from_0(4, in))
        return false;
    *r = (reduction){ s, s->y, s->y->as.fold, in[0], in[1], in[2], in[3] };
    return true;
}

/* True if axis a of the operand is reduced; dims has a bit for each axis. */
static bool is_reduced(const reduction *r, int a)
{
    return r->fold->dims >> a & 1;
}

/* ---- Reductions beside it -------------------------------------------------------------------- */
/* Returns a reduction of x by another reducer, over the same axes, elements and groups as the
 * one whose derivative is made. w: weights; NULL: none. NULL after a failure. Of the facts,
 * `law` belongs to the new reducer; `ddof` and `identity` are of the old one, so they are
 * cleared. */
static rd_expr *beside(const reduction *r, rd_reducer_id reducer, rd_expr *x, rd_expr *w,
                       rd_dtype type)
{
    rd_fold_facts  facts = *r->fold;
    rd_expr *const in[]  = { x, w, r->mask, r->label };

    if (!x)
        return NULL;
    facts.reducer  = (int32_t)reducer;
    facts.law      = rd_reducer_table[reducer].law;
    facts.ddof     = 0;
    facts.identity = 0;
    return rd_node(&(rd_expr){ .ctx    = x->ctx,
                               .kind   = RD_EXPR_REDUCE,
                               .type   = type,
                               .rank   = r->y->rank,
                               .n_in   = r->y->n_in,
                               .extent = r->y->extent,
                               .in     = in },
                   &facts, sizeof facts);
}

/* The sum of x over the same elements and groups as the reduction's; NULL stays NULL. */
static rd_expr *sum_beside(const reduction *r, rd_expr *x)
{
    return beside(r, RD_RED_sum, x, /*w=*/NULL, x ? x->type : RD_F64);
}

/* ---- Results beside elements ----------------------------------------------------------------- */
/* Returns the label of each element as a place in the result; labels outside of all groups
 * become 0, so that they can be read by. Their elements are masked elsewhere. */
static rd_expr *safe_label(const reduction *r)
{
    return rd_grad_text(
        r->s, "l >= 0 && l < n ? l : 0", "ln",
        (rd_expr *const[]){ r->label, rd_int(r->s->ctx, r->y->extent[r->y->rank - 1]) });
}

/* Repeats a result y for each element that it was made of, so that it has the shape of x: the
 * reduced axes come back (broadcast). In a group-by, each element reads the result of its group,
 * by its label. NULL after a failure. With labels, the group is the last axis of y, so y is
 * repeated to x's shape with the groups behind it, and the label chooses one of them. */
static rd_expr *spread(const reduction *r, rd_expr *y)
{
    int64_t  extent[RD_MAX_RANK + 1];
    rd_expr *label;

    for (int a = 0; y && a < r->x->rank; a++)
        if (is_reduced(r, a))
            y = rd_expand(y, a);
    if (!y || !r->label)
        return y ? rd_broadcast_to(y, r->x->rank, r->x->extent, r->s->call) : NULL;
    memcpy(extent, r->x->extent, (size_t)r->x->rank * sizeof *extent);
    extent[r->x->rank] = y->extent[r->x->rank];
    y                  = rd_broadcast_to(y, r->x->rank + 1, extent, r->s->call);
    label              = safe_label(r);
    y = label ? rd_take_places_along(y, r->x->rank, rd_expand(label, r->x->rank)) : NULL;
    return y ? rd_select_place(y, r->x->rank, 0) : NULL;
}

/* Returns the place of each element among the reduced ones, counted in C order over the reduced
 * axes, as argmin counts. NULL after a failure. `stride` is the product of the extents of the
 * reduced axes behind a. */
static rd_expr *flat_place(const reduction *r)
{
    rd_expr *place  = rd_int(r->s->ctx, 0);
    int64_t  stride = 1;

    for (int a = r->x->rank - 1; place && a >= 0; a--)
        if (is_reduced(r, a)) {
            place = rd_grad_text(
                r->s, "p + s * i", "psi",
                (rd_expr *const[]){ place, rd_int(r->s->ctx, stride), rd_places(r->x, a) });
            stride *= r->x->extent[a];
        }
    return place ? rd_broadcast_to(rd_cast_to(place, RD_I64), r->x->rank, r->x->extent, r->s->call)
                 : NULL;
}

/* ---- Names of the texts ---------------------------------------------------------------------- */
/* Returns the number 1 in x's type. */
static rd_expr *one(const reduction *r)
{
    return rd_number(r->s->ctx, r->x->type, rd_word_from_int(1, r->x->type));
}

/* Returns n, by which a mean divides: the sum of weights, the number of elements that a mask or
 * labels let take part, or the known number of reduced elements. `weighted`: the reduction's own
 * weights r->w, if it has any, count. */
static rd_expr *total_weight(const reduction *r, bool weighted)
{
    int64_t n = 1;

    if (weighted && r->w)
        return sum_beside(r, r->w);
    if (r->mask || r->label)
        return sum_beside(r, rd_broadcast_to(one(r), r->x->rank, r->x->extent, r->s->call));
    for (int a = 0; a < r->x->rank; a++)
        n *= is_reduced(r, a) ? r->x->extent[a] : 1;
    return rd_number(r->s->ctx, r->x->type, rd_word_from_int(n, r->x->type));
}

/* Returns the mean of x over the reduced elements; `weighted`: by the reduction's weights. A
 * covariance has a second operand in their place, so its means are not weighted. */
static rd_expr *mean_of(const reduction *r, rd_expr *x, bool weighted)
{
    rd_expr *const n = total_weight(r, weighted);
    rd_expr *const sum =
        sum_beside(r, weighted && r->w ? map_2(RD_OP_mul, r->s->call, x, r->w) : x);

    return map_2(RD_OP_div, r->s->call, sum, n);
}

/* Returns the standard deviation of the reduced elements, with the divisor n. */
static rd_expr *deviation(const reduction *r)
{
    return map_1(RD_OP_sqrt, r->s->call, beside(r, RD_RED_moments, r->x, r->w, r->y->type));
}

/* Returns the expression of a letter in the text of a reducer's row: x, w, g, or a reduction
 * such as m, the mean, repeated to x's shape; or a number. reducers.def lists the letters. NULL
 * after a failure. p is ddof; i the flat place of the element; e the element standardised; n the
 * total weight; m and u the means of x and of w; d the deviation and s the skewness; q the place
 * of the extreme; z how many zeros there are; r the product of the others. */
static rd_expr *named(const reduction *r, char name, rd_expr *g)
{
    const bool     weighted = r->fold->reducer != RD_RED_covariance;
    rd_expr *const x        = r->x;
    rd_expr       *y;

    switch (name) {
    case 'x': return x;
    case 'w': return r->w ? r->w : one(r);
    case 'g': return g;
    case 'p': return rd_num(r->s->ctx, r->fold->ddof);
    case 'i': return flat_place(r);
    case 'e':
        return rd_grad_text(r->s, "(x - m) / d", "xmd",
                            (rd_expr *const[]){ x, named(r, 'm', g), named(r, 'd', g) });
    case 'y': y = r->s->y; break;
    case 'n': y = total_weight(r, weighted); break;
    case 'm': y = mean_of(r, x, weighted); break;
    case 'u': y = mean_of(r, r->w, /*weighted=*/false); break;
    case 'd': y = deviation(r); break;
    case 's': y = beside(r, RD_RED_skewness, x, r->w, r->y->type); break;
    case 'q':
        y = beside(r, r->fold->reducer == RD_RED_min ? RD_RED_argmin : RD_RED_argmax, x, /*w=*/NULL,
                   RD_I64);
        break;
    case 'z':
        y = sum_beside(r, rd_cast_to(rd_grad_text(r->s, "x == 0 ? 1 : 0", "x", &x), x->type));
        break;
    default:
        y = beside(r, RD_RED_prod, rd_grad_text(r->s, "x == 0 ? 1 : x", "x", &x), /*w=*/NULL,
                   x->type);
    }
    y = rd_with_origins(y, /*origin=*/NULL);
    return y && y->rank == r->y->rank && y->kind != RD_EXPR_NUMBER ? spread(r, y) : y;
}

/* True if the letter stands alone in the text, as a name and not in a longer one. Behind it no
 * "(" may follow. */
static bool has_name(const char *text, char name)
{
    for (const char *c = text; *c; c++) {
        const bool begins = c == text || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_.", c[-1]);

        if (*c == name && begins &&
            (!c[1] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_(", c[1])))
            return true;
    }
    return false;
}

/* Returns the text of a reducer's row, applied to g, which has x's shape: the change of the
 * result by each element. Reductions are made only for letters that the text has. It is 0 where
 * an element takes no part, by mask or label. NULL after a failure. `all` has every letter that
 * a row may use; `name` and `operand` are those that this text does. */
static rd_expr *change_by(const reduction *r, const char *text, rd_expr *g)
{
    static const char all[] = "xwygnmdesupiqzr";
    char              name[sizeof all];
    rd_expr          *operand[sizeof all], *change;
    int               n = 0;

    for (const char *c = all; *c; c++)
        if (has_name(text, *c)) {
            if (!(operand[n] = named(r, *c, g)))
                return NULL;
            name[n++] = *c;
        }
    name[n] = '\0';
    change  = rd_grad_text(r->s, text, name, operand);
    change  = change ? rd_broadcast_to(change, r->x->rank, r->x->extent, r->s->call) : NULL;
    if (r->mask)
        change = rd_grad_text(r->s, "c ? y : 0", "cy", (rd_expr *const[]){ r->mask, change });
    if (r->label)
        change =
            rd_grad_text(r->s, "l >= 0 && l < n ? y : 0", "lny",
                         (rd_expr *const[]){
                             r->label, rd_int(r->s->ctx, r->y->extent[r->y->rank - 1]), change });
    return change;
}

/* Returns the text of the reducer's row for operand k: 0, the elements, or 1, the weights. NULL
 * after recording that there is none. A reducer of the caller is C code (fold->user); his name
 * for it is in the message. */
static const char *text_of(const reduction *r, int k)
{
    const row *const  found = &rows[r->fold->reducer];
    const char *const text  = k == 0 ? found->of_x : k == 1 ? found->of_w : NULL;

    if (text)
        return text;
    if (r->fold->user)
        return rd_fail(r->s->ctx, RD_ERR_ARGUMENT,
                       "%s: the reducer %s is C code, of which no derivative is known", r->s->call,
                       r->fold->user->name ? r->fold->user->name : "of a reduction");
    return rd_fail(r->s->ctx, RD_ERR_ARGUMENT, "%s: the reduction %s has no derivative yet",
                   r->s->call, rd_reducer_table[r->fold->reducer].name);
}

/* ---- The rule -------------------------------------------------------------------------------- */
/* Reverse mode: sets s->change[k] to what the reduction adds to the cotangent of its elements (k =
 * 0) and weights (1), the gradient of the scalar result with respect to them. The result's own
 * cotangent, s->g, is repeated for each element, and the text of the reducer's row applied to
 * it. False after a failure. A reducer of the caller has no text: text_of() then records that,
 * and the call fails. */
static bool pull(rd_grad_step *s)
{
    reduction   r;
    rd_expr    *g;
    const char *text;

    if (!begin(&r, s))
        return false;
    if (r.fold->user)
        return text_of(&r, 0) != NULL;
    g = spread(&r, s->g);
    for (int k = 0; k < 2; k++)
        if (s->depends[k] &&
            (!(text = text_of(&r, k)) || !g || !(s->change[k] = change_by(&r, text, g))))
            return false;
    return true;
}

/* Forward mode: returns the tangent of the result, how it changes along the direction: the sum
 * over the reduced axes of its changes by each element's tangent and by each weight's. NULL
 * after a failure. r is the reduction with its operands, and s->change[k] the tangent of its
 * elements (0) and weights (1); NULL: no change. */
static rd_expr *push(rd_grad_step *s)
{
    reduction   r;
    rd_expr    *sum = NULL;
    const char *text;

    if (!begin(&r, s))
        return NULL;
    for (int k = 0; k < 2; k++) {
        rd_expr *part;

        if (!s->change[k])
            continue;
        text = text_of(&r, k);
        part = text ? sum_beside(&r, change_by(&r, text, s->change[k])) : NULL;
        sum  = part && sum ? map_2(RD_OP_add, s->call, sum, part) : part;
        if (!sum)
            return NULL;
    }
    return sum;
}

const rd_grad_rule rd_reduce_grad = { pull, push };
