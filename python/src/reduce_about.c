/* reduce_about.c - NumPy's var and std of elements about a mean that is given. */
#include "reduce.h"
#include <string.h>

/* |x - mean|^2 in the type that is asked for, of ints in float64 */
static rd_expr *squares(rd_expr *x, rd_expr *mean, rd_dtype type)
{
    rd_expr *const away = rd_sub(type == RD_AUTO ? x : rd_cast(x, type), mean);

    if (!away || !rdpy_is_complex(rd_type_of(away)))
        return rd_square(away && rd_type_of(away) < RD_F16 ? rd_cast(away, RD_F64) : away);
    return rd_add(rd_square(rd_real(away)), rd_square(rd_imag(away)));
}

/* Elements that take part: all, those of the mask, and with skip_nan none that is NaN. */
static rd_expr *taking_part(rd_ctx *ctx, rd_expr *x, const rd_reduce_opts *opts)
{
    rd_expr *const all = rd_broadcast(rd_cast(rd_int(ctx, 1), RD_BOOL), rd_shape_of(x));

    return opts->skip_nan && rd_type_of(x) >= RD_F16 ? rd_not(rd_isnan(x)) : all;
}

rd_expr *rdpy_about_mean(rd_ctx *ctx, const rdpy_folding *f, rd_expr *x, rd_expr *mean)
{
    rd_reduce_opts sum = f->opts, count = f->opts;
    rd_expr       *y, *n;

    if (!x || !mean)
        return NULL;
    if (sum.weights) {
        PyErr_Format(PyExc_TypeError, "rdim.%s(): mean= and weights= do not go together",
                     f->row->name);
        return NULL;
    }
    sum.type = count.type = RD_AUTO;
    sum.ddof = count.ddof = 0;
    count.skip_nan        = false;
    y                     = rd_reduce_name(squares(x, mean, f->opts.type), "sum", &sum);
    n                     = rd_reduce_name(taking_part(ctx, x, &f->opts), "count", &count);
    n                     = rd_maximum(rd_sub(n, rd_num(ctx, f->opts.ddof)), rd_int(ctx, 0));
    y                     = y ? rd_div(y, rd_cast(n, rd_type_of(y))) : NULL;
    return strcmp(f->row->reducer, "std") == 0 ? rd_sqrt(y) : y;
}
