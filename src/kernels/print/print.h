/* print.h - a loop tree printed as C text (or CUDA C, or OpenCL C: dialect.h).
 *
 * Names in the text:
 *     i0      index of axis 0                       r5      value 5
 *     m0      a mark: where a loop or strip begins  s2_0    numbers 0 of the states in array 2
 *     a3      elements of array 3                   x1      memory of slot 1
 *     N4      a number that the caller passes       f0      facts of fold 0, see below
 *
 * In a vector loop i counts elements, n2 is the number of them in the strip that begins at m2,
 * and p7 points to the first element that statement 7 loads or stores.
 *
 * tree0 holds the nodes of finished blocks of fold 0.  w9_0 are the nodes that statement 9, a
 * MERGE_BLOCKS, makes: one for each lane of a cell; or, in a vector loop by call, one for each
 * neighbouring cell. f0 exists if tasks share the fold.  f0[0] is the block with which the task
 * begins, f0[1] the step behind its last one.  A join rounds f0[1] up to whole blocks. */
#ifndef RD_KERNELS_PRINT_PRINT_H
#define RD_KERNELS_PRINT_PRINT_H
#include "kernels/loop/loop.h"
#include "kernels/print/dialect.h"
#include "kernels/print/fold_functions.h"

/* Numbers that the caller of a text passes, at most: different extents and strides. */
enum { RD_PRINT_NUMBERS = 256 };

/* A text that is being printed.  The caller sets t, pointers, marks and dialect; the printer finds
 * numbers, bytes of state, and why. */
typedef struct rd_printing {
    const rd_schedule *t;        /* the loop tree                                                */
    bool               pointers; /* users' reducers and functions are called by their addresses  */
    bool               marks;    /* a comment tells the statement of each vector loop, for tools */
    const rd_dialect  *dialect;  /* the language; NULL: C                                        */
    rd_print_fold     *fold;     /* per fold of the program                                      */
    int32_t            n_slot;   /* slots that addresses name                                    */
    int64_t            number[RD_PRINT_NUMBERS]; /* values of N0 .., which the caller passes     */
    int32_t            n_number;
    int64_t            state;       /* bytes of a task's state, as far as they are allotted      */
    const char        *why;         /* the reason why there can be no text; NULL                 */
    int32_t            vector;      /* the vector loop whose body is printed; -1: none           */
    int32_t            thread_loop; /* the loop whose rounds a GPU thread has unrolled; -1       */
    int32_t            jam;         /* the jam whose points that loop has beside each other; 0   */
    struct rd_kernel  *kernel;      /* the GPU kernel that the text is of (gpu/kernel.h); NULL   */
    bool               spelled;     /* all numbers are spelled out, so that compilers know them  */
    bool     at_first_element;      /* positions are those of a vector loop's first element      */
    bool     vectors;               /* group subscripts are computed in a vector loop            */
    bool     nontemporal;           /* the part has non-temporal stores, and needs a fence       */
    bool    *axis_is_known;         /* per axis: its index is axis_value[axis]             */
    int64_t *axis_value;
    bool    *is_exited; /* per statement: it is a loop that an early exit leaves */
    rd_text *to;        /* where lines go */
    int      indent;
} rd_printing;

/* Prints the text of all functions of a tree, and the table of them (c.c).  False: no memory.  If
 * there can be no text, `why` says so. */
bool rd_print_c(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);

/* Prints all functions that parts of the tree call.  Callers that print the parts themselves use
 * rd_print_declare_states(), rd_print_let() and rd_print_body(). */
bool rd_print_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
/* Prints functions of operators, and users' functions. */
bool rd_print_operators(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
/* Finds what must be known before anything is printed. */
bool rd_print_prepare(rd_printing *n, rd_get_fn *get, void *pool);

/* ---- Between the files of this folder -------------------------------------------------------- */
/* index_text.c: prints a line; begins one that the caller goes on with in n->to. */
__attribute__((format(printf, 2, 3))) void rd_print_line(rd_printing *n, const char *format, ...);
void                                       rd_print_begin_line(rd_printing *n);
/* Print a line that opens a block, "if (x) {", and what closes it; lines between are indented. */
void rd_print_open(rd_printing *n, const char *line);
void rd_print_close(rd_printing *n);
void rd_print_close_blocks(rd_printing *n, int blocks);
/* Adds a number, spelled out if it is small; the name of an axis or a mark: "i0", "m2". */
void rd_print_number(rd_printing *n, rd_text *to, int64_t value);
void rd_print_axis(const rd_printing *n, rd_text *to, int32_t axis);
/* Adds a position: "m0 * 4 + i * 4".  In a vector loop an index is that of its first element,
 * plus i. */
void rd_print_linear(rd_printing *n, rd_text *to, const rd_linear *at);
/* Returns the name of a round of the vector loop: "i"; "e" in a serial loop of a GPU thread. */
const char *rd_vector_index_name(const rd_printing *n);
/* Adds the lower edge of a loop, "MORE(a, b)"; the upper one, "LESS(a, b)". */
void rd_print_from(rd_printing *n, rd_text *to, const rd_edge *edge);
void rd_print_to(rd_printing *n, rd_text *to, const rd_edge *edge);

/* state_layout.c: allots memory of states; declares states in the task's memory; declares one
 * array. */
bool rd_print_lay_out_states(rd_printing *n, rd_get_fn *get, void *pool);
void rd_print_declare_states(rd_printing *n);
void rd_print_declare_array(rd_printing *n, const rd_stmt *s);
/* twin_extremes.c: finds extremes that need no states of their own. */
void rd_print_find_twins(rd_printing *n);
/* The array with the states of the statement's fold: its own, or its twin's. */
static inline int32_t rd_states_at(const rd_printing *n, const rd_stmt *s)
{
    return n->fold[s->fold].twin ? n->fold[s->fold].twin - 1 : s->store;
}
/* Adds "&s0_0[at], &s0_1[at]". */
void rd_print_state_addresses(rd_text *to, const rd_print_fold *f, char name, int32_t store,
                              const char *at);
/* Adds the subscript of a cell's first state; of the state that an element goes to. */
void rd_print_cell_subscript(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_state_subscript(rd_printing *n, rd_text *to, const rd_stmt *s);
/* True if a vector loop has one state, in a variable.  Compilers vectorise such a loop if no other
 * loop stands inside. */
bool rd_is_one_state(const rd_printing *n, const rd_stmt *s);

/* vector_loops.c: prints a vector loop. */
void rd_print_vector(rd_printing *n, int32_t stmt);
/* vector_elements.c: adds the number of elements of a vector loop; declares that number; declares
 * pointers to the first elements, and counts loads. */
void rd_print_count(rd_printing *n, rd_text *to, int32_t stmt);
void rd_print_declare_count(rd_printing *n, int32_t stmt);
void rd_print_pointers(rd_printing *n, int32_t stmt);
/* Adds " - LINE_OFFSET(..)": so many elements less, so that the next strip begins with a line. */
void rd_print_line_offset(rd_printing *n, rd_text *to, int32_t store);
/* Prints "rd_widen_f16(a5, p7, n0);".  count: elements of the loop, as text. */
void rd_print_widen(rd_printing *n, int32_t stmt, int32_t load, int32_t result, const char *count);
/* Prints "loads += 2 * n0;". */
void rd_print_loads(rd_printing *n, int32_t stmt, const char *count);
/* Prints "rd_planes_u8(a5, a6, a7, p9, n0);": three planes of bytes. */
void rd_print_planes(rd_printing *n, int32_t stmt, const char *count);
/* Returns the elements of a vector loop in the padded strip around a statement; 0: there is
 * none. */
int32_t rd_padded_around(const rd_schedule *t, int32_t stmt);
/* True if the load has a padded copy, named z. */
bool rd_is_padded(const rd_printing *n, int32_t stmt, const rd_linear *at);
/* True if the address has a pointer that was declared before the vector loop. */
bool rd_has_pointer(const rd_printing *n, int32_t slot, const rd_linear *at, int32_t parent);
/* strided_rows.c: prints a vector loop by call that copies rows which lie apart.  False: it is
 * none. */
bool rd_print_strided_rows(rd_printing *n, int32_t stmt);
/* quotients.c: true if the value is a quotient by a constant that a product gives exactly; adds
 * it. */
bool rd_is_short_quotient(const rd_printing *n, const rd_tree_value *let);
void rd_print_short_quotient(const rd_printing *n, rd_text *to, const rd_tree_value *let);
/* remainders.c: prints floored division of a strip by a known number, or its remainder. */
void rd_print_remainder_by_constant(rd_printing *n, const rd_tree_value *let, int32_t result,
                                    const char *count);

/* strip_functions.c: prints a vector loop by call that makes values.  False: it makes none. */
bool rd_print_strip_function(rd_printing *n, int32_t stmt);

/* tail_loops.c: true if the next loop is this one's tail; true if the loop is such a tail. */
bool rd_has_tail_loop(const rd_printing *n, int32_t stmt);
bool rd_is_tail_loop(const rd_printing *n, int32_t stmt);

/* value_text.c: returns the instruction that a value would be, for functions of emit/. */
rd_inst rd_print_inst(const rd_printing *n, const rd_tree_value *let);

/* part_functions.c: prints the functions of all parts of the program, or the one of all of them. */
void rd_print_parts(rd_printing *n, rd_text *to);

/* ---- Statements ------------------------------------------------------------------------------ */
/* value_text.c */
void rd_print_let(rd_printing *n, const rd_stmt *s);
void rd_print_store(rd_printing *n, int32_t stmt);
void rd_print_value(rd_printing *n, rd_text *to, const rd_tree_value *let);
/* user_calls.c: prints a call for one element; for a strip, between arrays. */
void rd_print_call(rd_printing *n, int32_t value);
void rd_print_strip_call(rd_printing *n, const rd_tree_value *let, int32_t result,
                         const char *count);
/* fold_steps.c: begins, steps and ends of blocks. */
void rd_print_begin(rd_printing *n, const rd_stmt *s);
void rd_print_step(rd_printing *n, const rd_stmt *s);
void rd_print_block_limit(rd_printing *n, const rd_stmt *s);
void rd_print_block_end(rd_printing *n, const rd_stmt *s);
/* step_calls.c: adds "step0(states, x, w, index, mask, power);". */
void rd_print_add_step(rd_printing *n, rd_text *to, const rd_stmt *s, const char *states);
/* Adds "r3, 1": the element and its weight. */
void rd_print_element(const rd_printing *n, rd_text *to, const rd_stmt *s);
/* Adds "(line * rows + lane / lanes)": the number of the step that takes the element. */
void rd_print_step_number(rd_printing *n, rd_text *to, const rd_stmt *s);
/* Adds " float r5;": declarations of the results. */
void rd_print_results(rd_text *to, const rd_stmt *s, const rd_fold *f);
/* Adds ", &p0_0[at], &q0_0[at]": what is before a scan's block. */
void rd_print_carry_in(rd_text *to, const rd_print_fold *f, int32_t store, const char *at);
/* Adds "carry0(...)": the block of a scan ends. */
void rd_print_carry(rd_printing *n, rd_text *to, const rd_stmt *s, const char *step);
/* Adds "&s0_0[0], tree0, 64, 0, 64": the states from `at` on of a cell's lanes, or of neighbouring
 * cells of a vector loop; the tree; and the columns of the tree that they go to. */
void rd_print_block_arguments(rd_printing *n, rd_text *to, const rd_stmt *s, const char *at);
/* group_steps.c: adds the step of an element that goes to its group's cell; prints the pointer to
 * states that such a step has before its vector loop, if it has one. */
void rd_print_group_step(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_group_pointer(rd_printing *n, int32_t stmt);
/* group_states.c: true if neighbours go to neighbouring states by a pointer; true if elements of no
 * group have a state; the number of such discard states behind those of all cells. */
bool    rd_has_group_pointer(const rd_schedule *t, const rd_stmt *s);
bool    rd_has_discard_state(const rd_schedule *t, const rd_stmt *s);
int64_t rd_print_discard_states(const rd_schedule *t, int32_t fold);
/* group_subscripts.c: adds "t7[i]", the subscript of a serial step's state.  False: the step finds
 * it.  Prints all subscripts of a loop's steps, before the loop. */
bool rd_print_group_subscript(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_group_subscripts(rd_printing *n, int32_t loop, const char *count);
/* sort_calls.c: prints "q->sort(q, 0, from, to);"; the loop that makes the front of a block. */
void rd_print_sort(rd_printing *n, const rd_stmt *s);
void rd_print_front(rd_printing *n, const rd_stmt *s);
/* label_runs.c: prints the change to another label; the write-back of the last run's states; the
 * end of a range where memory has another label. */
void rd_print_label_change(rd_printing *n, int32_t stmt);
void rd_print_run_write_back(rd_printing *n, const rd_stmt *s);
void rd_print_run_end(rd_printing *n, const rd_stmt *s);
/* promoted_states.c: prints copies of states to a local array, or back. */
void rd_print_state_copy(rd_printing *n, const rd_stmt *s);
/* exp_steps.c: prints a vector loop of one step that takes exponentials.  False: it is none. */
bool rd_print_exp_steps(rd_printing *n, int32_t loop);
/* lookup_calls.c: prints a vector loop by call that looks up elements of small tables; false: it is
 * none.  Prints the functions that those calls name. */
bool rd_print_lookups(rd_printing *n, int32_t loop);
void rd_print_lookup_functions(const rd_printing *n, rd_text *to);
/* unrolled_steps.c: prints a vector loop by call whose step takes four elements at once.  False: it
 * is none. */
bool rd_print_unrolled_steps(rd_printing *n, int32_t loop);
/* transpose_calls.c: prints a vector loop by call that transposes rows.  False: it does not. */
bool rd_print_transpose(rd_printing *n, int32_t stmt);
/* fold_ends.c: states become one node a lane; these become one; that becomes results. */
void rd_print_lane_nodes(rd_printing *n, int32_t stmt);
void rd_print_merge_lanes(rd_printing *n, int32_t stmt);
void rd_print_finish(rd_printing *n, int32_t stmt);
/* vector_loops.c: prints "PREFETCH(..)". */
void rd_print_prefetch(rd_printing *n, const rd_stmt *s);
/* early_exits.c: prints "if (is_final0(..)) goto left7;". */
void rd_print_exit(rd_printing *n, const rd_stmt *s);
/* scan_steps.c: prints an element of a scan and its result; and what comes before and behind a
 * vector loop of `count` elements, if its scans go by the tree of a block. */
void rd_print_prefix(rd_printing *n, const rd_stmt *s);
void rd_print_tree_scan_before(rd_printing *n, int32_t stmt, const char *count);
void rd_print_tree_scan_after(rd_printing *n, int32_t stmt, const char *count);
/* loop_text.c: prints the statements of a body. */
void rd_print_body(rd_printing *n, int32_t stmt);
#endif
