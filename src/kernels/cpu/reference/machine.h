/* machine.h - the state of a task of the interpreter between two instructions. */
#ifndef RD_KERNELS_CPU_REFERENCE_MACHINE_H
#define RD_KERNELS_CPU_REFERENCE_MACHINE_H
#include "kernels/cpu/reference/fold.h"
#include "kernels/cpu/reference/op_functions.h"
#include "kernels/cpu/reference/merge_sort.h"

/* The current index of an axis, and the range that loops over it visit. */
typedef struct rd_axis_range {
    int64_t index, lo, hi;
} rd_axis_range;

/* A loop that is being run.  `at` is the first index of the current round. */
typedef struct rd_open_loop {
    rd_axis_range outside; /* the axis as the loop found it */
    int64_t       at;
    int32_t       body; /* first instruction             */
} rd_open_loop;

/* The code of a MAP. */
typedef struct rd_decoded {
    rd_op_fn *code;
    bool      narrow; /* the result must be wrapped to its type */
} rd_decoded;

/* It lies in the task's state, with all arrays that it points to. */
typedef struct rd_machine {
    const rd_program *p;
    rd_task          *task;
    rd_word          *reg; /* reg[-1] exists: operands that an instruction lacks have an address */
    rd_axis_range    *axis;
    rd_open_loop     *loop; /* by number of the loop              */
    int32_t          *open; /* numbers of open loops, outer first */
    int32_t           n_open;
    rd_decoded       *op;   /* by instruction, MAPs only          */
    int64_t          *size; /* of an element, by address          */
    rd_fold_state    *fold;
    void             *work; /* of rows that are sorted */
} rd_machine;

/* Bytes of a task's state. */
int64_t rd_machine_bytes(const rd_program *p);
/* Makes it in a task's state; operators are looked up here, once. */
rd_machine *rd_machine_new(const rd_program *p, char *state);
#endif
