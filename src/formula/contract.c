/* contract.c - sums of products of sparse arrays with indices, sum[j] a[i, j] * b[j, k], as
 * contractions.
 *
 * Each factor keeps its storage and the labels of its axes, as operands of rd_einsum() do. The
 * product of two sparse matrices is then sparse, and zeros that are not stored are never read.
 * All other sums are built as a product of whole operands, then reduced. */
#include "formula/formula.h"
#include "expr/contract.h"
#include "expr/sparse.h"

/* Collects the factors of a product a * b * c into factor[], from the left, from number n on.
 * Returns how many there are then, which may be more than RD_MOST_FACTORS, for which there is
 * room. Both operands of a product, p->first and p->last, may be products. Other pieces are
 * factors. */
static int factors_of(rd_phrase *p, int n, rd_phrase **factor)
{
    if (p->kind == RD_PHRASE_BINARY && p->op == RD_OP_mul) {
        n = factors_of(p->first, n, factor);
        return factors_of(p->last, n, factor);
    }
    if (n < RD_MOST_FACTORS)
        factor[n] = p;
    return n + 1;
}

/* True if all factors are named arrays with subscripts, x[i, j]. Other factors, such as sums,
 * would be built twice if no array turns out to be sparse. */
static bool are_arrays(int n, rd_phrase *const *factor)
{
    bool all = true;

    for (int k = 0; k < n; k++)
        all &= factor[k]->kind == RD_PHRASE_AT && factor[k]->first->kind == RD_PHRASE_NAME;
    return all;
}

/* True if p is sum[indices] of a body, without keywords or a condition: all pieces in its
 * brackets are indices. */
static bool is_plain_sum(const rd_formula_reader *r, const rd_phrase *p)
{
    bool plain = rd_formula_is(r, p->at, p->length, "sum");

    for (const rd_phrase *q = p->first; q; q = q->next)
        plain &= q->kind == RD_PHRASE_INDEX;
    return plain;
}

/* True if two or more factors are sparse arrays, and each factor has an index for each of its
 * axes (v[k].n of them). v[k].n counts the indices of factor k. */
static bool are_sparse(int n, const rd_labelled *v)
{
    int  sparse = 0;
    bool whole  = true;

    for (int k = 0; k < n; k++) {
        sparse += rd_is_sparse(v[k].x);
        whole &= v[k].n == v[k].x->rank;
    }
    return whole && sparse > 1;
}

/* True if the contraction has the type and the value of the sum of products. Sums of narrow ints
 * are i64, and products of halves are rounded, but a contraction keeps its type and rounds once.
 * A complex contraction gives a real factor the imaginary part 0, and 0 times infinity is NaN.
 * `same`: all factors are complex, or none is; `type` is the type of the product. So f32, f64
 * and i64 are kept, and complex types if all are complex. */
static bool keeps_type(int n, const rd_labelled *v)
{
    rd_dtype type = v[0].x->type;
    bool     same = true;

    for (int k = 1; k < n; k++) {
        same &= rd_dtype_is_complex(type) == rd_dtype_is_complex(v[k].x->type);
        type = rd_dtype_promote(type, v[k].x->type);
    }
    return (same && rd_dtype_is_complex(type)) || type == RD_F32 || type == RD_F64 ||
           type == RD_I64;
}

/* Describes a factor as rd_contract() takes it: the array, and for each of its axes a small
 * number, the position of its index among all indices of the factors. term->label[a] is that
 * position. */
static void name_axes(const rd_labelled *v, const rd_labelled *all, rd_term *term)
{
    term->x = v->x;
    for (int a = 0; a < v->n; a++)
        for (int k = 0; k < all->n; k++)
            if (all->label[k] == v->label[a])
                term->label[a] = (int8_t)k;
}

/* True if each index that is summed over is an index of some factor. Otherwise the sum repeats
 * its terms, which a contraction does not. */
static bool are_used(const rd_phrase *p, const rd_labelled *all)
{
    bool used = true;
    int  place;

    for (const rd_phrase *q = p->first; q; q = q->next)
        used &= rd_labelled_has(all, q->label, &place);
    return used;
}

/* True if the index with this label (its number) is one of the sum's brackets. */
static bool is_summed(const rd_phrase *p, int label)
{
    for (const rd_phrase *q = p->first; q; q = q->next)
        if (q->label == label)
            return true;
    return false;
}

/* Finds the factors of sum[indices] of a product of named arrays with subscripts. Returns their
 * number, 2 to RD_MOST_FACTORS; 0: p is no such sum. */
int rd_formula_factors(const rd_formula_reader *r, rd_phrase *p, rd_phrase *factor[RD_MOST_FACTORS])
{
    const int n = is_plain_sum(r, p) ? factors_of(p->body, /*n=*/0, factor) : 0;

    return n >= 2 && n <= RD_MOST_FACTORS && are_arrays(n, factor) ? n : 0;
}

/* Builds the contraction (as einsum) of n evaluated factors, so that the product of sparse
 * arrays stays sparse. The result has the indices that are not summed over. x is NULL if fewer
 * than two factors are sparse, or if the contraction would change the result. `all` are the
 * indices of all factors, term[k] is factor k as rd_contract() takes it, and out[] has the
 * positions in `all` of the indices that stay, whose labels are in `kept`. */
rd_labelled rd_formula_sparse_sum(rd_formula_reader *r, const rd_phrase *p, int n,
                                  const rd_labelled *v)
{
    rd_labelled all, kept = { 0 };
    rd_term     term[RD_MOST_FACTORS] = { { 0 } };
    int8_t      out[RD_MAX_RANK];

    if (!are_sparse(n, v) || !keeps_type(n, v) || !rd_labelled_union(r, n, v, p->at, &all) ||
        !are_used(p, &all))
        return kept;
    for (int k = 0; k < n; k++)
        name_axes(&v[k], &all, &term[k]);
    for (int k = 0; k < all.n; k++)
        if (!is_summed(p, all.label[k])) {
            out[kept.n]          = (int8_t)k;
            kept.label[kept.n++] = all.label[k];
        }
    kept.x = rd_formula_made(r, rd_contract(r->call, n, term, kept.n, out), p->at);
    return kept;
}
