/* tree.c - nodes of numbers and operators.  Each knows its type, its shape and where its values
 * lie; what would leave the type, or would let rounding decide a comparison, gives NULL. */
#include "sweep.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

node *sweep_node(program *p, node_kind kind, rd_dtype type)
{
    node *a;

    if (p->n_nodes == MOST_NODES) {
        p->overfull = true;
        return NULL;
    }
    a       = calloc(1, sizeof *a);
    a->kind = kind;
    a->type = type;
    a->id   = p->n_nodes;

    p->nodes[p->n_nodes++] = a;
    return a;
}

int64_t sweep_elements(const node *a)
{
    int64_t n = 1;

    for (int k = 0; k < a->rank; k++)
        n *= a->n[k];
    return n;
}

static bool fits(const node *a)
{
    const dtype *t = sweep_dtype(a->type);

    return a->r.hi <= t->most && a->r.lo >= (t->is_signed ? -t->most : 0);
}

node *sweep_number(program *p, double value, rd_dtype type)
{
    node *a = sweep_node(p, N_NUMBER, type);

    if (!a)
        return NULL;
    a->value = value;
    a->exact = true;
    a->r     = (range){ value, value, fabs(value) * sweep_eps(type) };
    return p->trusting || fits(a) ? a : NULL;
}

static bool broadcast(node *a, const node *b)
{
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t   n[MOST_RANK];

    for (int k = 0; k < rank; k++) {
        const int64_t x = k < rank - a->rank ? 1 : a->n[k - rank + a->rank];
        const int64_t y = k < rank - b->rank ? 1 : b->n[k - rank + b->rank];

        if (x != y && x != 1 && y != 1)
            return false;
        n[k] = x == 1 ? y : x;
    }
    a->rank = rank;
    memcpy(a->n, n, sizeof a->n);
    return true;
}

/* Do all compilers agree on the bits?  Not where a product may be contracted into a sum, nor
 * what has no type in C. */
static bool same_bits(const node *a, const op_row *o)
{
    static const char *const rounded[] = { "mul", "square", "div", "sqrt", "add", "sub" };
    const dtype             *t         = sweep_dtype(a->type);
    bool                     exact = true, arithmetic = false, product = false;

    for (int k = 0; k < a->arity; k++) {
        exact   = exact && a->in[k]->exact;
        product = product || a->in[k]->product;
    }
    for (int k = 0; k < 6; k++)
        arithmetic = arithmetic || strcmp(o->name, rounded[k]) == 0;
    if (!exact || !t->is_float || o->jumps)
        return exact;
    if (o->range_of && o->rule == OP_FLOAT && strcmp(o->name, "div") != 0 &&
        strcmp(o->name, "sqrt") != 0)
        return false;
    if (strcmp(o->name, "pow") == 0)
        return false;
    if (strcmp(o->name, "add") == 0 || strcmp(o->name, "sub") == 0)
        exact = !product;
    return exact && (!arithmetic || t->size >= 4);
}

static bool usable(const op_row *o, const node *a, const node *b)
{
    const rd_dtype compute = sweep_op_type(o, a->type, b ? b->type : a->type);

    if (!(sweep_dtype(compute)->is_float ? o->c_float : o->c_int))
        return false;
    if (o->rule == OP_LOGIC && (a->type != RD_BOOL || (b && b->type != RD_BOOL)))
        return false;
    return !o->jumps || (a->exact && (!b || b->exact));
}

node *sweep_map(program *p, const char *name, node *a, node *b)
{
    const op_row *o = sweep_op(name);
    node         *m;

    if (!a || (o->arity == 2 && !b) || (!p->trusting && !usable(o, a, b)))
        return NULL;
    m = sweep_node(p, N_MAP, sweep_op_type(o, a->type, b ? b->type : a->type));
    if (!m)
        return NULL;
    m->op    = o;
    m->arity = o->arity;
    m->in[0] = a;
    m->in[1] = b;
    m->rank  = a->rank;
    memcpy(m->n, a->n, sizeof m->n);
    if (b && !broadcast(m, b))
        return NULL;
    if (!p->trusting &&
        (!o->range_of(&a->r, b ? &b->r : NULL, sweep_eps(m->type), &m->r) || !fits(m)))
        return NULL;
    if (o->rule == OP_COMPARE || o->rule == OP_LOGIC)
        m->type = RD_BOOL;
    m->exact = same_bits(m, o);
    m->product =
        strcmp(name, "mul") == 0 || strcmp(name, "square") == 0 || (o->arity == 1 && a->product);
    return m;
}

node *sweep_where(program *p, node *cond, node *a, node *b)
{
    node *m;

    if (!cond || !a || !b || cond->type != RD_BOOL)
        return NULL;
    m = sweep_node(p, N_MAP, sweep_promote(a->type, b->type));
    if (!m)
        return NULL;
    m->op    = sweep_op("where");
    m->arity = 3;
    m->in[0] = cond;
    m->in[1] = a;
    m->in[2] = b;
    m->rank  = cond->rank;
    memcpy(m->n, cond->n, sizeof m->n);
    if (!broadcast(m, a) || !broadcast(m, b))
        return NULL;
    m->r     = (range){ fmin(a->r.lo, b->r.lo), fmax(a->r.hi, b->r.hi), fmax(a->r.err, b->r.err) };
    m->exact = cond->exact && a->exact && b->exact;
    return fits(m) ? m : NULL;
}

node *sweep_cast(program *p, node *a, rd_dtype type)
{
    const dtype *to = sweep_dtype(type);
    node        *m;

    if (!a || type == a->type)
        return a;
    if (sweep_dtype(a->type)->is_float && !to->is_float && (!a->exact || type == RD_BOOL))
        return NULL;
    m = sweep_node(p, N_CAST, type);
    if (!m)
        return NULL;
    m->arity = 1;
    m->in[0] = a;
    m->rank  = a->rank;
    memcpy(m->n, a->n, sizeof m->n);
    m->r     = (range){ a->r.lo, a->r.hi, a->r.err + to->eps * fmax(fabs(a->r.lo), fabs(a->r.hi)) };
    m->exact = a->exact && (!to->is_float || to->size >= 4);
    return type == RD_BOOL || fits(m) ? m : NULL;
}

node *sweep_coord(program *p, node *a, int axis)
{
    node *m = a ? sweep_node(p, N_COORD, RD_I64) : NULL;

    if (!m)
        return NULL;
    m->axis  = axis;
    m->in[0] = a;
    m->rank  = a->rank;
    for (int k = 0; k < a->rank; k++)
        m->n[k] = k == axis ? a->n[k] : 1;
    m->r     = (range){ 0, (double)a->n[axis], 0 };
    m->exact = true;
    return m;
}

node *sweep_user(program *p, const user_code *user, node *a)
{
    node *loops = a ? user->loops(p, a) : NULL, *m;

    if (!loops)
        return NULL;
    m = sweep_node(p, N_USER, loops->type);
    if (!m)
        return NULL;
    m->user  = user;
    m->arity = 2; /* the second is how loops say it */
    m->in[0] = a;
    m->in[1] = loops;
    m->rank  = a->rank;
    m->r     = loops->r;
    memcpy(m->n, a->n, sizeof m->n);
    return m;
}
