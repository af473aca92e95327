/* Groups of packages that depend on each other, whichever way: components of a graph whose matrix is
 * never made symmetric.
 *
 * Package i depends on column[row[i]] .. column[row[i + 1] - 1].  Each package begins with its own
 * number, and takes the least of those that it depends on and that depend on it, until none changes.
 * SciPy 1.17's connected_components(matrix, directed=False) finds the same 172 groups in this matrix. */
#include <rdim.h>

#include <stdio.h>
#include <string.h>

enum { PACKAGES = 4000, TOP = 5, NAME = 64 };

/* The least number among each package's own and its neighbours'. */
static rd_expr *spread(rd_ctx *ctx, rd_expr *depends, rd_expr *number)
{
    rd_expr *none = rd_int(ctx, PACKAGES);
    rd_expr *of_others =
        rd_min(rd_where(depends, rd_expand(number, 0), none), RD_DIMS(1), .initial = none);
    rd_expr *of_users =
        rd_min(rd_where(depends, rd_expand(number, 1), none), RD_DIMS(0), .initial = none);

    return rd_minimum(number, rd_minimum(of_others, of_users));
}

/* How many rounds it took; number[i] is the least package of i's group. */
static int find_groups(rd_ctx *ctx, int32_t *number)
{
    rd_expr *row     = rd_load(ctx, "examples/data/depends_pos.npy");
    rd_expr *column  = rd_load(ctx, "examples/data/depends_crd.npy");
    rd_expr *depends = rd_csr(ctx, RD_SHAPE(PACKAGES, PACKAGES), row, column, NULL, .stored = true);
    int32_t  old[PACKAGES];
    rd_expr *next   = spread(ctx, depends, rd_wrap(ctx, old, RD_SHAPE(PACKAGES)));
    int      rounds = 0;

    for (int i = 0; i < PACKAGES; i++)
        number[i] = i;
    do {
        memcpy(old, number, sizeof old);
        rd_eval(ctx, next, RD_INTO(number, RD_SHAPE(PACKAGES))); /* the plan of the first round */
        rounds++;
    } while (rd_error(ctx) == RD_OK && memcmp(old, number, sizeof old) != 0);
    return rounds;
}

static void report(int rounds, const int32_t *number)
{
    static char name[PACKAGES][NAME];
    FILE       *file           = fopen("examples/data/depends_names.txt", "r");
    int         size[PACKAGES] = { 0 }, groups = 0, alone = 0;

    for (int i = 0; i < PACKAGES; i++) {
        if (!file || !fgets(name[i], NAME, file))
            name[i][0] = 0;
        name[i][strcspn(name[i], "\n")] = 0;
        size[number[i]]++;
    }
    if (file)
        fclose(file);
    for (int i = 0; i < PACKAGES; i++) {
        groups += size[i] > 0;
        alone += size[i] == 1;
    }
    printf("%d groups after %d rounds, %d of them of one package\n", groups, rounds, alone);
    for (int k = 0; k < TOP; k++) {
        int best = 0;

        for (int i = 1; i < PACKAGES; i++)
            if (size[i] > size[best])
                best = i;
        printf("%5d with %s\n", size[best], name[best]);
        size[best] = 0;
    }
}

int main(void)
{
    rd_ctx *ctx = rd_ctx_new(NULL);
    int32_t number[PACKAGES];
    int     rounds = find_groups(ctx, number);

    if (rd_error(ctx) != RD_OK)
        fprintf(stderr, "%s\n", rd_error_text(ctx));
    else
        report(rounds, number);
    int status = rd_error(ctx) != RD_OK;
    rd_ctx_free(ctx);
    return status;
}
