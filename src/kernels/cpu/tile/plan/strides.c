/* strides.c - the strides of addresses over the rows and columns of a tile. */
#include "kernels/cpu/tile/plan/tile_plan.h"

/* Returns the stride of an address along a loop in elements, with the other sign if the loop runs
 * backwards; 0 without a loop. */
static int64_t coef_of(const rd_address *at, const rd_loop *loop)
{
    int64_t coef = 0;

    for (int32_t k = 0; loop && k < at->n_add; k++)
        if (at->add[k].axis == loop->axis)
            coef += loop->backwards ? -at->add[k].coef : at->add[k].coef;
    return coef;
}

/* Returns the strides of an address from row to row and from column to column of a tile, in
 * elements; `row` and `col` are the loops over them or NULL (stride 0).  An addend without an axis
 * (-1) is an index in a register, so the address gathers. */
rd_tile_strides rd_tile_strides_of(const rd_address *at, const rd_loop *row, const rd_loop *col)
{
    rd_tile_strides w = {
        .at = at, .row = coef_of(at, row), .col = coef_of(at, col), .size = rd_dtype_size(at->type)
    };

    for (int32_t k = 0; k < at->n_add; k++)
        w.gathers |= at->add[k].axis < 0;
    return w;
}
