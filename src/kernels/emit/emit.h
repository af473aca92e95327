/* emit.h - text of what an element goes through: operators, casts, reducers, users' functions.
 *
 * The rows of ops.def and reducers.def become functions of C text, which compilers for the CPU and
 * for a GPU take alike, so that both have the same bits.  What surrounds them, loops and memory, is
 * the backends'. */
#ifndef RD_KERNELS_EMIT_H
#define RD_KERNELS_EMIT_H
#include "kernels/program.h"

enum { RD_EMIT_NAME = 64 };

/* ---- ops.c: types, operators, casts, elements ------------------------------------------------- */
/* What an element is in memory, and in a register: narrow ints are 32 bits wide there, so that
 * vectors hold as many as of floats. */
const char *rd_memory_type(rd_dtype type);
const char *rd_register_type(rd_dtype type);
int         rd_register_size(rd_dtype type);
/* Of ints of 1 and 2 bytes, and bools: as small as in memory.  NULL: of others. */
const char *rd_small_type(rd_dtype type);
/* "f32", of a class and in the names of the library's functions. */
const char *rd_class_name(rd_class class);
/* Rows of ops.def and reducers.def for a type of registers are between these. */
void rd_begin_type(rd_text *to, const char *type, rd_class class);
void rd_end_type(rd_text *to);

/* Functions of all MAPs and CASTs of a program, each once. */
void rd_emit_ops(rd_text *to, const rd_program *p);
/* "f32_add", "i8_of_f32"; has it an argument `&warnings`?  Ints may be divided by zero. */
void rd_op_name(const rd_inst *inst, char *name);
bool rd_op_warns(const rd_inst *inst);

/* A constant, with its bits. */
void rd_add_constant(rd_text *to, const rd_inst *inst);
/* "rd_f16_to_f32(x)": an element of memory as a register; "rd_f16_of_f32(": what makes a register
 * an element, up to it, and behind it. */
void        rd_add_from_memory(rd_text *to, rd_dtype type, const char *element);
void        rd_begin_stored(rd_text *to, rd_dtype type);
const char *rd_end_stored(rd_dtype type);

/* ---- reducers.c, reducer_types.c, reducer_steps.c ---------------------------------------------- */
/* A user's reducer in the text, see users.c. */
typedef struct rd_user rd_user;

/* A reducer in the text.  A state is n_state numbers, each of which lies in a variable or an array
 * of its own. */
typedef struct rd_emit_fold {
    const rd_fold *fold;
    const rd_user *user; /* NULL: one of ours */
    bool           masked, weighted;
    bool           empties;  /* there are states that meet no element, and yet are merged */
    bool           cells;    /* neighbours belong to cells of their own, not to lanes of one */
    bool           rises;    /* elements of a lane come by rising place */
    bool           is_short; /* what a block sums is narrower than the fold (loop/short_sums.c): */
    rd_dtype sums, row_sums; /* of this type; where one state takes what all lanes would, of that */
    bool     one_block;      /* all lanes together are no more than row_sums has */
    bool     narrow;         /* states of small elements are as small, if they are such elements */
    bool     seen;           /* the last number of a state says whether an element came: of masked
                             * ones that tell nothing by their states */
    int32_t  n_state;        /* with `seen` */
    int32_t  bytes;          /* of one number in memory, at most */
    int64_t  places;         /* elements of a cell */
} rd_emit_fold;

/* Fills what the text of one of ours depends on; masked and empties are known. */
void rd_emit_facts(rd_emit_fold *f, int64_t places);
/* begin0(states), step0(states, x, w, i, take), block0(states), merge0(nodes, nodes),
 * finish0(nodes, results) and what else steps are made of; states and nodes are pointers, one for
 * each number. */
void rd_emit_reducer(rd_text *to, const rd_emit_fold *f, int number);
/* Numbers of states in a block, and of finished blocks. */
const char *rd_state_type(const rd_emit_fold *f, int k);
const char *rd_node_type(const rd_emit_fold *f, int k);
/* "f32" */
const char *rd_state_elem(const rd_emit_fold *f);
/* What finish0() makes. */
const char *rd_result_type(const rd_fold *f);
/* The states of a fold as text: by a format that takes their number; "float *s0, float *s1". */
void rd_add_each(rd_text *to, const rd_emit_fold *f, const char *format);
void rd_add_parameters(rd_text *to, const rd_emit_fold *f, bool nodes, const char *keep, char name);
/* Do its steps take the exponential of something, see RD_LSE? */
bool rd_takes_power(const rd_emit_fold *f);
/* Is it an extreme of the floats of a row (nest/sparse_rows.c)?  These come one after the other, so
 * each waits for the one before it.  That is one instruction, as a NaN is noted beside it, 2 in
 * what says whether there was an element; or fours0(states, x) takes four of them. */
bool rd_notes_nan(const rd_emit_fold *f);
/* Has it a function one0() of one element after another?  Such a row has, and extremes of floats
 * by label, whose neighbours often are of one. */
bool rd_goes_one_by_one(const rd_emit_fold *f);
/* Do its lanes go by one of them, see RD_LANES_ROW, and not merge? */
bool rd_goes_by_lane(const rd_emit_fold *f);

/* ---- users.c, user_facts.c ---------------------------------------------------------------------- */
/* Fills what the text of a user's reducer depends on; f->masked and empties are known.  `pointers`:
 * it is called by its addresses.  False: no memory. */
bool rd_user_facts(rd_emit_fold *f, int number, bool pointers, rd_get_fn *get, void *pool);
/* Is there all the text that it takes to run without its addresses? */
bool rd_user_has_text(const rd_reducer *r);
/* May a step ask which element it is?  Without a text it may. */
bool rd_user_asks_index(const rd_reducer *r);
void rd_user_functions(rd_text *to, const rd_emit_fold *f, int number);
/* What a user's text may call or name, as C's headers are left out. */
void        rd_users_names(rd_text *to);
const char *rd_user_state_type(const rd_emit_fold *f, int k);
/* What is said before begin() of states that the caller names: "s0_0[l]". */
void rd_user_begins(rd_text *to, const rd_emit_fold *f, int number, const char *name,
                    const char *at);
/* Operations of a step and of a merge, about; bytes of a state; is it numbers, of which vectors can
 * be made, the widest of so many bytes?  0: it is not. */
double rd_fold_cost(const rd_fold *f);
int    rd_user_bytes(const rd_emit_fold *f);
int    rd_user_widest(const rd_emit_fold *f);

/* ---- functions.c: users' functions by their text ---------------------------------------------- */
/* "float call0(const float x, const float y)" for each CALL of the program that has a text. */
void rd_emit_functions(rd_text *to, const rd_program *p);
/* What a function is of: registers, or elements as in memory. */
const char *rd_operand_type(const rd_call *call, rd_dtype type);
#endif
