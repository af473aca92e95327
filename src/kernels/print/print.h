/* print.h - a loop tree as C text.
 *
 * Names in the text: i0 is the index of axis 0, m0 a mark, r5 value 5, s2_0 the first numbers of the
 * states in array 2, a3 the elements in array 3, x1 the memory of slot 1, N4 a number that the caller
 * hands over.  In vector loops i counts elements, n2 is their number in the strip that begins at m2,
 * and p7 points to the first one that statement 7 loads or stores.
 *
 * Of fold 0, tree0 has the nodes of finished blocks.  w9_0 are the nodes that statement 9, a REST, leaves: of
 * all lanes of a cell, or, of a vector loop by call, of neighbouring cells.  f0 is there if tasks share the
 * fold: f0[0] is the fold's block with which the task begins, f0[1] the number of the fold's step behind the
 * task's last one.  After a join f0[1] is rounded up to whole blocks. */
#ifndef RD_KERNELS_PRINT_PRINT_H
#define RD_KERNELS_PRINT_PRINT_H
#include "kernels/loop/loop.h"
#include "kernels/print/dialect.h"
#include "kernels/print/fold_functions.h"

enum { RD_PRINT_NUMBERS = 256 };

typedef struct rd_printing {
    const rd_schedule *t;
    bool               pointers; /* users' reducers and functions are called by their addresses */
    bool               marks;    /* a vector loop tells the number of its statement, for tools    */
    const rd_dialect  *dialect;  /* NULL: C                                                     */
    rd_print_fold     *fold;     /* p->n_fold of them                                           */
    int32_t            n_slot;
    int64_t            number[RD_PRINT_NUMBERS]; /* that the caller hands over                  */
    int32_t            n_number;
    int64_t            state;  /* bytes of a task's state so far                                 */
    const char        *why;    /* no text can be: the reason; NULL                               */
    int32_t            vector; /* the vector loop whose body is printed, -1                      */
    int32_t thread_loop;       /* ... which a thread of a GPU writes out, -1                     */
    int32_t jam;               /* the jam whose points it has beside each other, 0                */
    struct rd_kernel *kernel;  /* of a GPU, which the text is of (gpu/kernel.h); NULL            */
    bool              spelled; /* numbers are not the caller's, so that compilers know them   */
    bool              first;   /* positions are those of its first element                       */
    bool              vectors; /* subscripts of states stand in a vector loop of their own       */
    bool              nontemporal; /* something is stored past the caches                        */
    bool             *known; /* per axis: its index is the number `index` of it                */
    int64_t          *index;
    bool             *left; /* per statement: it is a loop that an EXIT leaves */
    rd_text          *to;
    int               indent;
} rd_printing;

/* c.c: the text of the tree's functions and of the table of them; the caller sets t and pointers,
 * and finds numbers and bytes of state.  False: no memory.  Where no text can be, `why` says so. */
bool rd_print_c(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);

/* All functions that parts of the tree call, for those who write the parts themselves: with
 * rd_print_declare_states(), rd_print_let() and rd_print_body(). */
bool rd_print_functions(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
/* Of these those of operators, and of users' functions; what must be known before anything is printed. */
bool rd_print_operators(rd_printing *n, rd_text *to, rd_get_fn *get, void *pool);
bool rd_print_prepare(rd_printing *n, rd_get_fn *get, void *pool);

/* ---- Between the files of this folder -------------------------------------------------------- */
/* text.c: a line; one that the caller adds to n->to, with its end; a number, spelled out if it is small;
 * positions; edges, "MORE(a, b)". */
__attribute__((format(printf, 2, 3))) void rd_print_line(rd_printing *n, const char *format, ...);
void                                       rd_print_begin_line(rd_printing *n);
void rd_print_number(rd_printing *n, rd_text *to, int64_t value);
void rd_print_axis(const rd_printing *n, rd_text *to, int32_t axis);
/* In a vector loop an index is that of the first element, and i. */
void rd_print_linear(rd_printing *n, rd_text *to, const rd_linear *at);
/* "i": which element of the vector loop at hand; "e" of one that a thread of a GPU walks. */
const char *rd_vector_index_name(const rd_printing *n);
void        rd_print_from(rd_printing *n, rd_text *to, const rd_edge *edge);
void        rd_print_to(rd_printing *n, rd_text *to, const rd_edge *edge);

/* states.c: where states lie; declarations of those in the task's memory, of those of one array of
 * the text; "&s0_0[at], &s0_1[at]"; the first state of a cell, and the state of an element. */
bool rd_print_lay_out_states(rd_printing *n, rd_get_fn *get, void *pool);
void rd_print_declare_states(rd_printing *n);
void rd_print_declare_array(rd_printing *n, const rd_stmt *s);
void rd_print_state_addresses(rd_text *to, const rd_print_fold *f, char name, int32_t store,
                              const char *at);
void rd_print_cell_subscript(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_state_subscript(rd_printing *n, rd_text *to, const rd_stmt *s);
/* One state of an element in a vector loop: compilers find vectors where no loop stands inside. */
bool rd_is_one_state(const rd_printing *n, const rd_stmt *s);

/* vectors.c: vector loops. */
void rd_print_vector(rd_printing *n, int32_t stmt);
/* elements.c: how many elements one has, as text; this number is declared; pointers to its first elements,
 * and its count of loads. */
void rd_print_count(rd_printing *n, rd_text *to, int32_t stmt);
void rd_print_declare_count(rd_printing *n, int32_t stmt);
void rd_print_pointers(rd_printing *n, int32_t stmt);
/* " - LINE_OFFSET(..)": elements that a strip has less, so that the next one begins with a line. */
void rd_print_line_offset(rd_printing *n, rd_text *to, int32_t store);
/* Elements of memory that a loop by call widens into an array; count: of the loop, as text. */
void rd_print_widen(rd_printing *n, int32_t stmt, int32_t load, int32_t result, const char *count);
/* "loads += 2 * n0;": elements that a loop reads are counted. */
void rd_print_loads(rd_printing *n, int32_t stmt, const char *count);
/* "rd_planes_u8(a5, a6, a7, p9, n0);": three planes of bytes. */
void rd_print_planes(rd_printing *n, int32_t stmt, const char *count);
/* How many elements a vector loop in the padded strip around a statement has, 0: there is none. */
int32_t rd_padded_around(const rd_schedule *t, int32_t stmt);
/* Is the element at hand one of a padded copy, which has the name z? */
bool rd_is_padded(const rd_printing *n, int32_t stmt, const rd_linear *at);
/* row_groups.c: a vector loop by call that copies rows which lie apart; false: it is none. */
bool rd_print_strided_rows(rd_printing *n, int32_t stmt);
/* quotients.c: is the value a quotient by a constant, of an int or rounded to a whole number; as
 * text. */
bool rd_is_short_quotient(const rd_printing *n, const rd_let *let);
void rd_print_short_quotient(const rd_printing *n, rd_text *to, const rd_let *let);
/* remainders.c: floored division of a strip by a number that is known, and what it leaves. */
void rd_print_remainder_by_constant(rd_printing *n, const rd_let *let, int32_t result,
                                    const char *count);
/* Is the element at hand that of a pointer which was declared before the vector loop? */
bool rd_has_pointer(const rd_printing *n, int32_t slot, const rd_linear *at, int32_t parent);

/* functions.c: the function that a vector loop by call takes; false: it is none of values. */
bool rd_print_strip_function(rd_printing *n, int32_t stmt);

/* rests.c: does the loop behind it go on where its whole steps end; is it such a loop? */
bool rd_has_tail_loop(const rd_printing *n, int32_t stmt);
bool rd_is_tail_loop(const rd_printing *n, int32_t stmt);

/* values.c: the instruction that a value would be, for what emit/ asks. */
rd_inst rd_print_inst(const rd_printing *n, const rd_let *let);

/* parts.c: the functions of all parts of the program, or the one of all of them. */
void rd_print_parts(rd_printing *n, rd_text *to);

/* Statements: values.c, calls.c, folds.c, closes.c, exits.c, prefixes.c, copies.c, loops.c. */
void rd_print_let(rd_printing *n, const rd_stmt *s);
void rd_print_store(rd_printing *n, int32_t stmt);
void rd_print_value(rd_printing *n, rd_text *to, const rd_let *let);
void rd_print_call(rd_printing *n, int32_t value);
/* Of a strip, whose operands are elements of arrays, as the result is. */
void rd_print_strip_call(rd_printing *n, const rd_let *let, int32_t result, const char *count);
void rd_print_begin(rd_printing *n, const rd_stmt *s);
void rd_print_step(rd_printing *n, const rd_stmt *s);
/* "step0(states, x, w, index, take, power);" */
void rd_print_add_step(rd_printing *n, rd_text *to, const rd_stmt *s, const char *states);
/* steps.c: "&p0_0[at], &q0_0[at]", of what is before a scan's block.  "&s0_0[0], tree0, 64, 0, 64": all
 * lanes of a cell from `at` on, or neighbouring cells of a vector loop, in a tree of rows of all
 * states. */
void rd_print_carry_in(rd_text *to, const rd_print_fold *f, int32_t store, const char *at);
void rd_print_block_arguments(rd_printing *n, rd_text *to, const rd_stmt *s, const char *at);
/* labels.c: "step0(..);" of an element that goes to its label's cell.  What is declared before a
 * vector loop for a statement that is such a step. */
void rd_print_group_step(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_group_pointer(rd_printing *n, int32_t stmt);
/* groups.c: is it a step of neighbours that go to neighbouring states, of any label?  States behind those
 * of all cells, for elements of no group. */
bool    rd_has_group_pointer(const rd_schedule *t, const rd_stmt *s);
bool    rd_has_discard_state(const rd_schedule *t, const rd_stmt *s);
int64_t rd_print_discard_states(const rd_schedule *t, int32_t fold);
/* turns.c: "t7[i]", the subscript of the state that an element goes to in turn; false: it is found
 * where the step is.  All subscripts of a loop's elements, before the loop. */
bool rd_print_group_subscript(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_group_subscripts(rd_printing *n, int32_t loop, const char *count);
/* sorts.c: "q->sort(q, 0, from, to);" */
void rd_print_sort(rd_printing *n, const rd_stmt *s);
/* runs.c: another label comes; the states of the last one go back. */
void rd_print_label_change(rd_printing *n, int32_t stmt);
void rd_print_run_write_back(rd_printing *n, const rd_stmt *s);
/* The range at hand ends where memory has another number. */
void rd_print_run_end(rd_printing *n, const rd_stmt *s);
void rd_print_state_copy(rd_printing *n, const rd_stmt *s);
void rd_print_block_limit(rd_printing *n, const rd_stmt *s);
/* "r3, 1": the element and its weight. */
void rd_print_element(const rd_printing *n, rd_text *to, const rd_stmt *s);
/* powers.c: a vector loop of one step that takes exponentials.  False: it is none. */
bool rd_print_exp_steps(rd_printing *n, int32_t loop);
/* lookups.c: a vector loop by call that looks up elements of small tables.  False: it is none.  The
 * functions that those of the tree call. */
bool rd_print_lookups(rd_printing *n, int32_t loop);
void rd_print_lookup_functions(const rd_printing *n, rd_text *to);
/* fours.c: a vector loop by call whose elements a step takes as one.  False: it is none. */
bool rd_print_unrolled_steps(rd_printing *n, int32_t loop);
/* turned.c: a vector loop by call that turns rows into columns.  False: it does not. */
bool rd_print_transpose(rd_printing *n, int32_t stmt);
void rd_print_block_end(rd_printing *n, const rd_stmt *s);
void rd_print_lane_nodes(rd_printing *n, int32_t stmt);
void rd_print_merge_lanes(rd_printing *n, int32_t stmt);
void rd_print_finish(rd_printing *n, int32_t stmt);
void rd_print_prefetch(rd_printing *n, const rd_stmt *s);
void rd_print_exit(rd_printing *n, const rd_stmt *s);
void rd_print_prefix(rd_printing *n, const rd_stmt *s);
/* What stands before and behind a vector loop of so many elements whose prefixes go by the tree. */
void rd_print_tree_scan_before(rd_printing *n, int32_t stmt, const char *count);
void rd_print_tree_scan_after(rd_printing *n, int32_t stmt, const char *count);
/* "carry0(...)": the block of a scan ends. */
void rd_print_carry(rd_printing *n, rd_text *to, const rd_stmt *s, const char *step);
void rd_print_results(rd_text *to, const rd_stmt *s, const rd_fold *f);
/* "(outer * rows + lane / lanes)": the step that the element is of. */
void rd_print_step_number(rd_printing *n, rd_text *to, const rd_stmt *s);
void rd_print_body(rd_printing *n, int32_t stmt);
#endif
