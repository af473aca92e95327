/* callbacks.c - pointers to users' functions and reducers, in the form in which a compiled nest
 * calls them.
 *
 * Words. A fold is a reduction or a scan. */
#include "kernels/cpu/nest/draft.h"

/* A function pointer of any type. */
typedef void (*any)(void);

/* Returns a user's function as the text calls it: the pointer that is set, whatever its type, and
 * the user's pointer.  `any` is a pointer to a function of whatever type.  NULL code: the function
 * takes rows of floats, and the caller chooses f32 or f64. */
static rd_nest_function function_of(const rd_call *call)
{
    return (rd_nest_function){ .code = call->block   ? (any)call->block
                                       : call->f32_1 ? (any)call->f32_1
                                       : call->f32_2 ? (any)call->f32_2
                                       : call->f64_1 ? (any)call->f64_1
                                       : call->f64_2 ? (any)call->f64_2
                                                     : NULL,
                               .user = call->user };
}

/* Makes the table of users' functions, by the number of the call.  A function of rows of floats has
 * one pointer for each type; the type of the results decides.  False: no memory.  The table lies in
 * memory from `get`; calls that no instruction makes stay NULL. */
static bool add_functions(const rd_program *p, rd_get_fn *get, void *pool, rd_nest_code *made)
{
    made->function = get(pool, sizeof *made->function * ((size_t)p->n_call + 1));
    for (int32_t i = 0; made->function && i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];
        const rd_call *call = inst->kind == RD_I_CALL ? &p->call[inst->arg] : NULL;

        if (!call)
            continue;
        made->function[inst->arg] = function_of(call);
        if (!made->function[inst->arg].code)
            made->function[inst->arg].code = inst->type == RD_F32 ? (any)call->f32 : (any)call->f64;
    }
    return made->function;
}

/* Makes the table of the callbacks of users' reducers, by the number of the fold.  False: no
 * memory. */
static bool add_reducers(const rd_program *p, rd_get_fn *get, void *pool, rd_nest_code *made)
{
    made->reducer = get(pool, sizeof *made->reducer * ((size_t)p->n_fold + 1));
    for (int32_t k = 0; made->reducer && k < p->n_fold; k++) {
        const rd_reducer *user = p->fold[k].user;

        if (user)
            made->reducer[k] =
                (rd_nest_reducer){ user->init, user->step, user->step2, user->merge, user->finish };
    }
    return made->reducer;
}

/* Makes both tables of a nest: users' functions by call number, their reducers by fold.  False: no
 * memory. */
bool rd_nest_callbacks(const rd_program *p, rd_get_fn *get, void *pool, rd_nest_code *made)
{
    return add_functions(p, get, pool, made) && add_reducers(p, get, pool, made);
}
