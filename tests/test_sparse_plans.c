/* How sparse expressions are planned: what is a row of places, and what is computed once. */
#include "values.h"
#include <stdio.h>

enum { I = 20, J = 30, K = 500, EACH = 8, PLACES = I * J * EACH };

static int32_t pos[I * J + 1], fibre[I * J], top[I + 1], crd[PLACES];
static double  values[PLACES], weights[K], shifts[K];

/* Each fibre of the cube has places, but the last of each i. */
static void make(void)
{
    int64_t f = 0, p = 0;

    for (int i = 0; i < I; i++) {
        for (int j = 0; j < J - 1; j++) {
            for (int k = 0; k < EACH; k++) {
                crd[p]    = k * (K / EACH) + (7 * i + j) % (K / EACH);
                values[p] = (double)((p * 13) % 17) - 8;
                p++;
            }
            fibre[f++] = j;
            pos[f]     = (int32_t)p;
        }
        top[i + 1] = (int32_t)f;
    }
    for (int k = 0; k < K; k++) {
        weights[k] = 1 + k % 5;
        shifts[k]  = 0.5 * (k % 3);
    }
}

static rd_expr *row_of(const void *data, rd_dtype type, int64_t n)
{
    return rd_leaf(ctx, &(rd_array){ .in = data, .type = type, .shape = RD_SHAPE(n) });
}

static rd_expr *cube(bool stored)
{
    const int64_t fibres = top[I], places = pos[fibres];

    return rd_sparse(ctx, RD_SHAPE(I, J, K),
                     RD_LEVELS({ RD_LEVEL_DENSE, 0, NULL, NULL },
                               { RD_LEVEL_COMPRESSED, 1, row_of(top, RD_I32, I + 1),
                                 row_of(fibre, RD_I32, fibres) },
                               { RD_LEVEL_COMPRESSED, 2, row_of(pos, RD_I32, fibres + 1),
                                 row_of(crd, RD_I32, places) }),
                     row_of(values, RD_F64, places), .stored = stored);
}

static rd_expr *matrix(void)
{
    const int64_t fibres = top[I], places = pos[fibres];

    return rd_csr(ctx, RD_SHAPE(fibres, K), row_of(pos, RD_I32, fibres + 1),
                  row_of(crd, RD_I32, places), row_of(values, RD_F64, places), .stored = true);
}

/* Both coordinates that stay are one label in memory, so that its rows are loops. */
START_TEST(leading_coordinates)
{
    for (int stored = 0; stored < 2; stored++) {
        rd_expr *const y          = rd_sum(cube(stored), RD_DIMS(2));
        const char    *text       = plan_text(y);
        double         sums[I][J] = { { 0 } };

        ck_assert_msg(times_in(text, ": leaf i32") == 1, "%s", text);
        ck_assert(
            rd_eval(ctx, y, &(rd_array){ .data = sums, .type = RD_F64, .shape = RD_SHAPE(I, J) }) ==
            RD_OK);
        for (int i = 0; i < I; i++)
            for (int j = 0; j < J; j++) {
                double sum = 0;

                for (int p = j < J - 1 ? pos[top[i] + j] : 0; j < J - 1 && p < pos[top[i] + j + 1];
                     p++)
                    sum += values[p];
                ck_assert_msg(sums[i][j] == sum, "[%d, %d]: %g, not %g", i, j, sums[i][j], sum);
            }
    }
}
END_TEST

/* Others are multiplied out, without a look whether they are inside. */
START_TEST(other_coordinates)
{
    const char *text = plan_text(rd_sum(cube(true), RD_DIMS(1)));

    ck_assert_msg(strstr(text, "* 500) + ") && !strstr(text, "-1"), "%s", text);
}
END_TEST

/* rd_explain() says what each of all places costs, and only where it does. */
START_TEST(looked_up)
{
    const char *all = plan_text(rd_argmax(cube(false), RD_DIMS(2))), *self = plan_text(cube(false));

    ck_assert_msg(times_in(all, "looked up: each place that is read of a sparse (") == 1 &&
                      strstr(all, "that are stored"),
                  "%s", all);
    ck_assert_msg(times_in(self, "looked up: ") == 1, "%s", self);
    ck_assert(!strstr(plan_text(rd_sum(cube(false), RD_DIMS(2))), "looked up"));
    ck_assert(!strstr(plan_text(rd_argmax(cube(true), RD_DIMS(2))), "looked up"));
}
END_TEST

/* Of 10^9 possible rows there is no list; a cube that was trusted, and is not in order, has none. */
START_TEST(no_rows)
{
    static const int32_t far[3] = { 1, 70000, 99999 }, row[4] = { 1, 1, 0, 0 };
    const rd_level       coo = { RD_LEVEL_COORDINATES, 0, NULL, row_of(far, RD_I32, 3) };
    rd_expr *const       wide =
        rd_sparse(ctx, RD_SHAPE(100000, 100000, 4),
                  RD_LEVELS(coo, { RD_LEVEL_COORDINATES, 1, NULL, row_of(far, RD_I32, 3) },
                            { RD_LEVEL_COORDINATES, 2, NULL, row_of(row, RD_I32, 3) }),
                  row_of(values, RD_F64, 3), .stored = true);
    rd_expr *const tangled =
        rd_sparse(ctx, RD_SHAPE(2, 2, 2),
                  RD_LEVELS({ RD_LEVEL_COORDINATES, 0, NULL, row_of(row, RD_I32, 4) },
                            { RD_LEVEL_COORDINATES, 1, NULL, row_of(row, RD_I32, 4) },
                            { RD_LEVEL_COORDINATES, 2, NULL,
                              row_of((const int32_t[]){ 0, 1, 0, 1 }, RD_I32, 4) }),
                  row_of(values, RD_F64, 4), .stored = true, .trusted = true);
    double sums[2][2] = { { 0 } };

    ck_assert(strstr(plan_text(rd_sum(wide, RD_DIMS(2))), "* 100000) + "));
    ck_assert(rd_eval(ctx, rd_sum(tangled, RD_DIMS(2)),
                      &(rd_array){ .data = sums, .type = RD_F64, .shape = RD_SHAPE(2, 2) }) ==
              RD_OK);
    ck_assert(sums[1][1] == values[0] + values[1] && sums[0][0] == values[2] + values[3]);
}
END_TEST

/* An exponential that a fold by rows reads is a pass of its own, by vectors, whoever else reads
 * it. */
START_TEST(functions_come_first)
{
    const char *text = plan_text(rd_stored(rd_softmax(matrix(), RD_DIMS(1))));

    ck_assert_msg(times_in(text, "exp(") == 1, "%s", text);
    text = plan_text(rd_sum(rd_exp(matrix()), RD_DIMS(1)));
    ck_assert_msg(times_in(text, " = exp(") == 1 && !strstr(text, "sum(exp"), "%s", text);
}
END_TEST

/* What is gathered often is one array, where it is made of several. */
START_TEST(quotients_are_gathered)
{
    rd_expr *const w = row_of(weights, RD_F64, K), *const s = row_of(shifts, RD_F64, K);
    const char *text = plan_text(rd_matmul(matrix(), rd_add(w, s)));

    ck_assert_msg(strstr(text, "add (500) is stored"), "%s", text);
    text = plan_text(rd_matmul(matrix(), rd_add(w, rd_num(ctx, 1))));
    ck_assert_msg(!strstr(text, "is stored"), "%s", text);
}
END_TEST

/* What is gathered from an array that no cache holds is gathered once, and stored. */
START_TEST(far_gathers_are_stored)
{
    enum { MANY = 200000 };
    static double  far[MANY];
    rd_expr *const at = row_of(crd, RD_I32, pos[top[I]]);

    for (int wide = 0; wide < 2; wide++) {
        rd_expr *const x    = wide ? row_of(far, RD_F64, MANY) : row_of(weights, RD_F64, K);
        rd_expr *const t    = rd_add(rd_take(x, 0, at), rd_num(ctx, 1));
        const char    *text = plan_text(rd_div(t, rd_sum(t, RD_KEEP(0))));

        ck_assert_msg(times_in(text, "x0[x1[") == (wide ? 1 : 2), "%s", text);
        /* a place that is gathered, which no memory has */
        rd_expr *const place = rd_take(rd_cast(rd_coord(x, 0), RD_F64), 0, at);
        rd_expr *const both  = rd_add(t, rd_mul(place, rd_num(ctx, 3)));

        ck_assert(strstr(plan_text(rd_div(both, rd_sum(both, RD_KEEP(0)))), "stage 0"));
    }
}
END_TEST

/* Maps of what rows come to are part of the loop over these, unless they are functions, read other
 * rows, or take what is gathered. */
START_TEST(maps_of_rows)
{
    rd_expr *const sum = rd_sum(matrix(), RD_DIMS(1)), *const most = rd_max(matrix(), RD_DIMS(1));
    const struct {
        rd_expr *y;
        int      stages;
    } cases[] = {
        { rd_add(rd_mul(sum, rd_num(ctx, 0.85)), rd_num(ctx, 0.15)), 1 },
        { rd_cast(sum, RD_F32), 1 },
        { rd_where(rd_gt(most, rd_num(ctx, 0)), sum, most), 1 },
        { rd_sum(rd_sum(matrix(), RD_DIMS(1)), RD_ALL), 2 },
        { rd_exp(sum), 2 },
        { rd_add(sum, rd_flip(sum, RD_DIMS(0))), 2 },
        { rd_add(sum, rd_take(row_of(weights, RD_F64, K), 0, row_of(fibre, RD_I32, top[I]))), 2 },
    };

    for (size_t k = 0; k < COUNT(cases); k++) {
        const char *text = plan_text(cases[k].y);

        ck_assert_msg(times_in(text, "\nstage ") == cases[k].stages, "case %d: %s", (int)k, text);
    }
}
END_TEST

/* A row goes through its places once, with all columns beside it, whatever is folded along these then.  Rows
 * of zeros with a one are finite, so no NaN of 0 times them is counted. */
START_TEST(columns_beside_rows)
{
    enum { LABELS = 8 };
    static int32_t label[K];
    static int64_t got[I * J];
    rd_expr *const full =
        rd_csr(ctx, RD_SHAPE(top[I], K), row_of(pos, RD_I32, top[I] + 1),
               row_of(crd, RD_I32, pos[top[I]]), row_of(values, RD_F64, pos[top[I]]));
    rd_expr *const place =
        rd_reshape(row_of(weights, RD_F64, LABELS * LABELS), RD_SHAPE(LABELS, LABELS));
    rd_expr *const ones   = rd_cast(rd_eq(rd_coord(place, 0), rd_coord(place, 1)), RD_F64);
    rd_expr *const labels = row_of(label, RD_I32, K);
    rd_expr *const is_1 =
        rd_eq(rd_expand(labels, 1), rd_expand(rd_coord(row_of(weights, RD_F64, LABELS), 0), 0));
    rd_expr *const b[] = { rd_take(ones, 0, labels), rd_cast(is_1, RD_F64) };
    char           inside[32];

    for (int k = 0; k < K; k++)
        label[k] = k * 5 % 7 % LABELS;
    snprintf(inside, sizeof inside, ":%d:\n", (int)pos[top[I]]);
    for (size_t k = 0; k < COUNT(b); k++) {
        rd_expr *const y    = rd_argmax(rd_matmul(full, b[k]), RD_DIMS(1));
        const char    *text = plan_text(y);

        ck_assert_msg(!strstr(text, inside) && !strstr(text, "isnan"), "%s", text);
        ck_assert(rd_eval(ctx, y,
                          &(rd_array){ .data = got, .type = RD_I64, .shape = RD_SHAPE(top[I]) }) ==
                  RD_OK);
        for (int64_t f = 0; f < top[I]; f++) {
            double sum[LABELS] = { 0 };
            int    most        = 0;

            for (int32_t p = pos[f]; p < pos[f + 1]; p++)
                sum[label[crd[p]]] += values[p];
            for (int j = 1; j < LABELS; j++)
                most = sum[j] > sum[most] ? j : most;
            ck_assert_msg(got[f] == most, "row %d: %d, not %d", (int)f, (int)got[f], most);
        }
    }
    /* of what may be infinite they are */
    ck_assert(
        strstr(plan_text(rd_matmul(full, rd_expand(row_of(weights, RD_F64, K), 1))), "isnan"));
}
END_TEST

/* ---- Where the extremes of stored elements are ------------------------------------------------ */
/* By going through all places of the cube; axis: the one that is reduced, 3: all. */
static void find_most(int axis, int64_t *at, double *most)
{
    static const int64_t extent[3] = { I, J, K };
    const int64_t        n         = axis == 3 ? 1 : I * J * K / extent[axis];

    for (int64_t r = 0; r < n; r++) {
        at[r]   = -1;
        most[r] = -100;
    }
    for (int64_t i = 0; i < I; i++)
        for (int64_t f = top[i]; f < top[i + 1]; f++)
            for (int64_t p = pos[f]; p < pos[f + 1]; p++) {
                const int64_t j = fibre[f], k = crd[p];
                const int64_t r = axis == 0   ? j * K + k
                                  : axis == 1 ? i * K + k
                                  : axis == 2 ? i * J + j
                                              : 0;

                if (values[p] > most[r]) {
                    most[r] = values[p];
                    at[r]   = axis == 0 ? i : axis == 1 ? j : axis == 2 ? k : (i * J + j) * K + k;
                }
            }
}

START_TEST(where_extremes_are)
{
    static int64_t want[J * K + I * K], got[J * K + I * K];
    static double  most[J * K + I * K];
    const rd_dims  dims[]  = { RD_DIMS(0), RD_DIMS(1), RD_DIMS(2), RD_ALL };
    const int64_t  count[] = { J * K, I * K, I * J, 1 };

    for (int axis = 0; axis < 4; axis++) {
        find_most(axis, want, most);
        for (int negated = 0; negated < 2; negated++) {
            rd_expr *const x   = negated ? rd_neg(cube(true)) : cube(true);
            rd_expr *const y   = negated ? rd_argmin(x, dims[axis]) : rd_argmax(x, dims[axis]);
            rd_array       out = { .data = got, .type = RD_I64, .shape = rd_shape_of(y) };

            ck_assert_msg(y && rd_eval(ctx, y, &out) == RD_OK, "%s", rd_error_text(ctx));
            for (int64_t r = 0; r < count[axis]; r++)
                ck_assert_msg(got[r] == want[r], "axis %d, result %d: %d, not %d", axis, (int)r,
                              (int)got[r], (int)want[r]);
        }
    }
    rd_expr *const turned = rd_permute(cube(true), RD_INDEX(1, 0, 2));
    ck_assert(rd_type_of(rd_argmax(cube(true), RD_DIMS(2), .type = RD_C64)) == RD_C64);
    ck_assert(rd_type_of(rd_argmax(cube(true), RD_DIMS(2), .type = RD_U8)) == RD_U8);
    expect_error("axes in another order", rd_argmax(turned, RD_DIMS(0, 1)), RD_ERR_TYPE);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { leading_coordinates,
                                   other_coordinates,
                                   looked_up,
                                   no_rows,
                                   functions_come_first,
                                   quotients_are_gathered,
                                   far_gathers_are_stored,
                                   maps_of_rows,
                                   columns_beside_rows,
                                   where_extremes_are };

    make();
    return run_suite("sparse plans", tests, COUNT(tests));
}
