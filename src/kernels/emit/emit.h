/* emit.h - emits the C text of what happens to one element: operators, casts, reducers, users'
 * functions.
 *
 * The rows of ops.def and reducers.def become functions of C text.  Compilers for the CPU and
 * for a GPU take the same text, so both give the same bits.  Backends write the loops and the
 * memory accesses around it. */
#ifndef RD_KERNELS_EMIT_H
#define RD_KERNELS_EMIT_H
#include "kernels/program.h"

/* Characters of the name of an emitted function, at most, with its end: "f32_logaddexp". */
enum { RD_EMIT_NAME = 64 };

/* ---- operator_functions.c: types, operators, casts, elements --------------------------------- */
/* The C type of an element in memory; in a register.  Narrow ints have 32 bits in registers, so
 * that vectors hold as many of them as floats. */
const char *rd_memory_type(rd_dtype type);
const char *rd_register_type(rd_dtype type);
int         rd_register_size(rd_dtype type); /* in bytes */
/* The C type of ints of 1 and 2 bytes, and of bools, as small as in memory; NULL: of other
 * types. */
const char *rd_small_type(rd_dtype type);
/* The name of a class in the library's functions: "f32". */
const char *rd_class_name(rd_class class);
/* Write the macros around the rows of ops.def and reducers.def for a register type; and undefine
 * them. */
void rd_begin_type(rd_text *to, const char *type, rd_class class);
void rd_end_type(rd_text *to);

/* Writes the functions of all MAPs and CASTs of a program, each once. */
void rd_emit_ops(rd_text *to, const rd_program *p);
/* Writes the name of such a function: "f32_add", "i8_of_f32". rd_op_warns() is true if it has
 * the argument `&warnings`, as ints may be divided by zero. */
void rd_op_name(const rd_inst *inst, char *name);
bool rd_op_warns(const rd_inst *inst);

/* Writes a constant with all its bits: "rd_float_of(0x3f800000)". */
void rd_add_constant(rd_text *to, const rd_inst *inst);
/* Writes the load of an element to a register: "rd_f16_to_f32(x)".  The conversion for a store:
 * "rd_f16_of_f32(" before the register, ")" behind it. */
void        rd_add_from_memory(rd_text *to, rd_dtype type, const char *element);
void        rd_begin_stored(rd_text *to, rd_dtype type);
const char *rd_end_stored(rd_dtype type);

/* ---- reducer_functions.c, reducer_types.c, reducer_steps.c ----------------------------------- */
/* A user's reducer in the text, see user_reducers.c. */
typedef struct rd_user rd_user;

/* A reducer in the text.  A state is n_state numbers; each lies in a variable or an array of its
 * own. */
typedef struct rd_emit_fold {
    const rd_fold *fold;     /* the fold of the program */
    const rd_user *user;     /* NULL: a built-in reducer                                          */
    bool           masked;   /* a mask says which elements take part                          */
    bool           weighted; /* an element has a second operand, its weight                   */
    bool           merges_empty; /* states that have met no element may be merged                 */
    bool           cells;        /* neighbours are cells of their own, not lanes of one cell      */
    bool     places_ascend;      /* elements of a lane come by rising place                       */
    bool     is_short;       /* blocks are summed in a narrow type (loop/short_sums.c): `sums`; */
    rd_dtype sums, row_sums; /* where one state takes all lanes, in `row_sums`                */
    bool     one_block;      /* `row_sums` holds the sum of all lanes                         */
    bool     narrow;         /* states of small elements are as small, if they are such elements */
    /* the last number of a state is a flag that an element came, where the state cannot show it */
    bool    seen;
    int32_t n_state; /* numbers of a state, with `seen`                               */
    int32_t bytes;   /* most bytes of one number in memory                            */
    int64_t places;  /* elements of a cell                                            */
} rd_emit_fold;

/* Fills the facts that the text of a built-in reducer depends on; `masked` and `empties` are set
 * before. */
void rd_emit_facts(rd_emit_fold *f, int64_t places);
/* Writes begin0(states), step0(states, x, w, i, take), block0(states), merge0(nodes, nodes),
 * finish0(nodes, results) and their parts.  States and nodes are pointers, one for each number. */
void rd_emit_reducer(rd_text *to, const rd_emit_fold *f, int number);
/* The C type of number k of a state; of a node, which is a finished block. */
const char *rd_state_type(const rd_emit_fold *f, int k);
const char *rd_node_type(const rd_emit_fold *f, int k);
/* The name of the class of states in the library's functions: "f32". */
const char *rd_state_elem(const rd_emit_fold *f);
/* The C type of the results of finish0(). */
const char *rd_result_type(const rd_fold *f);
/* Writes the states of a fold by a format that takes their number; their parameters: "float *s0,
 * float *s1". */
void rd_add_each(rd_text *to, const rd_emit_fold *f, const char *format);
void rd_add_parameters(rd_text *to, const rd_emit_fold *f, bool nodes, const char *keep, char name);
/* True if its steps compute an exponential, see RD_LSE. */
bool rd_has_exponential(const rd_emit_fold *f);
/* True if it is a minimum or maximum of a row of floats (nest/sparse_rows.c).  Its elements come
 * one after the other, so each step waits for the one before.  The step is one instruction: a NaN
 * is noted beside it, as bit 2 of the flag that says whether there was an element. fours0(states,
 * x) takes four elements. */
bool rd_is_row_extreme(const rd_emit_fold *f);
/* True if it has a function one0() for elements one after the other: an extreme of a row, or of
 * floats by label, as neighbours often have the same label. */
bool rd_has_scalar_step(const rd_emit_fold *f);
/* True if its lanes are aligned to one of them (RD_LANES_ROW) and added, not merged pairwise. */
bool rd_aligns_lanes(const rd_emit_fold *f);

/* ---- user_reducers.c, user_facts.c ----------------------------------------------------------- */
/* Fills the facts of a user's reducer; f->masked and `empties` are set before.  `pointers`: it
 * is called by its addresses.  False: no memory. */
bool rd_user_facts(rd_emit_fold *f, int number, bool pointers, rd_get_fn *get, void *pool);
/* True if it has all the text that it needs to run without its addresses. */
bool rd_user_has_text(const rd_reducer *r);
/* True if a step may use the index of its element; true without a text. */
bool rd_user_needs_index(const rd_reducer *r);
void rd_user_functions(rd_text *to, const rd_emit_fold *f, int number);
/* Writes declarations of the names that users' texts may use, as C's headers are left out. */
void        rd_add_user_prelude(rd_text *to);
const char *rd_user_state_type(const rd_emit_fold *f, int k);
/* Writes what comes before begin() of states with a given name: "s0_0[l]". */
void rd_add_user_begin(rd_text *to, const rd_emit_fold *f, int number, const char *name,
                       const char *at);
/* The approximate operations of a step and of a merge; the bytes of a state; the size of its
 * widest number if vectors can be made of it, else 0. */
double rd_fold_cost(const rd_fold *f);
int    rd_user_bytes(const rd_emit_fold *f);
int    rd_user_widest(const rd_emit_fold *f);

/* ---- user_functions.c: users' functions by their text ---------------------------------------- */
/* Writes "float call0(const float x, const float y)" for each CALL of the program that has a
 * text. */
void rd_emit_functions(rd_text *to, const rd_program *p);
/* The C type of a function's operands: registers, or elements as in memory. */
const char *rd_operand_type(const rd_call *call, rd_dtype type);
#endif
