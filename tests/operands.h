/* operands.h - arrays of three axes as expressions: values, layouts in memory, and masks over them,
 * numbered so that cases can go through them. */
#ifndef RD_TESTS_OPERANDS_H
#define RD_TESTS_OPERANDS_H
#include "nests.h"

enum { N_SHAPES = 9, N_AXES = 7, N_MASKS = 12, N_SHARES = 4 };

extern const rd_shape   operand_shapes[N_SHAPES];
extern const rd_dims    operand_axes[N_AXES];     /* to be reduced                   */
extern const nest_share operand_shares[N_SHARES]; /* two neighbours of one, two or three threads */

/* MOST and LEAST are what changes nothing of a least and of a greatest element: what is left out
 * looks the same. */
typedef enum operand_values {
    NUMBERS,
    TIES,
    NANS,
    UGLIES,
    MOST,
    LEAST,
    MOST_OR_NAN,
    ZEROS,
    N_VALUES
} operand_values;

typedef enum operand_layout {
    DENSE,
    TURNED,  /* the first axis fastest            */
    SWAPPED, /* the last two axes                 */
    EVERY_OTHER,
    EVERY_OTHER_ROW,
    BACKWARDS,
    FROM_ONE, /* rows that do not begin at vectors */
    COMPUTED,
    N_LAYOUTS
} operand_layout;

/* One that has the shape; a slot of the memory. */
rd_expr *operand_of(tile_memory *m, rd_dtype type, const rd_shape *s, operand_layout l,
                    operand_values v);

/* One element in `one_in` counts; 0: none, -1: there is no such mask. */
typedef struct operand_mask {
    const char *what;
    int         one_in;
    int         along; /* the same for all of this axis, -1: of none */
    bool        skip_nan;
    rd_dtype    type;
} operand_mask;

extern const operand_mask operand_masks[N_MASKS];

/* For .where of what reduces x, of shape s; NULL: none. */
rd_expr *operand_mask_of(tile_memory *m, int k, const rd_shape *s, operand_layout l, rd_expr *x);
#endif
