/* Calls that look right and are not, one a line, each with the name that the compiler's error has
 * to show.  refused.sh compiles them one by one; the other lines must compile. */
#include <rdim.h>

void calls(rd_ctx *ctx, rd_expr *x, rd_expr *m, const rd_dims some, float *p);
void calls(rd_ctx *ctx, rd_expr *x, rd_expr *m, const rd_dims some, float *p)
{
    rd_dims  d  = RD_DIMS(1);
    rd_shape s  = RD_SHAPE(2, 3);
    rd_shape ss = s;

    x = rd_sum(x, RD_DIMS(0), .skip_nan = true);
    x = rd_sum(x, RD_KEEP(0, 1), .where = rd_any(m, RD_DIMS(0, 1), .ddof = 1), .type = RD_F32);
    x = rd_mean(x, m ? d : some);
    x = rd_mean(x, some, .weights = m);
    x = rd_max(rd_max(rd_max(x, RD_NONE), RD_ALL), RD_KEEP_ALL);
    x = rd_reduce(x, "sum", RD_EXCEPT(0));
    x = rd_scan(x, "sum", d, .reverse = true);
    x = rd_sum(x, 1);                          /* error: say_RD_DIMS_axis_not_a_number */
    x = rd_sum(x, 0, .skip_nan = true);        /* error: say_RD_DIMS_axis_not_a_number */
    x = rd_mean(x, -1);                        /* error: say_RD_DIMS_axis_not_a_number */
    x = rd_reduce(x, "sum", 1);                /* error: say_RD_DIMS_axis_not_a_number */
    x = rd_scan(x, "sum", 1, .reverse = true); /* error: say_RD_DIMS_axis_not_a_number */
    x = rd_sum(x, s);                          /* error: say_RD_DIMS_axis_not_a_number */

    x = rd_wrap(ctx, p, RD_SHAPE(2, 3), .strides = RD_STRIDES(1, 2));
    x = rd_wrap(ctx, p, RD_SCALAR);
    x = rd_wrap(ctx, p, ss, .order = 1);
    rd_eval(ctx, x, RD_INTO(p, s));
    x = rd_wrap(ctx, p, 6);             /* error: say_RD_SHAPE_extents_not_a_number */
    x = rd_wrap(ctx, p, 6, .order = 1); /* error: say_RD_SHAPE_extents_not_a_number */
    rd_eval(ctx, x, RD_INTO(p, 6));     /* error: say_RD_SHAPE_extents_not_a_number */

    float        t[3][4], u[2][3][4], *rows[2] = { t[0], t[1] }, **deep = rows, far[2][2][2][2];
    const double e[2][3] = { { 0 } };
    void        *raw     = p;

    _Static_assert(RD_TYPE(t) == RD_F32 && RD_TYPE(u) == RD_F32 && RD_TYPE(u[0]) == RD_F32, "");
    _Static_assert(RD_TYPE(&t[0][0]) == RD_F32 && RD_TYPE(t[0]) == RD_F32, "");
    _Static_assert(RD_TYPE(&t) == RD_F32 && RD_TYPE(e) == RD_F64 && RD_TYPE(e[1]) == RD_F64, "");
    x = rd_wrap(ctx, t, RD_SHAPE(3, 4));
    x = rd_wrap(ctx, e, RD_SHAPE(2, 3));
    x = rd_wrap(ctx, rows, RD_SHAPE(2, 4)); /* error: say_a_pointer_to_elements_such_as_float */
    x = rd_wrap(ctx, deep, RD_SHAPE(2, 4)); /* error: say_a_pointer_to_elements_such_as_float */
    x = rd_wrap(ctx, raw, RD_SHAPE(2, 4));  /* error: say_a_pointer_to_elements_such_as_float */
    x = rd_wrap(ctx, far, RD_SHAPE(2, 8));  /* error: say_a_pointer_to_elements_such_as_float */
    x = rd_wrap(ctx, "text", RD_SHAPE(4));  /* error: say_a_pointer_to_elements_such_as_float */
    rd_eval(ctx, x, RD_INTO(raw, s));       /* error: say_a_pointer_to_elements_such_as_float */
    (void)deep, (void)far, (void)raw, (void)u;
    (void)x;
}
