/* prepare.c - from a program to the functions that run it: the C text of its loop tree, and the
 * code that is compiled of the text (jit/tier.h).
 *
 * A draft is a nest before it is compiled: the program as it will be printed, and what its text
 * asks of a call. A key is the text without the preludes, by which processes find the compiled
 * object. */
#include "kernels/cpu/jit/compiler.h"
#include "kernels/cpu/nest/draft.h"
#include "kernels/cpu/reference/machine.h"
#include <string.h>

extern const char rd_prelude[], rd_nest_prelude[];

/* ---- The text -------------------------------------------------------------------------------- */
/* Prints the C text of the loop tree t, and takes over what the text asks of a call: the bytes of a
 * task's state, and the numbers N0 .. (extents, strides, offsets) that each call passes; or why
 * there can be no text.  `pointers`: users' functions are called by address; `marks`: statements
 * are named for tools.  False: no memory. */
static bool print(rd_nest_draft *n, const rd_schedule *t, rd_text *text, rd_get_fn *get, void *pool)
{
    rd_printing *print = get(pool, sizeof *print);

    if (!print)
        return false;
    *print = (rd_printing){ .t = t, .pointers = n->pointers, .marks = n->marks };
    if (!rd_print_c(print, text, get, pool))
        return false;
    n->why      = print->why;
    n->state    = print->state;
    n->n_number = print->n_number;
    memcpy(n->number, print->number, sizeof *n->number * (size_t)print->n_number);
    return true;
}

/* Makes the loop tree of a draft (a nest that is not compiled yet), and adds its C text.  The tree
 * is freed here.  False: no memory.  If there can be no text, n->why says why. */
bool rd_nest_write(rd_nest_draft *n, rd_text *text, rd_get_fn *get, void *pool)
{
    rd_schedule *t  = rd_nest_tree(n, /*log=*/NULL, get, pool);
    const bool   ok = t ? print(n, t, text, get, pool) : n->why != NULL;

    rd_schedule_free(t);
    return ok;
}

/* ---- Compiled -------------------------------------------------------------------------------- */
/* Returns the first character of the key by which compiled code is found; the text follows.  It is
 * the bytes of a vector, which are even, plus 1 if an f64 is rounded to a narrower float: this
 * needs other compiler flags. */
static char first_of_key(const rd_nest_draft *n)
{
    bool rounds = false;

    for (int32_t i = 0; i < n->p->n_inst; i++) {
        const rd_inst *inst = &n->p->inst[i];

        rounds |= inst->kind == RD_I_CAST && inst->from == RD_F64 &&
                  rd_dtype_kind(inst->type) == RD_KIND_FLOAT && inst->type != RD_F64;
    }
    return (char)(n->vector + rounds);
}

/* Makes the whole text to compile from a key, with the library's own code (preludes) in front.
 * Returns the compiler's flags for it, by the first character: see first_of_key(). */
static const char *const *text_of_key(rd_text *text, const void *key)
{
    const char *first = key;

    rd_text_add(text, "%s\n%s\n%s", rd_prelude, rd_nest_prelude, first + 1);
    return rd_compiler_flags(*first & ~1, *first & 1);
}

/* Makes the record of a nest: what its text asks of a call, and the compiled code of its key. NULL:
 * no memory. rd_compiled_of() finds the entry of a key (its bytes, with the 0 at the end), or makes
 * it; text_of_key() gives the text when it is compiled. made->compiled NULL: compiling is off. A
 * task's state must also have room for the reference interpreter, if that can run the stage
 * again. */
static rd_nest_code *code_of(const rd_nest_draft *n, const rd_text *key, rd_get_fn *get, void *pool)
{
    rd_nest_code *made = get(pool, sizeof *made + sizeof *made->number * (size_t)n->n_number);

    if (!made || !rd_nest_callbacks(n->p, get, pool, made))
        return NULL;
    made->state   = n->state;
    made->by_rows = n->by_rows;
    if (!n->whole && !made->by_rows && rd_machine_bytes(n->planned) > n->state)
        made->state =
            rd_machine_bytes(n->planned); /* the reference reports an index outside its axis */
    if (n->p->n_sorting)
        rd_nest_prepare_sorts(n, made);
    made->n_number = n->n_number;
    memcpy(made->number, n->number, sizeof *n->number * (size_t)n->n_number);
    made->compiled = rd_compiled_of(key->at, key->n + 1, text_of_key);
    made->here     = made->compiled ? rd_compiled_place(made->compiled) : NULL;
    return made;
}

/* Writes the text of a draft and finds its code, in *code; NULL if it has no text or compiling is
 * off.  False: no memory.  The key is the text behind a character for the vectors that it is
 * compiled for, as the text does not name them.  The loops are not compiled here:
 * rd_compiled_want() asks for that. */
static bool prepare(rd_nest_draft *n, rd_get_fn *get, void *pool, rd_nest_code **code)
{
    rd_text key = { 0 };
    bool    ok;

    *code = NULL;
    rd_text_add(&key, "%c", first_of_key(n));
    ok = rd_nest_write(n, &key, get, pool);
    if (ok && !n->why) {
        *code = key.failed ? NULL : code_of(n, &key, get, pool);
        ok    = *code;
    }
    if (*code && !(*code)->compiled)
        *code = NULL;
    rd_text_free(&key);
    return ok;
}

/* True if the text contains C code of users: of a reducer's step (code[2] of its texts; NULL: only
 * a pointer), or of a function. */
static bool has_user(const rd_program *p)
{
    bool found = false;

    for (int32_t k = 0; k < p->n_fold; k++)
        found |= p->fold[k].user && p->fold[k].user->code[2];
    for (int32_t k = 0; k < p->n_call; k++)
        found |= p->call[k].body != NULL;
    return found;
}

/* Prepares a second text, which calls users' functions by their addresses.  It runs if the first
 * one cannot be compiled, as users' C code may name what is not in the text.  False: no memory.
 * rd_compiled_want() says that a plan is going to run the code, with so many operations.  The state
 * is as large as either text needs. */
static bool prepare_otherwise(rd_nest_draft *n, rd_get_fn *get, void *pool, rd_nest_code *made)
{
    if (!prepare(n, get, pool, &made->second_text))
        return false;
    if (made->second_text && made->second_text->state > made->state)
        made->state = made->second_text->state;
    if (made->second_text && rd_compiled_failed(made->compiled))
        rd_compiled_want(made->second_text->compiled, n->planned->work);
    return true;
}

/* Finds or requests the compiled loops of a program, in *code; NULL if there can be none, and *why
 * says why.  `whole`: one task runs all of it by one function.  False: no memory.  `other` is the
 * draft of the second text, for programs with C code of users. */
bool rd_nest_prepare(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                     const rd_nest_code **code, const char **why)
{
    rd_nest_draft n = rd_nest_draft_of(p, vector, whole), other;
    rd_nest_code *made;

    *code = NULL;
    if (!rd_nest_rewrite(&n, get, pool))
        return false;
    other          = n;
    other.pointers = true;
    if (!prepare(&n, get, pool, &made))
        return false;
    *code = made;
    *why  = n.why;
    if (!made)
        return true;
    rd_compiled_want(made->compiled, p->work);
    return !has_user(p) || prepare_otherwise(&other, get, pool, made);
}

/* True if the loops of the nest go over the rows of a sparse array. */
bool rd_nest_by_rows(const rd_nest_code *code)
{
    return code->by_rows;
}
