/* preconditioners.c - Jacobi's and Nystroem's. */
#include "eval/request.h"
#include "expr/array.h"
#include "expr/maps.h"
#include "expr/origin.h"
#include "solve/lapack.h"
#include "solve/operator.h"
#include <float.h>
#include <string.h>

/* ---- Jacobi ---------------------------------------------------------------------------------- */
/* The public call rd_jacobi(): r / diagonal, an expression in r's type. A diagonal with one axis
 * less than r is one for all right-hand sides, so it gets an axis at the end. NULL after
 * recording a failure. */
rd_expr *rd_jacobi(rd_expr *r, rd_expr *diagonal)
{
    static const char call[] = "rd_jacobi";

    if (!rd_operands(call, 2, (rd_expr *[]){ r, diagonal }))
        return NULL;
    if (diagonal->rank == r->rank - 1)
        diagonal = rd_expand(diagonal, diagonal->rank);
    diagonal = diagonal ? rd_broadcast_to(diagonal, r->rank, r->extent, call) : NULL;
    return diagonal ? rd_cast_to(map_2(RD_OP_div, call, r, diagonal), r->type) : NULL;
}

/* ---- Nystroem -------------------------------------------------------------------------------- *
 * With W = Q D Q^T and B = C Q D^-1/2 the preconditioner is, by Woodbury's formula,
 *     (B B^T + ridge)^-1 = (1 - C Z Z^T C^T) / ridge,  Z = Q D^-1/2 U (ridge + S)^-1/2
 * with B^T B = U S U^T.  Eigenvalues of W below rounding are left out, as their vectors are noise:
 * what Cholesky's factors would need a shift for (Frangella, Tropp and Udell 2023). */
typedef struct nystroem {
    rd_ctx *ctx;
    int64_t k;             /* landmarks */
    double *within, *gram; /* W, then Q^T; C^T C, then U^T */
    double *d, *s;         /* eigenvalues */
    double *z, *b;         /* Z^T, and room */
    int64_t first;         /* eigenvalues of W from here on are used */
    double  ridge;
} nystroem;

static const char call[] = "rd_nystroem";

/* True if r, the two kernels and the ridge fit together: (n) or (n, sides), (n, k), (k, k), real
 * floats, and a ridge above 0; else records what is wrong. */
static bool shapes_ok(rd_expr *r, rd_expr *across, rd_expr *within, double ridge)
{
    rd_expr *const x[] = { r, across, within };
    char           of_r[RD_SHAPE_TEXT], of_c[RD_SHAPE_TEXT], of_w[RD_SHAPE_TEXT];

    if (!rd_operands(call, 3, x) || !rd_is_vector_input(r->ctx, call, r, "r"))
        return false;
    for (int i = 1; i < 3; i++)
        if (rd_dtype_kind(x[i]->type) != RD_KIND_FLOAT)
            return rd_fail(r->ctx, RD_ERR_TYPE, "%s: a kernel is %s, and must be a real float",
                           call, rd_dtype_name(x[i]->type)) != NULL;
    if (!(ridge > 0) || !isfinite(ridge))
        return rd_fail(r->ctx, RD_ERR_ARGUMENT, "%s: the ridge is %g, and must be above 0", call,
                       ridge) != NULL;
    if ((r->rank == 1 || r->rank == 2) && across->rank == 2 && within->rank == 2 &&
        across->extent[0] == r->extent[0] && across->extent[1] == within->extent[0] &&
        within->extent[0] == within->extent[1] && within->extent[0] > 0)
        return true;
    rd_fail(
        r->ctx, RD_ERR_SHAPE,
        "%s: r has shape %s, K(points, landmarks) %s, K(landmarks, landmarks) %s; wanted (n) or "
        "(n, sides), (n, k) and (k, k)",
        call, rd_shape_text(r->rank, r->extent, of_r),
        rd_shape_text(across->rank, across->extent, of_c),
        rd_shape_text(within->rank, within->extent, of_w));
    return false;
}

/* Adds C^T C, a matrix (k, k), to y->gram, over blocks of rows of the kernel C (`across`) that
 * fit into 8 MiB, so that C is never stored as a whole. False after a failure. y->b is room for
 * the product of one block. What is made for a block is freed. */
static bool add_gram(nystroem *y, rd_expr *across)
{
    enum { BYTES = 1 << 23 };
    const int64_t k = y->k, n = across->extent[0];
    int64_t       rows = BYTES / (k * rd_dtype_size(across->type));
    rd_array      sum  = { .data = y->b, .type = RD_F64, .shape = RD_SHAPE(k, k) };

    if (rows < k)
        rows = k;
    for (int64_t from = 0; from < n; from += rows) {
        const rd_mark  mark  = rd_ctx_mark(y->ctx);
        const int64_t  to    = from + rows < n ? from + rows : n;
        rd_expr *const part  = rd_slice_axis(across, 0, from, to, 1);
        rd_array       block = { 0 };
        bool           ok    = part && rd_eval_for(y->ctx, call, part, &block) == RD_OK;

        rd_expr *const c = ok ? rd_cast_to(rd_leaf_of(y->ctx, &block, call), RD_F64) : NULL;
        ok = c && rd_eval_for(y->ctx, call, rd_matmul(rd_transpose(c), c), &sum) == RD_OK;
        for (int64_t i = 0; ok && i < k * k; i++)
            y->gram[i] += y->b[i];
        rd_array_free(&block);
        rd_ctx_release(y->ctx, mark);
        if (!ok)
            return false;
    }
    return true;
}

/* Evaluates the kernel W between landmarks, and computes its eigenvalues d, ascending; its
 * eigenvectors, as rows, replace it in y->within. False after a failure. */
static bool decompose_within(nystroem *y, rd_expr *within)
{
    rd_array out = { .data = y->within, .type = RD_F64, .shape = RD_SHAPE(y->k, y->k) };

    return rd_eval_for(y->ctx, call, rd_cast_to(within, RD_F64), &out) == RD_OK &&
           rd_symmetric_eigen(y->ctx, call, y->k, y->within, y->d);
}

/* The least eigenvalue of W that is used.  Below it are
 *   - rounding of W, in the kernel's type;
 *   - eigenvalues that make rounding of C^T C, divided by them, more than the ridge;
 *   - those that make rounding of C^T r, divided by their roots, more than what an application
 *     leaves of the largest eigenvector of A.
 * `largest` estimates the largest eigenvalue of A from that of W: n points stand for k
 * landmarks. */
static double least_eigenvalue(const nystroem *y, rd_dtype type, int64_t n)
{
    const double most = y->d[y->k - 1], largest = most * (double)n / (double)y->k;
    double       trace = 0, left;

    for (int64_t i = 0; i < y->k; i++)
        trace += y->gram[i * y->k + i];
    left = 10 * DBL_EPSILON * sqrt(trace) * (1 + largest / y->ridge);
    return fmax(most * (type == RD_F64 ? 1e-13 : 1e-5),
                fmax(10 * DBL_EPSILON * trace, left * left) / y->ridge);
}

/* Sets y->first: eigenvalues of W from there on are used, those above the least useful one, and
 * always the greatest. False, after recording it, if not even that is above 0. y->d has the k
 * eigenvalues, ascending; least_eigenvalue() is that limit. */
static bool choose_first(nystroem *y, rd_dtype type, int64_t n)
{
    const double most = y->d[y->k - 1], least = least_eigenvalue(y, type, n);

    if (!(most > 0))
        return rd_fail(y->ctx, RD_ERR_CONVERGENCE,
                       "%s: the greatest eigenvalue of K(landmarks, landmarks) is %g", call,
                       most) != NULL;
    while (y->first < y->k - 1 && !(y->d[y->first] > least))
        y->first++;
    return true;
}

/* Sets out = a b, for dense matrices (m, k) and (k, n). They are small (k landmarks), so plain
 * loops will do. */
static void multiply(int64_t m, int64_t k, int64_t n, const double *a, const double *b, double *out)
{
    memset(out, 0, (size_t)(m * n) * sizeof *out);
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] += a[i * k + l] * b[l * n + j];
}

/* Computes b = R gram R^T = B^T B with R = D^-1/2 Q^T, where the rows of Q^T are the
 * eigenvectors of W that are used and D their eigenvalues. R replaces those rows in y->within. b
 * is symmetric, so half of it is computed. y->gram is C^T C, (k, k); y->z is room; `used` counts
 * the eigenvectors. */
static void scale_gram(const nystroem *y)
{
    const int64_t k = y->k, used = k - y->first;
    double *const r = y->within + y->first * k;

    for (int64_t i = 0; i < used; i++)
        for (int64_t j = 0; j < k; j++)
            r[i * k + j] /= sqrt(y->d[i + y->first]);
    multiply(used, k, k, r, y->gram, y->z);
    for (int64_t i = 0; i < used; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0;

            for (int64_t l = 0; l < k; l++)
                sum += y->z[i * k + l] * r[j * k + l];
            y->b[i * used + j] = y->b[j * used + i] = sum;
        }
}

/* Computes Z^T = (ridge + S)^-1/2 U^T R in y->z, a matrix (used, k), where S and U are the
 * eigenvalues and eigenvectors of B^T B; b holds U^T, and y->within R. A negative S is rounding
 * of 0. */
static void find_z(const nystroem *y)
{
    const int64_t k = y->k, used = k - y->first;

    multiply(used, used, k, y->b, y->within + y->first * k, y->z);
    for (int64_t i = 0; i < used; i++)
        for (int64_t j = 0; j < k; j++)
            y->z[i * k + j] /= sqrt(y->ridge + fmax(y->s[i], 0));
}

/* Returns Z^T as an expression (a leaf) that owns a copy of it, as the preconditioner outlives
 * this call; NULL after recording that there is no memory. y->z is (used, k). */
static rd_expr *leaf_of_z(const nystroem *y)
{
    const int64_t used  = y->k - y->first;
    rd_array      array = { .type = RD_F64, .shape = RD_SHAPE(used, y->k) };
    const int64_t bytes = used * y->k * (int64_t)sizeof(double);

    array.data = rd_array_memory(y->ctx, bytes, &array.owner);
    if (!array.data)
        return rd_fail_memory(y->ctx, bytes, "%s: no memory for %lld landmarks", call,
                              (long long)y->k);
    memcpy(array.data, y->z, (size_t)bytes);
    return rd_adopt(y->ctx, &array);
}

/* Returns the preconditioner (r - C Z Z^T C^T r) / ridge as an expression in r's type. It is
 * computed in f64, because what is left of large eigenvectors is a small difference. Z Z^T is
 * not formed, as its rounding would be multiplied by C twice. A vector r has one axis more
 * meanwhile. `across` is C and z is Z^T. */
static rd_expr *apply_z(rd_expr *r, rd_expr *across, rd_expr *z, double ridge)
{
    const bool     is_vector = r->rank == 1;
    rd_expr *const whole     = rd_cast_to(is_vector ? rd_expand(r, 1) : r, RD_F64);
    rd_expr       *part;

    across = rd_cast_to(across, RD_F64);
    part   = rd_matmul(z, rd_matmul(rd_transpose(across), whole));
    part   = rd_matmul(across, rd_matmul(rd_transpose(z), part));
    part   = rd_div(rd_sub(whole, part), rd_num(r->ctx, ridge));
    return rd_cast_to(is_vector ? rd_squeeze(part, RD_DIMS(1)) : part, r->type);
}

/* Computes Z from both kernels: the eigenvectors of W, C^T C, and the eigenvectors of B^T B.
 * What is made in the context meanwhile is released. False after a failure. decompose_within()
 * makes the eigenvectors of W, add_gram() C^T C; y->s are the eigenvalues of B^T B, and find_z()
 * makes Z. */
static bool prepare(nystroem *y, rd_expr *across, rd_expr *within)
{
    const rd_mark mark = rd_ctx_mark(y->ctx);
    bool          ok   = decompose_within(y, within) && add_gram(y, across) &&
              choose_first(y, within->type, across->extent[0]);

    if (ok) {
        scale_gram(y);
        ok = rd_symmetric_eigen(y->ctx, call, y->k - y->first, y->b, y->s);
    }
    if (ok)
        find_z(y);
    rd_ctx_release(y->ctx, mark);
    return ok;
}

/* The public call rd_nystroem(): a preconditioner for K + ridge of a smooth kernel K, from its
 * values C between points and landmarks (`across`) and W between landmarks (`within`). Both are
 * evaluated now; the result is an expression of r. NULL after recording a failure. k is the
 * number of landmarks. The memory of all small matrices is one piece, freed at the end; Z^T is
 * kept by the leaf that owns it. */
rd_expr *rd_nystroem(rd_expr *r, rd_expr *across, rd_expr *within, double ridge)
{
    nystroem y = { .ridge = ridge };
    rd_expr *made;

    if (!shapes_ok(r, across, within, ridge) || !rd_lapack_here(r->ctx, call))
        return NULL;
    y.ctx  = r->ctx;
    y.k    = within->extent[0];
    across = rd_with_origins(across, /*origin=*/NULL);
    within = rd_with_origins(within, /*origin=*/NULL);
    if (!across || !within || !rd_reads_only(y.ctx, call, across, "a kernel", /*v=*/NULL) ||
        !rd_reads_only(y.ctx, call, within, "a kernel", /*v=*/NULL))
        return NULL;
    double *const memory = rd_alloc(y.ctx, (4 * y.k * y.k + 2 * y.k) * (int64_t)sizeof *memory);

    if (!memory)
        return NULL;
    y.within = memory;
    y.gram   = y.within + y.k * y.k;
    y.z      = y.gram + y.k * y.k;
    y.b      = y.z + y.k * y.k;
    y.d      = y.b + y.k * y.k;
    y.s      = y.d + y.k;
    made     = prepare(&y, across, within) ? leaf_of_z(&y) : NULL;
    rd_free(y.ctx, memory);
    return made ? apply_z(r, across, made, ridge) : NULL;
}
