/* test_grad_random.c - derivatives of random expressions: both modes beside central differences.
 *
 *     RD_GRAD_COUNT=20000 build/release/tests/test_grad_random     a long run
 *     RD_GRAD_SEED=77 RD_GRAD_COUNT=1 ...                          one seed
 *
 * A pool of random expressions (random_expr.h) has leaves of f64.  All of them move along one random
 * direction, by their memory.  An element of a result says something if its two one-sided
 * differences agree, or lie on both sides of the derivative as at a kink. */
#include "differential.h"
#include "suite.h"
#include <inttypes.h>
#include <math.h>

enum { PARTS = 8, MOST_LEAVES = RANDOM_BLOCKS, MOST_ELEMENTS = RANDOM_POINTS };

typedef struct totals {
    int64_t seeds, results, elements, unsure, refused, reversed;
} totals;

/* Leaves of f64, and the direction along which they move. */
typedef struct motion {
    rd_expr      *leaf[MOST_LEAVES], *along[MOST_LEAVES];
    random_block *block[MOST_LEAVES];
    double       *step[MOST_LEAVES], *before[MOST_LEAVES];
    int           n;
} motion;

static motion begin(random_pool *pool)
{
    motion m = { .n = 0 };

    for (int k = 0; k < pool->n_block; k++) {
        random_block *const b = &pool->block[k];
        const int64_t       n = b->bytes / (int64_t)sizeof(double);
        rd_array            layout;

        if (!b->leaf || random_points(b->leaf) > MOST_ELEMENTS || b->leaf->type != RD_F64 ||
            b->layout.type != RD_F64)
            continue;
        m.step[m.n]   = malloc((size_t)b->bytes + sizeof(double));
        m.before[m.n] = malloc((size_t)b->bytes + sizeof(double));
        for (int64_t j = 0; j < n; j++) {
            double *const p = (double *)b->memory + j;

            /* away from the numbers that the pool chose by these data, such as limits of a clip */
            *p += random_uniform(pool, -1e-3, 1e-3);
            m.before[m.n][j] = *p;
            m.step[m.n][j]   = random_uniform(pool, -1, 1);
        }
        layout         = b->layout;
        layout.data    = (char *)m.step[m.n] + ((char *)b->layout.data - (char *)b->memory);
        m.leaf[m.n]    = b->leaf;
        m.along[m.n]   = rd_leaf(pool->ctx, &layout);
        m.block[m.n++] = b;
    }
    return m;
}

static void end(motion *m)
{
    for (int k = 0; k < m->n; k++) {
        free(m->step[k]);
        free(m->before[k]);
    }
}

/* Moves all leaves by h times the direction. */
static void move(const motion *m, double h)
{
    for (int k = 0; k < m->n; k++) {
        double *const p = m->block[k]->memory;

        for (int64_t j = 0; j < m->block[k]->bytes / (int64_t)sizeof *p; j++)
            p[j] = m->before[k][j] + h * m->step[k][j];
    }
}

/* Evaluates an f64 expression to dense memory.  False: it fails, as with an index outside. */
static bool values(rd_expr *y, double *out)
{
    const bool ok = rd_eval(y->ctx, y, RD_INTO(out, rd_shape_of(y))) == RD_OK;

    rd_error_clear(y->ctx);
    return ok;
}

/* True if the derivative fits the differences of an element; *says: the element says something. */
static bool fits(double jvp, double left, double right, double wide, double size, bool *says)
{
    const double scale = 1 + fabs(left) + fabs(right) + size, near = 2e-4 * scale;
    const double low = fmin(left, right) - near, high = fmax(left, right) + near;

    *says = isfinite(jvp) && isfinite(left) && isfinite(right) && scale < 1e4 &&
            fabs(left + right - 2 * wide) < near;
    return !*says || (jvp >= low && jvp <= high);
}

/* What the graph below a result says of differences. */
typedef struct graph_facts {
    bool narrow; /* floats other than f64: differences see their roundings, and no slopes */
    bool steps;  /* floors and remainders: of a small divisor, steps finer than the differences */
} graph_facts;

static graph_facts facts_of(rd_expr *y)
{
    rd_expr   **list;
    const int   n = report_nodes(&y, 1, &list);
    graph_facts f = { false, false };

    for (int k = 0; k < n; k++) {
        const rd_op op = list[k]->kind == RD_EXPR_MAP ? list[k]->op : RD_OP_none;

        f.narrow |= rd_dtype_kind(list[k]->type) == RD_KIND_FLOAT && list[k]->type != RD_F64;
        f.steps |= op == RD_OP_floor || op == RD_OP_ceil || op == RD_OP_round ||
                   op == RD_OP_trunc || op == RD_OP_floordiv || op == RD_OP_remainder ||
                   op == RD_OP_fmod;
    }
    free(list);
    return f;
}

/* Compares forward mode with differences, element by element. */
static bool forward_holds(const motion *m, rd_expr *y, rd_expr *jvp, double *room, totals *t)
{
    const int64_t n     = random_points(y);
    const double  h     = 1e-5;
    const bool    steps = facts_of(y).steps;
    double *const at = room, *const up = room + n, *const down = room + 2 * n,
                  *const d = room + 3 * n, *const far_up = room + 4 * n,
                  *const far_down = room + 5 * n;
    bool                 ok       = values(y, at) && values(jvp, d);

    move(m, h);
    ok = ok && values(y, up);
    move(m, -h);
    ok = ok && values(y, down);
    move(m, 4 * h);
    ok = ok && values(y, far_up);
    move(m, -4 * h);
    ok = ok && values(y, far_down);
    move(m, 0);
    for (int64_t i = 0; ok && i < n; i++) {
        const double right = (up[i] - at[i]) / h, left = (at[i] - down[i]) / h;
        bool         says;

        if (!fits(d[i], left, right, (far_up[i] - far_down[i]) / (8 * h), fabs(at[i]), &says) &&
            !steps) {
            fprintf(stderr, "element %" PRId64 ": derivative %.12g, differences %.12g and %.12g\n",
                    i, d[i], left, right);
            return false;
        }
        t->elements++;
        t->unsure += !says;
    }
    t->results += ok;
    return true;
}

/* True if the last call failed as something has no derivative; the error is cleared. */
static bool is_refused(rd_ctx *ctx, totals *t)
{
    const char *const text = rd_error_text(ctx);
    const bool        is   = strstr(text, "no derivative") != NULL;

    if (!is)
        fprintf(stderr, "%s\n", text);
    rd_error_clear(ctx);
    t->refused += is;
    return is;
}

/* Compares reverse with forward mode: v . (J t) is t . (v J). */
static bool reverse_holds(const motion *m, rd_expr *y, const double *d, double *room, totals *t)
{
    const int64_t n       = random_points(y);
    double *const v       = room;
    double        forward = 0, reverse = 0, size = 1;
    rd_exprs      g;

    for (int64_t i = 0; i < n; i++) {
        v[i] = sin(1 + 0.7 * (double)i);
        forward += v[i] * d[i];
        size += fabs(v[i] * d[i]);
    }
    g = rd_grad(y, (rd_exprs){ (rd_expr *const *)m->leaf, m->n },
                .seed = rd_leaf(y->ctx, RD_INTO(v, rd_shape_of(y))));
    for (int k = 0; k < m->n; k++) {
        double *const a = room + n, *const b = a + MOST_ELEMENTS;

        if (!g.at[k])
            return is_refused(y->ctx, t);
        if (!values(g.at[k], a) || !values(m->along[k], b)) {
            fprintf(stderr, "a gradient cannot be evaluated\n");
            return false;
        }
        for (int64_t i = 0; i < random_points(m->leaf[k]); i++) {
            reverse += a[i] * b[i];
            size += fabs(a[i] * b[i]);
        }
    }
    if (!isfinite(reverse) || !isfinite(forward) || size > 1e12)
        return true;
    t->reversed++;
    if (fabs(forward - reverse) <= 1e-9 * size)
        return true;
    fprintf(stderr, "forward %.17g, reverse %.17g\n", forward, reverse);
    return false;
}

/* Checks a result of the pool. */
static bool result_holds(const motion *m, rd_expr *y, totals *t)
{
    const int64_t n   = random_points(y);
    rd_expr      *jvp = rd_jvp(y, (rd_exprs){ (rd_expr *const *)m->leaf, m->n },
                               (rd_exprs){ (rd_expr *const *)m->along, m->n });
    double       *room;
    bool          ok;

    if (!jvp)
        return is_refused(y->ctx, t);
    room = malloc((size_t)(6 * n + 3 * MOST_ELEMENTS + 1) * sizeof *room);
    ok   = forward_holds(m, y, jvp, room, t);
    if (ok && values(jvp, room + 3 * n)) {
        double *const d = malloc((size_t)(n + 1) * sizeof *d);

        memcpy(d, room + 3 * n, (size_t)n * sizeof *d);
        ok = reverse_holds(m, y, d, room, t);
        free(d);
    }
    free(room);
    return ok;
}

static bool seed_holds(uint64_t seed, totals *t)
{
    rd_ctx      *ctx  = rd_ctx_new(NULL);
    random_pool *pool = random_pool_new(ctx, RANDOM_SMOOTH + seed);
    motion       m    = begin(pool);
    bool         ok   = true;
    int          left = 3;

    for (int k = pool->n_node - 1; ok && m.n && left > 0 && k >= 0; k--) {
        rd_expr *const y = pool->node[k].x;

        if (y->type != RD_F64 || y->kind == RD_EXPR_SPARSE || y->kind == RD_EXPR_NUMBER ||
            facts_of(y).narrow)
            continue;
        left--;
        ok = result_holds(&m, y, t);
        if (!ok) {
            rd_text report = { 0 };

            report_tree(&report, y);
            fprintf(stderr, "seed %" PRIu64 " (RD_GRAD_SEED=%" PRIu64 " RD_GRAD_COUNT=1)\n%s\n",
                    seed, seed, report.at);
            rd_text_free(&report);
        }
    }
    t->seeds++;
    end(&m);
    random_pool_free(pool);
    rd_ctx_free(ctx);
    return ok;
}

static int64_t from_environment(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text ? atoll(text) : otherwise;
}

START_TEST(seeds)
{
    const int64_t count =
        from_environment("RD_GRAD_COUNT", SANITIZED ? 80 : 1600 / suite_long_part(4));
    const int64_t first    = from_environment("RD_GRAD_SEED", 1);
    totals        t        = { 0 };
    int           failures = 0;

    for (int64_t k = count * _i / PARTS; k < count * (_i + 1) / PARTS && failures < 5; k++)
        failures += !seed_holds((uint64_t)(first + k), &t);
    if (t.seeds)
        printf("%" PRId64 " seeds, %" PRId64 " results, %" PRId64 " elements (%" PRId64
               " unsure), %" PRId64 " refused, %" PRId64 " in reverse\n",
               t.seeds, t.results, t.elements, t.unsure, t.refused, t.reversed);
    ck_assert_msg(failures == 0, "%d seeds failed", failures);
    ck_assert_msg(t.unsure * 2 <= t.elements, "too much is unsure to call this a test");
}
END_TEST

int main(void)
{
    Suite   *s      = suite_create("grad random");
    TCase   *tc     = tcase_create("grad random");
    SRunner *runner = srunner_create(s);
    int      failed;

    tcase_set_timeout(tc, 0);
    tcase_add_loop_test(tc, seeds, 0, PARTS);
    suite_add_tcase(s, tc);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
