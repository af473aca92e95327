/* contract.c - tensor contraction: sums of products by labels (einsum), by pairs of operands in
 * an order of least work, or of all operands in one pass.
 *
 *     ab,bc,cd->ad  ->  (ab,bc->ac), (ac,cd->ad)
 *
 * A step consists of views, one product and one sum.  The evaluator treats it as any user's
 * expression: large ones go to a BLAS.  With three operands and more, pairs are chosen greedily,
 * as opt_einsum does (Smith and Gray, 2018).  One order takes the pair whose result needs the
 * least memory beyond what it replaces, the other the pair of least work.  The order of less
 * total work is taken.  One pass over all operands is taken if it is no more work.
 *
 * A *term* is an operand with a *label* for each of its axes, a small number; axes of one label go
 * together.  A set of labels is a word with one bit for each.
 *
 * Words. An expression is real if it is not complex. The origin of an axis is its first index, 0
 * unless the caller says another. The fill of a sparse array is its value where nothing is
 * stored. */
#include "expr/contract.h"
#include "core/row_product.h"
#include "expr/complex.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "expr/sparse.h"
#include "expr/affine.h"
#include <math.h>
#include <string.h>

/* A contraction on its way from n terms to one. */
typedef struct contraction {
    const char *call;                  /* for failures */
    int         n;                     /* terms left */
    rd_term    *term;                  /* the caller's, overwritten */
    rd_labels   out;                   /* labels of the result */
    int64_t     extent[RD_MAX_LABELS]; /* of each label */
    int64_t     origin[RD_MAX_LABELS]; /* first index of each label */
    rd_dtype    type;                  /* of products and sums */
} contraction;

/* The set that holds one label (a small number that names an axis, as a letter of an einsum). */
static rd_labels label_bit(int label)
{
    return (rd_labels)1 << label;
}

/* The set of labels of a term (an operand with a label for each axis). */
static rd_labels labels_of(const rd_term *t)
{
    rd_labels set = 0;

    for (int a = 0; a < t->x->rank; a++)
        set |= label_bit(t->label[a]);
    return set;
}

/* The product of the extents of a set of labels: the number of elements of an array with these
 * axes, as a double. */
static double points(const contraction *c, rd_labels set)
{
    double n = 1;

    for (; set; set &= set - 1)
        n *= (double)c->extent[__builtin_ctzll(set)];
    return n;
}

/* Lists the labels of a set, lowest first; returns their number. */
static int list_labels(rd_labels set, int8_t list[RD_MAX_LABELS])
{
    int n = 0;

    for (; set; set &= set - 1)
        list[n++] = (int8_t)__builtin_ctzll(set);
    return n;
}

/* ---- One step -------------------------------------------------------------------------------- */
/* Views the operand of t with the axes of `list`, labels in this order.  It is broadcast along
 * labels that it lacks, or has with extent 1.  A label that it has twice takes the diagonal. */
static rd_expr *view_along(const contraction *c, const rd_term *t, int n, const int8_t *list)
{
    rd_affine v = { 0 };

    for (int k = 0; k < n; k++) {
        const int place = v.rank;

        rd_affine_axis(&v, c->extent[list[k]], /*a=*/-1, /*coef=*/0);
        if (place < RD_MAX_RANK)
            v.origin[place] = c->origin[list[k]];
        for (int a = 0; a < t->x->rank && place < RD_MAX_RANK; a++)
            if (t->label[a] == list[k] && t->x->extent[a] == c->extent[list[k]])
                rd_affine_also(&v, a, place, /*coef=*/1);
    }
    return rd_affine_view(t->x, &v, c->call);
}

/* Sums over the last n axes; bools by `any`.  Real sums are accumulated in the type of the
 * products. */
static rd_expr *sum_last(const contraction *c, rd_expr *x, int n)
{
    rd_reduce_opts opts = { .size = sizeof opts };

    if (rd_dtype_is_real(c->type)) /* .type of complex sums is not given */
        opts.type = c->type;

    for (int k = 0; k < n; k++)
        opts.dims.axis[opts.dims.n++] = -1 - k;
    return x && n > 0 ? rd_reduce_name(x, c->type == RD_BOOL ? "any" : "sum", &opts) : x;
}

/* Returns the sparse matrix of t with axes labelled `first` and `second`, transposed if necessary.
 * NULL if it is no sparse matrix or has other labels. */
static rd_expr *matrix_of(const rd_term *t, int8_t first, int8_t second)
{
    if (t->x->rank != 2 || !(rd_has_pattern(t->x) || rd_is_later(t->x)))
        return NULL;
    if (t->label[0] == first && t->label[1] == second)
        return rd_listed(t->x);
    return t->label[0] == second && t->label[1] == first ? rd_permute(t->x, RD_INDEX(1, 0)) : NULL;
}

/* Makes the product of two sparse matrices with axes list[0], list[1], summed over list[2]: a LATER
 * node, whose stored positions are computed on demand.  NULL if the terms are something else, or if
 * rdim cannot compute such a product.  Bools are products over (any, and). */
static rd_expr *sparse_product(const contraction *c, const rd_term *terms, const int8_t *list)
{
    const bool    truth   = c->type == RD_BOOL;
    const rd_op   op      = truth ? RD_ROW_AND : RD_OP_mul;
    const int32_t reducer = truth ? RD_ROW_ANY : RD_RED_sum;

    for (int k = 0; k < 2; k++) {
        rd_expr *const a = matrix_of(&terms[k], list[0], list[2]);
        rd_expr *const b = matrix_of(&terms[1 - k], list[2], list[1]);

        if (a && b && rd_multiplies_rows(a, b, (rd_reducer_id)reducer, op))
            return rd_product_later(a, b, (rd_reducer_id)reducer, op);
    }
    return NULL;
}

/* The real or imaginary part of a term, in the type of parts; x is NULL for the imaginary part of a
 * real operand. */
static rd_term part_of(const contraction *c, const rd_term *t, bool imaginary)
{
    rd_term part = *t;

    part.x = !imaginary ? rd_real(t->x) : rd_is_complex(t->x) ? t->x->in[1] : NULL;
    part.x = part.x ? rd_cast_to(part.x, rd_dtype_part(c->type)) : NULL;
    return part;
}

/* Makes the product of complex sparse matrices from up to four products of their parts: y[a][b] has
 * part a of the first and part b of the second (0 real, 1 imaginary).  A real operand has no
 * imaginary part.  NULL: it is no sparse product. */
static rd_expr *complex_sparse_product(const contraction *c, const rd_term *terms,
                                       const int8_t *list)
{
    contraction real       = *c;
    rd_expr    *y[2][2]    = { { NULL } };
    bool        all_made   = true;
    rd_term     part[2][2] = { { part_of(c, &terms[0], /*imaginary=*/false),
                                 part_of(c, &terms[0], true) },
                               { part_of(c, &terms[1], false), part_of(c, &terms[1], true) } };

    real.type = rd_dtype_part(c->type);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2 && all_made; b++) {
            const rd_term factors[] = { part[0][a], part[1][b] };

            if (factors[0].x && factors[1].x)
                all_made = (y[a][b] = sparse_product(&real, factors, list));
        }
    if (!all_made)
        return NULL;
    rd_expr *const re = y[1][1] ? map_2(RD_OP_sub, c->call, y[0][0], y[1][1]) : y[0][0];
    rd_expr       *im = y[0][1] && y[1][0] ? map_2(RD_OP_add, c->call, y[0][1], y[1][0])
                        : y[0][1]          ? y[0][1]
                                           : y[1][0];
    return rd_complex_of(re, im, c->call);
}

/* Makes the product of terms with axes list[0..n_kept), summed over the labels list[n_kept..n).
 * Two sparse matrices become a product of their own; anything else is broadcast, multiplied and
 * summed. */
static rd_expr *sum_product(const contraction *c, int n_terms, const rd_term *terms, int n_kept,
                            int n, const int8_t *list)
{
    const rd_op op = c->type == RD_BOOL ? RD_OP_and : RD_OP_mul;
    rd_expr    *y  = NULL;

    if (n_terms == 2 && n_kept == 2 && n == 3)
        y = rd_dtype_is_complex(c->type) ? complex_sparse_product(c, terms, list)
                                         : sparse_product(c, terms, list);
    if (y || rd_error(terms[0].x->ctx) != RD_OK)
        return y;
    for (int k = 0; k < n_terms; k++) {
        rd_expr *x = view_along(c, &terms[k], n, list);

        y = k == 0 ? x : rd_map_op(op, c->call, 2, (rd_expr *const[]){ y, x });
        if (!y)
            return NULL;
    }
    return sum_last(c, y, n - n_kept);
}

/* Contracts terms to one: multiplies them and sums over all their labels that are not in `kept`.
 * Its x is NULL after a failure. */
static rd_term contract_terms(const contraction *c, int n_terms, const rd_term *terms,
                              rd_labels kept)
{
    int8_t    list[RD_MAX_LABELS];
    rd_labels all = 0;
    rd_term   y   = { NULL, { 0 } };

    for (int k = 0; k < n_terms; k++)
        all |= labels_of(&terms[k]);
    const int n_kept = list_labels(all & kept, list),
              n      = n_kept + list_labels(all & ~kept, list + n_kept);

    y.x = sum_product(c, n_terms, terms, n_kept, n, list);
    for (int a = 0; y.x && a < y.x->rank; a++)
        y.label[a] = list[a];
    return y;
}

/* ---- Orders ---------------------------------------------------------------------------------- */
/* The labels that are still needed after terms i and j are contracted: those of the result and of
 * all other terms. set[k] has the labels of term k of n. */
static rd_labels needed_labels(const contraction *c, const rd_labels *set, int n, int i, int j)
{
    rd_labels needed = c->out;

    for (int k = 0; k < n; k++)
        if (k != i && k != j)
            needed |= set[k];
    return needed;
}

/* The quantity that the greedy choice minimises. */
typedef enum rule { LEAST_MEMORY, LEAST_WORK } rule;

/* Two terms to contract, and what that costs. */
typedef struct pair {
    int    i, j;
    double work;   /* multiplications, plus stored elements of the result */
    double memory; /* elements of the result, minus those of both operands */
} pair;

/* Estimates work and memory of contracting terms i and j; set[k] has the labels of term k of n.
 * The work is a multiplication for each index of both, and a store for each of the result. */
static pair pair_of(const contraction *c, const rd_labels *set, int n, int i, int j)
{
    const rd_labels both = set[i] | set[j], kept = both & needed_labels(c, set, n, i, j);
    const double    size = points(c, kept);

    return (pair){ i, j, points(c, both) + size, size - points(c, set[i]) - points(c, set[j]) };
}

/* True if contracting pair a is better than pair b by the rule: less memory, or less work.  Ties
 * are broken by the other quantity. */
static bool is_better(const pair *a, const pair *b, rule by)
{
    const double memory = a->memory - b->memory, work = a->work - b->work;

    return by == LEAST_MEMORY ? memory < 0 || (memory == 0 && work < 0)
                              : work < 0 || (work == 0 && memory < 0);
}

/* Chooses the best pair of terms to contract next by the rule, the least work or the least memory.
 * Pairs without a common label (outer products) come last. */
static pair best_pair(const contraction *c, const rd_labels *set, int n, rule by)
{
    bool common = set[0] & set[1]; /* the best pair so far has a common label */
    pair best   = pair_of(c, set, n, 0, 1);

    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const pair p    = pair_of(c, set, n, i, j);
            const bool meet = set[i] & set[j];

            if (meet == common ? is_better(&p, &best, by) : meet) {
                best   = p;
                common = meet;
            }
        }
    return best;
}

/* Notes in the n label sets that a pair was contracted: term i gets the labels of the result,
 * `made`, and term j is removed. */
static void replace_pair(rd_labels *set, int n, const pair *p, rd_labels made)
{
    set[p->i] = made;
    memmove(set + p->j, set + p->j + 1, (size_t)(n - p->j - 1) * sizeof *set);
}

/* The total work of contracting pairs in greedy order by a rule, without doing it.  It overwrites
 * the label sets. */
static double work_by_pairs(const contraction *c, rd_labels *set, rule by)
{
    double work = 0;

    for (int n = c->n; n > 1; n--) {
        const pair p = best_pair(c, set, n, by);

        work += p.work;
        replace_pair(set, n, &p, (set[p.i] | set[p.j]) & needed_labels(c, set, n, p.i, p.j));
    }
    return work;
}

/* Contracts the best pair by the rule (the least work or memory) again and again, until two terms
 * are left.  False after a failure. */
static bool contract_pairs(contraction *c, rd_labels *set, rule by)
{
    for (; c->n > 2; c->n--) {
        const pair      p    = best_pair(c, set, c->n, by);
        const rd_labels kept = needed_labels(c, set, c->n, p.i, p.j);
        const rd_term   y = contract_terms(c, 2, (rd_term[]){ c->term[p.i], c->term[p.j] }, kept);

        if (!y.x)
            return false;
        replace_pair(set, c->n, &p, labels_of(&y));
        c->term[p.i] = y;
        memmove(c->term + p.j, c->term + p.j + 1, (size_t)(c->n - p.j - 1) * sizeof *c->term);
    }
    return true;
}

/* Writes the set of labels of each term; returns their union. */
static rd_labels label_sets(const contraction *c, rd_labels *set)
{
    rd_labels all = 0;

    for (int k = 0; k < c->n; k++)
        all |= set[k] = labels_of(&c->term[k]);
    return all;
}

/* Contracts pairs in the cheaper of two greedy orders (the least work or memory next), if that is
 * less work than one pass over all terms (`at_once`).  It does so, too, if there are too many
 * labels for the axes of one expression.  `set` is scratch for the label sets: each estimate uses
 * it up.  False after a failure. */
static bool reduce_terms_in(contraction *c, rd_labels *set)
{
    const rd_labels all     = label_sets(c, set);
    const double    at_once = points(c, all) * (c->n - 1),
                 by_memory  = work_by_pairs(c, set, LEAST_MEMORY);

    label_sets(c, set);
    const double by_work = work_by_pairs(c, set, LEAST_WORK);

    if (fmin(by_memory, by_work) >= at_once && __builtin_popcountll(all) <= RD_MAX_RANK)
        return true;
    label_sets(c, set);
    return contract_pairs(c, set, by_work < by_memory ? LEAST_WORK : LEAST_MEMORY);
}

/* Contracts pairs of more than two terms, if that is less work than one pass.  False after a
 * failure. */
static bool reduce_terms(contraction *c)
{
    rd_ctx    *ctx = c->term[0].x->ctx;
    rd_labels *set = c->n > 2 ? rd_alloc(ctx, c->n * (int64_t)sizeof *set) : NULL;
    const bool ok  = c->n <= 2 || (set && reduce_terms_in(c, set));

    rd_free(ctx, set);
    return ok;
}

/* Sums each term over the labels that no other term and not the result has, before any product.
 * False after a failure. */
static bool sum_single_terms(contraction *c)
{
    for (int k = 0; c->n > 1 && k < c->n; k++) {
        rd_labels others = c->out;

        for (int i = 0; i < c->n; i++)
            if (i != k)
                others |= labels_of(&c->term[i]);
        if (!(labels_of(&c->term[k]) & ~others))
            continue;
        c->term[k] = contract_terms(c, 1, &c->term[k], others);
        if (!c->term[k].x)
            return false;
    }
    return true;
}

/* ---- Dense factors of sparse matrices -------------------------------------------------------- */
/* True if the term is sparse without a fill (nothing is at positions that are not stored), has each
 * of its labels once, and does not repeat along any.  Its stored elements can then be multiplied by
 * dense factors. */
static bool can_scale(const contraction *c, const rd_term *t)
{
    bool can = rd_has_pattern(t->x) && !rd_fill_of(t->x) &&
               __builtin_popcountll(labels_of(t)) == t->x->rank;

    for (int a = 0; can && a < t->x->rank; a++)
        can = t->x->extent[a] == c->extent[(unsigned char)t->label[a]];
    return can;
}

/* Returns which of the two sparse terms s[] a dense term k can be multiplied into: one that has all
 * its labels, the smaller of both. -1 if term k is sparse, or if neither has all of its labels. */
static int scaled_term(const contraction *c, int k, const int s[2])
{
    const rd_labels own   = labels_of(&c->term[k]);
    int             found = -1;

    for (int i = 0; i < 2 && !rd_is_sparse(c->term[k].x); i++)
        if (!(own & ~labels_of(&c->term[s[i]])) &&
            (found < 0 ||
             points(c, labels_of(&c->term[s[i]])) < points(c, labels_of(&c->term[found]))))
            found = s[i];
    return found;
}

/* True if the terms are a product of two sparse matrices, summed over one label, and dense factors
 * of their elements. s[] gets the numbers of the two matrices.  Their label sets a and b have one
 * in common, and the others are the result's. */
static bool is_scaled_product(const contraction *c, int s[2])
{
    int n = 0;

    for (int k = 0; k < c->n; k++)
        if (can_scale(c, &c->term[k]) && c->term[k].x->rank == 2 && n++ < 2)
            s[n - 1] = k;
    if (n != 2 || c->n < 3)
        return false;
    const rd_labels a = labels_of(&c->term[s[0]]), b = labels_of(&c->term[s[1]]);
    bool            ok = a != b && (a & b) && (a ^ b) == c->out;

    for (int k = 0; k < c->n; k++)
        ok &= k == s[0] || k == s[1] || scaled_term(c, k, s) >= 0;
    return ok;
}

/* Multiplies dense factors into the stored elements of two sparse matrices, and leaves these two
 * terms.  Otherwise one pass over all terms would need elements at positions that are not stored.
 * Other contractions stay as they are.  False after a failure. */
static bool scale_stored(contraction *c)
{
    const rd_op op = c->type == RD_BOOL ? RD_OP_and : RD_OP_mul;
    int         s[2];

    if (!is_scaled_product(c, s))
        return true;
    for (int k = 0; k < c->n; k++)
        if (k != s[0] && k != s[1]) {
            rd_term *const to = &c->term[scaled_term(c, k, s)];
            rd_expr *const by = view_along(c, &c->term[k], to->x->rank, to->label);

            to->x = by ? rd_map_op(op, c->call, 2, (rd_expr *const[]){ to->x, by }) : NULL;
            if (!to->x)
                return false;
        }
    const rd_term left[] = { c->term[s[0]], c->term[s[1]] };

    memcpy(c->term, left, sizeof left);
    c->n = 2;
    return true;
}

/* ---- The whole contraction ------------------------------------------------------------------- */
/* The common type of all terms.  Floats are promoted first, as in NumPy: f32 beside i16 and u16
 * stays f32, though these alone promote to i32, which with f32 gives f64. */
static rd_dtype common_type(const contraction *c)
{
    rd_dtype type = RD_AUTO;

    for (int floats = 1; floats >= 0; floats--)
        for (int k = 0; k < c->n; k++) {
            const rd_dtype own = c->term[k].x->type;

            if ((rd_dtype_kind(own) >= RD_KIND_FLOAT) == floats)
                type = type == RD_AUTO ? own : rd_dtype_promote(type, own);
        }
    return type;
}

/* Casts all terms to the type of the products, which is f32 for narrow floats; *natural becomes the
 * type of the result.  False after a failure. */
static bool find_type(contraction *c, rd_dtype *natural)
{
    const rd_dtype type = common_type(c);

    *natural = type;
    /* products in halves would be rounded */
    c->type = rd_dtype_is_narrow_float(type) ? RD_F32 : type;
    for (int k = 0; k < c->n; k++)
        if (!(c->term[k].x = rd_cast_to(c->term[k].x, c->type)))
            return false;
    return true;
}

/* Records that axis a of operand k begins at another index (origin) than axes of the same label l
 * before it; returns false. */
static bool fail_origins(const contraction *c, int k, int a, int l)
{
    const rd_expr *const x = c->term[k].x;

    rd_fail(x->ctx, RD_ERR_SHAPE,
            "%s: axis %d of operand %d begins at %lld, and one that it goes with at %lld; "
            "rd_reindex() moves them",
            c->call, a, k, (long long)rd_origin(x, a), (long long)c->origin[l]);
    return false;
}

/* Finds extent and origin (first index) of each label.  Axes of one element broadcast and fit any
 * origin; if all axes of a label have one element, they give its origin.  False after recording
 * that origins differ. */
static bool find_extents(contraction *c)
{
    bool known[RD_MAX_LABELS] = { false };

    for (int l = 0; l < RD_MAX_LABELS; l++)
        c->extent[l] = 1;
    for (int k = 0; k < c->n; k++)
        for (int a = 0; a < c->term[k].x->rank; a++) {
            const rd_expr *x = c->term[k].x;
            const int      l = (unsigned char)c->term[k].label[a];

            if (x->extent[a] == 1)
                continue;
            if (known[l] && c->origin[l] != rd_origin(x, a))
                return fail_origins(c, k, a, l);
            known[l]     = true;
            c->extent[l] = x->extent[a];
            c->origin[l] = rd_origin(x, a);
        }
    for (int k = 0; k < c->n; k++)
        for (int a = 0; a < c->term[k].x->rank; a++) {
            const int64_t first = rd_origin(c->term[k].x, a);
            const int     l     = (unsigned char)c->term[k].label[a];

            if (known[l] || !first)
                continue;
            if (c->origin[l] && c->origin[l] != first)
                return fail_origins(c, k, a, l);
            c->origin[l] = first;
        }
    return true;
}

/* Multiplies all terms (operands with a label for each axis) and sums over the labels that `out`
 * does not name.  It sums labels that only one term has, contracts pairs while that is cheaper,
 * then makes the last product and sum.  NULL after recording a failure. */
rd_expr *rd_contract(const char *call, int n, rd_term *terms, int n_out, const int8_t *out)
{
    contraction c = { .call = call, .n = n, .term = terms };
    rd_dtype    natural;
    int8_t      list[RD_MAX_LABELS];
    rd_labels   all = 0;

    for (int k = 0; k < n_out; k++)
        c.out |= label_bit(out[k]);
    /* Sparse products that are computed on demand are computed now.  With two terms they wait, as
     * the other term may tell which of their elements are needed. */
    for (int k = 0; k < n && n > 2; k++)
        if (!(terms[k].x = rd_listed(terms[k].x)))
            return NULL;
    if (!find_extents(&c) || !find_type(&c, &natural) || !scale_stored(&c) ||
        !sum_single_terms(&c) || !reduce_terms(&c))
        return NULL;
    for (int k = 0; k < c.n; k++)
        all |= labels_of(&c.term[k]);
    if (n_out > 0)
        memcpy(list, out, (size_t)n_out * sizeof *list);
    const int n_all = n_out + list_labels(all & ~c.out, list + n_out);

    return rd_cast_to(sum_product(&c, c.n, c.term, n_out, n_all, list), natural);
}
