// Calls that C++ refuses, each with words of the error; see refused.sh.
#include <rdim.hpp>

void calls(rd_ctx *ctx, rd_expr *x, float *p, void *raw, const float *fixed, char *letters);
void calls(rd_ctx *ctx, rd_expr *x, float *p, void *raw, const float *fixed, char *letters)
{
    float *rows[2] = { p, p };

    x = rd::sum(rd::wrap(ctx, p, RD_SHAPE(2, 3)), RD_DIMS(1));
    x = rd::sum(x, 1);                             // error: rd_dims
    x = rd::sum(x, RD_DIMS(0.5));                  // error: axes are integers
    x = rd::wrap(ctx, p, RD_SHAPE(2.5));           // error: shapes and indices are integers
    x = rd::wrap(ctx, p, 6);                       // error: rd_shape|rd_ints|no matching function for call to .wrap.*int
    x = rd::wrap(ctx, raw, RD_SHAPE(2));           // error: say a pointer to elements
    x = rd::wrap(ctx, rows, RD_SHAPE(2));          // error: say a pointer to elements
    x = rd::wrap(ctx, letters, RD_SHAPE(2));       // error: say a pointer to elements
    rd_eval(ctx, x, rd::into(fixed, RD_SHAPE(2))); // error: invalid conversion|const
    (void)x, (void)rows, (void)raw, (void)fixed, (void)letters;
}
