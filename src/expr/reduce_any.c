/* reduce_any.c - reductions and scans by name, for operands of any kind. */
#include "expr/complex.h"
#include "expr/reduce.h"

/* Reduces x of any kind by name; failures name `call`, or the reducer's own call if that is
 * NULL. */
rd_expr *rd_reduce_for(const char *call, rd_expr *x, const char *reducer,
                       const rd_reduce_opts *opts)
{
    if (!x || !rd_is_complex(x))
        return rd_real_reduce(call, x, reducer, opts);
    const char *const own = rd_reduction_call(call ? call : "rd_reduce", x, reducer);

    return own ? rd_complex_reduce(x, call ? call : own, reducer, opts) : NULL;
}

/* Reduces x of any kind by name: the public call. */
rd_expr *rd_reduce_name(rd_expr *x, const char *reducer, const rd_reduce_opts *opts)
{
    return rd_reduce_for(/*call=*/NULL, x, reducer, opts);
}

/* Scans x of any kind by name: the public call. */
rd_expr *rd_scan_name(rd_expr *x, const char *reducer, const rd_reduce_opts *opts)
{
    if (!x || !rd_reduction_scans(x, reducer))
        return NULL;
    return rd_is_complex(x) ? rd_complex_scan(x, reducer, opts) : rd_real_scan(x, reducer, opts);
}
