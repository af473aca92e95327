/* peer_graphblas.c - W13 in SuiteSparse:GraphBLAS, one function of its for each case but for
 * PageRank's step. */
#include "peer.h"
#include <GraphBLAS.h>

typedef struct problem {
    GrB_Type     type;
    GrB_Semiring plus_times, plus_second, min_plus;
    GrB_BinaryOp times, plus, divide, axpb;
    GrB_Monoid   max;
    GrB_Matrix   a, other, full[2], result, sampled, made; /* (n, 16) and (n, 64) */
    GrB_Vector   x, links, part, y;
} problem;

static void must(GrB_Info info, const char *what)
{
    if (info == GrB_SUCCESS)
        return;
    fprintf(stderr, "graphblas: %s: status %d\n", what, (int)info);
    exit(1);
}
#define DO(call) must(call, #call)

/* ---- Operands -------------------------------------------------------------------------------- */
static GrB_Matrix matrix(const bench_pattern *p, int which, GrB_Type type, bool f32)
{
    GrB_Index   *pos = malloc((size_t)(p->rows + 1) * 8), *crd = malloc((size_t)p->places * 8);
    const size_t size   = f32 ? 4 : 8;
    void        *values = malloc((size_t)p->places * size);
    GrB_Matrix   a;

    for (int64_t i = 0; i <= p->rows; i++)
        pos[i] = (GrB_Index)p->pos[i];
    for (int64_t e = 0; e < p->places; e++) {
        crd[e] = (GrB_Index)p->crd[e];
        if (f32)
            ((float *)values)[e] = (float)peer_number(which, e);
        else
            ((double *)values)[e] = peer_number(which, e);
    }
    DO(GrB_Matrix_new(&a, type, (GrB_Index)p->rows, (GrB_Index)p->rows));
    DO(GxB_Matrix_pack_CSR(a, &pos, &crd, &values, (GrB_Index)(p->rows + 1) * 8,
                           (GrB_Index)p->places * 8, (GrB_Index)p->places * size, false, false,
                           NULL));
    return a;
}

static GrB_Vector vector(int64_t n, GrB_Type type, int which)
{
    GrB_Vector x;

    DO(GrB_Vector_new(&x, type, (GrB_Index)n));
    for (int64_t i = 0; i < n; i++)
        DO(GrB_Vector_setElement_FP64(x, peer_number(which, i), (GrB_Index)i));
    DO(GxB_Vector_Option_set(x, GxB_SPARSITY_CONTROL, GxB_FULL));
    DO(GrB_Vector_wait(x, GrB_MATERIALIZE));
    return x;
}

static GrB_Matrix full(int64_t n, int64_t columns, GrB_Type type, bool f32)
{
    const size_t bytes  = (size_t)(n * columns) * (f32 ? 4 : 8);
    void        *values = malloc(bytes);
    GrB_Matrix   x;

    for (int64_t e = 0; e < n * columns; e++)
        if (f32)
            ((float *)values)[e] = (float)peer_number(1, e);
        else
            ((double *)values)[e] = peer_number(1, e);
    DO(GrB_Matrix_new(&x, type, (GrB_Index)n, (GrB_Index)columns));
    DO(GxB_Matrix_pack_FullR(x, &values, bytes, false, NULL));
    return x;
}

/* ---- Cases ----------------------------------------------------------------------------------- */
static void done(const problem *p)
{
    DO(GrB_Vector_wait(p->y, GrB_MATERIALIZE));
}

static void spmv(void *self)
{
    const problem *p = self;

    DO(GrB_mxv(p->y, NULL, NULL, p->plus_times, p->a, p->x, NULL));
    done(p);
}

static void spmv_turned(void *self)
{
    const problem *p = self;

    DO(GrB_mxv(p->y, NULL, NULL, p->plus_times, p->a, p->x, GrB_DESC_T0));
    done(p);
}

static void min_plus(void *self)
{
    const problem *p = self;

    DO(GrB_mxv(p->y, NULL, NULL, p->min_plus, p->a, p->x, NULL));
    done(p);
}

static void row_max(void *self)
{
    const problem *p = self;

    DO(GrB_Matrix_reduce_Monoid(p->y, NULL, NULL, p->max, p->a, NULL));
    done(p);
}

static void spmm(void *self)
{
    const problem *p = self;

    DO(GrB_mxm(p->result, NULL, NULL, p->plus_times, p->a, p->full[0], NULL));
    DO(GrB_Matrix_wait(p->result, GrB_MATERIALIZE));
}

static void sddmm(void *self)
{
    const problem *p = self;

    DO(GrB_mxm(p->sampled, p->a, NULL, p->plus_times, p->full[1], p->full[1], GrB_DESC_ST1));
    DO(GrB_Matrix_eWiseMult_BinaryOp(p->sampled, NULL, NULL, p->times, p->sampled, p->a, NULL));
    DO(GrB_Matrix_wait(p->sampled, GrB_MATERIALIZE));
}

static void square(void *self)
{
    const problem *p = self;

    DO(GrB_mxm(p->made, NULL, NULL, p->plus_times, p->a, p->a, NULL));
    DO(GrB_Matrix_wait(p->made, GrB_MATERIALIZE));
}

static void times(void *self)
{
    const problem *p = self;

    DO(GrB_Matrix_eWiseMult_BinaryOp(p->made, NULL, NULL, p->times, p->a, p->other, NULL));
    DO(GrB_Matrix_wait(p->made, GrB_MATERIALIZE));
}

static void plus(void *self)
{
    const problem *p = self;

    DO(GrB_Matrix_eWiseAdd_BinaryOp(p->made, NULL, NULL, p->plus, p->a, p->other, NULL));
    DO(GrB_Matrix_wait(p->made, GrB_MATERIALIZE));
}

static void page_rank(void *self)
{
    const problem *p = self;
    GrB_Index      n;

    DO(GrB_Vector_size(&n, p->y));
    DO(GrB_Vector_eWiseMult_BinaryOp(p->part, NULL, NULL, p->divide, p->x, p->links, NULL));
    DO(GrB_Vector_apply_BinaryOp2nd_FP64(p->part, NULL, NULL, p->times, p->part, 0.85, NULL));
    DO(GrB_Vector_assign_FP64(p->y, NULL, NULL, 0.15 / (double)n, GrB_ALL, n, NULL));
    DO(GrB_mxv(p->y, NULL, p->axpb, p->plus_second, p->a, p->part, NULL));
    done(p);
}

static const struct {
    const char *name;
    void (*run)(void *);
} cases[] = { { "spmv", spmv },      { "spmv.turned", spmv_turned }, { "minplus", min_plus },
              { "rowmax", row_max }, { "pagerank", page_rank },      { "spmm16", spmm },
              { "sddmm64", sddmm } };

static void run(const problem *p, const char *name, void (*function)(void *), const char *pattern,
                int threads)
{
    peer_case("graphblas", name, pattern, p->type == GrB_FP32 ? "f32" : "f64", threads, function,
              (void *)(uintptr_t)p);
}

/* `other` is NULL where there is no second pattern. */
static void run_all(const char *pattern, const bench_pattern *of, const bench_pattern *other,
                    bool f32, int threads)
{
    problem         p = { .type       = f32 ? GrB_FP32 : GrB_FP64,
                          .plus_times = f32 ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64,
                          .plus_second = f32 ? GxB_PLUS_SECOND_FP32 : GxB_PLUS_SECOND_FP64,
                          .min_plus = f32 ? GrB_MIN_PLUS_SEMIRING_FP32 : GrB_MIN_PLUS_SEMIRING_FP64,
                          .times    = f32 ? GrB_TIMES_FP32 : GrB_TIMES_FP64,
                          .plus     = f32 ? GrB_PLUS_FP32 : GrB_PLUS_FP64,
                          .divide   = f32 ? GrB_DIV_FP32 : GrB_DIV_FP64,
                          .axpb     = f32 ? GrB_PLUS_FP32 : GrB_PLUS_FP64,
                          .max      = f32 ? GrB_MAX_MONOID_FP32 : GrB_MAX_MONOID_FP64 };
    const GrB_Index n = (GrB_Index)of->rows;

    p.a       = matrix(of, 0, p.type, f32);
    p.x       = vector(of->rows, p.type, 1);
    p.links   = vector(of->rows, p.type, 2);
    p.full[0] = full(of->rows, 16, p.type, f32);
    p.full[1] = full(of->rows, 64, p.type, f32);
    DO(GrB_Vector_new(&p.y, p.type, n));
    DO(GrB_Vector_new(&p.part, p.type, n));
    DO(GrB_Matrix_new(&p.result, p.type, n, 16));
    DO(GrB_Matrix_new(&p.sampled, p.type, n, n));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        run(&p, cases[k].name, cases[k].run, pattern, threads);
    DO(GrB_Matrix_new(&p.made, p.type, n, n));
    if (other) {
        p.other = matrix(other, 1, p.type, f32);
        run(&p, "times.new", times, pattern, threads);
        run(&p, "plus.new", plus, pattern, threads);
        GrB_Matrix_free(&p.other);
    } else
        run(&p, "square.new", square, pattern, threads);
    GrB_Matrix_free(&p.made);
    GrB_Matrix_free(&p.a);
    GrB_Matrix_free(&p.result);
    GrB_Matrix_free(&p.sampled);
    GrB_Matrix_free(&p.full[0]);
    GrB_Matrix_free(&p.full[1]);
    GrB_Vector_free(&p.x);
    GrB_Vector_free(&p.y);
    GrB_Vector_free(&p.links);
    GrB_Vector_free(&p.part);
}

int main(int argc, char **argv)
{
    const int    threads = argc > 2 ? atoi(argv[2]) : 1;
    const double scale   = argc > 3 ? atof(argv[3]) : 1;

    DO(GrB_init(GrB_NONBLOCKING));
    DO(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
    for (int k = 0; k < PEER_PATTERNS; k++) {
        const bench_pattern *of    = bench_pattern_of(peer_patterns[k].kind, scale, argv[1]);
        const bench_pattern *other = peer_patterns[k].kind == PATTERN_RMAT
                                         ? bench_pattern_of(PATTERN_RMAT_OTHER, scale, argv[1])
                                         : NULL;

        for (int f32 = 1; of && f32 >= 0; f32--)
            run_all(peer_patterns[k].name, of, other, f32 == 1, threads);
    }
    return GrB_finalize() == GrB_SUCCESS ? 0 : 1;
}
