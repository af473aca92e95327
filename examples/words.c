/* Packages whose descriptions are alike: the cosine between rows of a sparse matrix of words.
 *
 * Package i has the words column[row[i]] .. column[row[i + 1] - 1], each so many times.  A word that few
 * packages have says more (TF-IDF: how often it is there, times log(packages / packages that have it)).
 * SciPy 1.17 has the same cosines, to all digits printed: with counts C as a csr_matrix,
 * W = C.multiply(log(4000 / (C > 0).sum(0))), its rows divided by their norms, and W @ W[i].T. */
#include <rdim.h>

#include <stdio.h>
#include <string.h>

enum { PACKAGES = 4000, WORDS = 3212, NEAREST = 5, NAME = 64 };

static char name[PACKAGES][NAME];

/* Rows of length 1. */
static rd_expr *weights(rd_ctx *ctx)
{
    rd_expr *row    = rd_load(ctx, "examples/data/words_pos.npy");
    rd_expr *column = rd_load(ctx, "examples/data/words_crd.npy");
    rd_expr *count  = rd_cast(rd_load(ctx, "examples/data/words_count.npy"), RD_F64);
    rd_expr *words  = rd_csr(ctx, RD_SHAPE(PACKAGES, WORDS), row, column, count, .stored = true);
    rd_expr *idf    = rd_log(rd_div(rd_num(ctx, PACKAGES), rd_count(words, RD_DIMS(0))));
    rd_expr *weight = rd_mul(words, idf);

    return rd_div(weight, rd_norm(weight, RD_KEEP(1)));
}

/* Those that are nearest to the package of that name, and their cosines. */
static rd_status nearest(rd_ctx *ctx, rd_expr *unit, const char *package)
{
    int64_t  place[NEAREST];
    double   value[NEAREST];
    rd_array places = { .data = place, .type = RD_I64, .shape = RD_SHAPE(NEAREST) };
    rd_array values = { .data = value, .type = RD_F64, .shape = RD_SHAPE(NEAREST) };
    int      i      = 0;

    while (i + 1 < PACKAGES && strcmp(name[i], package) != 0)
        i++;
    rd_expr *cosine = rd_matmul(unit, rd_select(rd_dense(unit), 0, i));
    rd_expr *best   = rd_arg_top_k(cosine, NEAREST, 0);
    rd_eval_many(ctx, RD_RESULTS({ best, &places }, { rd_take(cosine, 0, best), &values }), NULL);
    for (int k = 0; k < NEAREST && rd_error(ctx) == RD_OK; k++)
        printf("%-18s %.6f%s", name[place[k]], value[k], k + 1 < NEAREST ? "\n  " : "\n");
    return rd_error(ctx);
}

int main(void)
{
    static const char *const package[] = { "python3", "openssl", "libsqlite3-0" };
    rd_ctx                  *ctx       = rd_ctx_new(NULL);
    FILE                    *file      = fopen("examples/data/depends_names.txt", "r");
    rd_expr                 *unit      = weights(ctx);
    int                      status    = 0;

    for (int i = 0; i < PACKAGES && file && fgets(name[i], NAME, file); i++)
        name[i][strcspn(name[i], "\n")] = 0;
    if (file)
        fclose(file);
    for (int k = 0; k < 3 && !status; k++)
        status = nearest(ctx, unit, package[k]) != RD_OK;
    if (status)
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    rd_ctx_free(ctx);
    return status;
}
