/* PageRank of the packages that others depend on most: a sparse matrix that is never copied.
 *
 * Package i depends on column[row[i]] .. column[row[i + 1] - 1].  Each gives its rank in equal parts to
 * those; what depends on nothing gives to all. */
#include <rdim.h>

#include <stdio.h>
#include <string.h>

enum { PACKAGES = 4000, ROUNDS = 50, TOP = 10, NAME = 64 };

/* The ranks after one more round. */
static rd_expr *next(rd_ctx *ctx, rd_expr *depends, rd_expr *rank)
{
    rd_expr *degree = rd_count(depends, RD_DIMS(1));
    rd_expr *none   = rd_eq(degree, rd_int(ctx, 0));
    rd_expr *part   = rd_where(none, rd_num(ctx, 0), rd_div(rank, degree));
    rd_expr *lost   = rd_sum(rank, RD_ALL, .where = none);
    rd_expr *given  = rd_sum(rd_mul(depends, rd_expand(part, 1)), RD_DIMS(0));

    return rd_map2(given, lost, "given, lost: 0.15 / 4000 + 0.85 * (given + lost / 4000)");
}

static rd_status rank_all(rd_ctx *ctx, double *rank)
{
    rd_expr *row     = rd_load(ctx, "examples/data/depends_pos.npy");
    rd_expr *column  = rd_load(ctx, "examples/data/depends_crd.npy");
    rd_expr *depends = rd_csr(ctx, RD_SHAPE(PACKAGES, PACKAGES), row, column, NULL, .stored = true);
    double   old[PACKAGES];
    rd_expr *y = next(ctx, depends, rd_wrap(ctx, old, RD_SHAPE(PACKAGES)));

    for (int i = 0; i < PACKAGES; i++)
        rank[i] = 1.0 / PACKAGES;
    for (int k = 0; k < ROUNDS && rd_error(ctx) == RD_OK; k++) {
        memcpy(old, rank, sizeof old);
        rd_eval(ctx, y, RD_INTO(rank, RD_SHAPE(PACKAGES))); /* the plan of the first round */
    }
    return rd_error(ctx);
}

static void report(double *rank)
{
    static char name[PACKAGES][NAME];
    FILE       *file = fopen("examples/data/depends_names.txt", "r");
    double      sum  = 0;

    for (int i = 0; i < PACKAGES; i++) {
        if (!file || !fgets(name[i], NAME, file))
            name[i][0] = 0;
        name[i][strcspn(name[i], "\n")] = 0;
        sum += rank[i];
    }
    if (file)
        fclose(file);
    for (int k = 0; k < TOP; k++) {
        int best = 0;

        for (int i = 1; i < PACKAGES; i++)
            if (rank[i] > rank[best])
                best = i;
        printf("%-16s %.6f\n", name[best], rank[best]);
        rank[best] = 0;
    }
    printf("all ranks together: %.6f\n", sum);
}

int main(void)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    double  rank[PACKAGES];

    if (rank_all(ctx, rank) != RD_OK)
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    else
        report(rank);
    int status = rd_error(ctx) != RD_OK;
    rd_ctx_free(ctx);
    return status;
}
