/* oracle.c - the graph, read one element at a time; every element computed is kept. */
#include "oracle.h"
#include <stdlib.h>
#include <string.h>

typedef struct binding {
    const rd_expr *input;
    const void    *data;
} binding;

struct oracle {
    oracle_value **of; /* by serial of the node: its elements in C order; type RD_AUTO: not computed
                        * yet */
    uint32_t       n;
    binding       *bound;
    int            n_bound;
    bool           outside; /* an rd_take index was, below the element asked for */
};

static oracle_value element(oracle *o, const rd_expr *x, const int64_t *index);

/* ---- Shapes ---------------------------------------------------------------------------------- */

static int64_t flat_of(const rd_expr *x, const int64_t *index)
{
    int64_t flat = 0;

    for (int a = 0; a < x->rank; a++)
        flat = flat * x->extent[a] + index[a];
    return flat;
}

static void index_of(const rd_expr *x, int64_t flat, int64_t *index)
{
    for (int a = x->rank - 1; a >= 0; a--) {
        index[a] = flat % x->extent[a];
        flat /= x->extent[a];
    }
}

static int64_t points_of(const rd_expr *x)
{
    int64_t n = 1;

    for (int a = 0; a < x->rank; a++)
        n *= x->extent[a];
    return n;
}

/* ---- Leaves and views ------------------------------------------------------------------------ */

static oracle_value leaf(const oracle *o, const rd_expr *x, const int64_t *index)
{
    const char *data   = x->as.leaf->data;
    int64_t     offset = 0;

    for (int k = 0; k < o->n_bound && !x->as.leaf->data; k++)
        if (o->bound[k].input == x)
            data = o->bound[k].data;
    for (int a = 0; a < x->rank; a++)
        offset += x->as.leaf->stride[a] * index[a];
    return oracle_load(data + offset * rd_dtype_size(x->type), x->type);
}

static oracle_value number(const rd_expr *x)
{
    const rd_word word = x->as.number->value;

    switch (rd_dtype_class(x->type)) {
    case RD_CLASS_f32: return oracle_real(x->type, word.f32, 0, 0);
    case RD_CLASS_f64: return oracle_real(x->type, word.f64, 0, 0);
    case RD_CLASS_i64: return oracle_int(x->type, word.i64);
    default: return oracle_int(x->type, word.u64);
    }
}

static oracle_value view(oracle *o, const rd_expr *x, const int64_t *index)
{
    const rd_expr *y      = x->in[0];
    const int64_t *offset = x->as.view->number, *coef = offset + y->rank;
    int64_t        at[RD_MAX_RANK];

    for (int a = 0; a < y->rank; a++) {
        at[a] = offset[a];
        for (int k = 0; k < x->rank; k++)
            at[a] += coef[a * x->rank + k] * index[k];
    }
    return element(o, y, at);
}

static oracle_value reshape(oracle *o, const rd_expr *x, const int64_t *index)
{
    int64_t at[RD_MAX_RANK];

    index_of(x->in[0], flat_of(x, index), at);
    return element(o, x->in[0], at);
}

static oracle_value take(oracle *o, const rd_expr *x, const int64_t *index)
{
    const rd_expr *y = x->in[0], *which = x->in[1];
    const int      axis  = (int)x->as.axis->axis;
    const bool     along = x->as.axis->along;
    oracle_value   k     = element(o, which, index + (along ? 0 : axis));
    int64_t        at[RD_MAX_RANK];

    if (k.unsure)
        return oracle_unsure(x->type);
    if (k.n < 0)
        k.n += y->extent[axis];
    if (k.n < 0 || k.n >= y->extent[axis]) {
        o->outside = true;
        return oracle_unsure(x->type);
    }
    for (int a = 0; a < y->rank; a++)
        at[a] = a < axis    ? index[a]
                : a == axis ? (int64_t)k.n
                            : index[along ? a : a + which->rank - 1];
    return element(o, y, at);
}

static oracle_value concat(oracle *o, const rd_expr *x, const int64_t *index)
{
    const int axis = (int)x->as.axis->axis;
    int       part = 0;
    int64_t   at[RD_MAX_RANK];

    memcpy(at, index, (size_t)x->rank * sizeof *at);
    while (at[axis] >= x->in[part]->extent[axis])
        at[axis] -= x->in[part++]->extent[axis];
    return element(o, x->in[part], at);
}

/* ---- Maps, reductions, scans ----------------------------------------------------------------- */

static oracle_value map(oracle *o, const rd_expr *x, const int64_t *index)
{
    oracle_value in[8] = { { .type = RD_AUTO } };

    for (int k = 0; k < x->n_in; k++)
        in[k] = element(o, x->in[k], index);
    return x->kind == RD_EXPR_CALL ? oracle_call(x, in) : oracle_map(x, in);
}

/* The element of x at `at` takes part as number i: added to the list.  False: not known whether it
 * does. */
static bool include(oracle *o, const rd_expr *x, const int64_t *at, int64_t i, oracle_item *list,
                    int64_t *n)
{
    const rd_expr *weights = x->n_in > 1 ? x->in[1] : NULL, *where = x->n_in > 2 ? x->in[2] : NULL;
    oracle_item    item = { .i = i, .w = { .type = RD_F64, .v = 1 } };

    if (where) {
        const oracle_value in = element(o, where, at);
        if (in.unsure)
            return false;
        if (!in.n)
            return true;
    }
    item.x = element(o, x->in[0], at);
    if (weights)
        item.w = element(o, weights, at);
    list[(*n)++] = item;
    return true;
}

/* Steps `at` through the axes of `dims` in C order; false after the last. */
static bool next_index(const rd_expr *x, uint64_t dims, int64_t *at)
{
    for (int a = x->rank - 1; a >= 0; a--) {
        if (!(dims >> a & 1))
            continue;
        if (++at[a] < x->extent[a])
            return true;
        at[a] = 0;
    }
    return false;
}

/* Is the label of an element that of a group?  1, 0, or -1: nobody knows. */
static int is_member(oracle *o, const rd_expr *x, const int64_t *at, int64_t group)
{
    oracle_value label;

    if (!rd_is_grouped(x))
        return 1;
    label = element(o, x->in[3], at);
    return label.unsure ? -1 : label.n == group;
}

static oracle_value reduce(oracle *o, const rd_expr *x, const int64_t *index)
{
    const rd_expr *y    = x->in[0];
    const uint64_t dims = x->as.fold->dims;
    int64_t        at[RD_MAX_RANK], n = 0, i = 0, count = 1;
    oracle_item   *list;
    oracle_value   out;
    bool           known = true;
    int            kept  = 0;

    for (int a = 0; a < y->rank; a++) {
        at[a] = dims >> a & 1 ? 0 : index[kept++];
        count *= dims >> a & 1 ? y->extent[a] : 1;
    }
    list = malloc((size_t)(count + 1) * sizeof *list);
    if (count > 0)
        do {
            const int member = is_member(o, x, at, rd_is_grouped(x) ? index[kept] : 0);

            known &= member >= 0 && (!member || include(o, x, at, i, list, &n));
            i++;
        } while (next_index(y, dims, at));
    out = known ? oracle_fold(x, list, n, rd_outputs_of(x) > 1 ? index[x->rank - 1] : 0)
                : oracle_unsure(x->type);
    free(list);
    return out;
}

static oracle_value scan(oracle *o, const rd_expr *x, const int64_t *index)
{
    const rd_fold_facts *fold   = x->as.fold;
    const int            axis   = __builtin_ctzll(fold->dims);
    const int64_t        extent = x->extent[axis], own = index[axis];
    oracle_item         *list = malloc((size_t)(extent + 1) * sizeof *list);
    int64_t              at[RD_MAX_RANK], n = 0;
    oracle_value         out;
    bool                 known = true;

    memcpy(at, index, (size_t)x->rank * sizeof *at);
    for (int64_t i = 0; i < extent; i++) { /* i counts in the direction of the scan */
        at[axis] = fold->reverse ? extent - 1 - i : i;
        if (at[axis] == own && fold->exclusive)
            break;
        known &= include(o, x, at, at[axis], list, &n);
        if (at[axis] == own)
            break;
    }
    out = known ? oracle_fold(x, list, n, 0) : oracle_unsure(x->type);
    free(list);
    return out;
}

static oracle_value sort(oracle *o, const rd_expr *x, const int64_t *index)
{
    const int     last = x->rank - 1;
    const int64_t n    = x->in[0]->extent[last];
    oracle_value *row  = malloc((size_t)(n + 1) * sizeof *row), out;
    int64_t       at[RD_MAX_RANK];

    memcpy(at, index, (size_t)x->rank * sizeof *at);
    for (at[last] = 0; at[last] < n; at[last]++)
        row[at[last]] = element(o, x->in[0], at);
    out = oracle_sort(x, row, n, index[last]);
    free(row);
    return out;
}

/* ---------------------------------------------------------------------------------------------- */

static oracle_value compute(oracle *o, const rd_expr *x, const int64_t *index)
{
    switch (x->kind) {
    case RD_EXPR_LEAF: return leaf(o, x, index);
    case RD_EXPR_NUMBER: return number(x);
    case RD_EXPR_COORD: return oracle_int(RD_I64, index[x->as.axis->axis]);
    case RD_EXPR_VIEW: return view(o, x, index);
    case RD_EXPR_RESHAPE: return reshape(o, x, index);
    case RD_EXPR_TAKE: return take(o, x, index);
    case RD_EXPR_CONCAT: return concat(o, x, index);
    case RD_EXPR_MAP:
    case RD_EXPR_CALL: return map(o, x, index);
    case RD_EXPR_REDUCE: return reduce(o, x, index);
    case RD_EXPR_SCAN: return scan(o, x, index);
    case RD_EXPR_SORT: return sort(o, x, index);
    case RD_EXPR_PRODUCT: break; /* test_sparse_products has these */
    case RD_EXPR_COMPLEX:
    case RD_EXPR_SPARSE:
    case RD_EXPR_LATER: break; /* what they are made of is asked for */
    }
    return oracle_unsure(x->type);
}

/* The kept elements of x. */
static oracle_value *kept(oracle *o, const rd_expr *x)
{
    if (x->serial >= o->n) {
        const uint32_t n = 2 * x->serial + 64;
        o->of            = realloc(o->of, n * sizeof(*o->of));
        memset(o->of + o->n, 0, (n - o->n) * sizeof(*o->of));
        o->n = n;
    }
    if (!o->of[x->serial])
        o->of[x->serial] = calloc((size_t)points_of(x) + 1, sizeof(oracle_value));
    return o->of[x->serial];
}

static oracle_value element(oracle *o, const rd_expr *x, const int64_t *index)
{
    const int64_t flat = flat_of(x, index);
    oracle_value  y    = kept(o, x)[flat];

    if (y.type == RD_AUTO) {
        y = compute(o, x, index);
        if (!o->outside)
            kept(o, x)[flat] = y; /* looked up again: the table may have moved */
    }
    return y;
}

oracle *oracle_new(void)
{
    return calloc(1, sizeof(oracle));
}

void oracle_free(oracle *o)
{
    if (!o)
        return;
    for (uint32_t i = 0; i < o->n; i++)
        free(o->of[i]);
    free(o->of);
    free(o->bound);
    free(o);
}

void oracle_bind(oracle *o, const rd_expr *input, const void *data)
{
    o->bound               = realloc(o->bound, (size_t)(o->n_bound + 1) * sizeof *o->bound);
    o->bound[o->n_bound++] = (binding){ input, data };
}

bool oracle_at(oracle *o, const rd_expr *x, const int64_t *index, oracle_value *out)
{
    o->outside = false;
    *out       = element(o, x, index);
    return !o->outside;
}
