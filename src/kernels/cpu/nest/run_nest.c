/* run_nest.c - runs compiled nests, and reports what failed.
 *
 * A nest may have two texts: the second (`otherwise`) calls users' functions by their addresses,
 * and runs if the first one cannot be compiled. */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/nest/draft.h"
#include <stdio.h>

/* ---- Runs ------------------------------------------------------------------------------------ */
/* Returns the bytes of a task's state that the nest needs: its own arrays and accumulators, or
 * those of the reference interpreter, which finds the index that is outside its axis. */
int64_t rd_nest_state(const rd_nest_code *code)
{
    return code->state;
}

/* Returns the functions of a nest, if they are compiled and loaded; else those of its second text,
 * which calls users' functions by address.  NULL: not yet.  `here` is where functions appear once
 * they are loaded; the second text is `second_text`, NULL: none. */
const void *rd_nest_loaded(const rd_nest_code *code)
{
    const void *kernels = NULL;

    for (; code && !kernels; code = code->second_text)
        kernels = atomic_load_explicit(code->here, memory_order_acquire);
    return kernels;
}

/* Returns how far the code is on its way to be compiled and loaded: that of the second text once
 * the first one has failed.  *left gets the operations still to run before it is compiled. */
rd_compiled_state rd_nest_state_of(const rd_nest_code *code, double *left)
{
    const rd_compiled_state state = rd_compiled_state_of(code->compiled, left);

    return state == RD_COMPILED_FAILED && code->second_text
               ? rd_nest_state_of(code->second_text, left)
               : state;
}

/* Counts operations that ran without the nest (tiered compilation), for the text that is still to
 * be compiled. */
void rd_nest_add_missed(const rd_nest_code *code, double operations)
{
    if (code->second_text && rd_compiled_failed(code->compiled))
        code = code->second_text;
    rd_compiled_add_missed(code->compiled, operations);
}

/* Returns the record of the text, first or second, of which these functions are compiled. */
static const rd_nest_code *code_of_kernels(const rd_nest_code *code, const void *kernels)
{
    return code->second_text &&
                   kernels == atomic_load_explicit(code->second_text->here, memory_order_acquire)
               ? code->second_text
               : code;
}

/* ---- Against tiles --------------------------------------------------------------------------- */
/* Counts a run of so many seconds in the comparison of compiled loops with tiles.  `kernels` NULL:
 * it ran by tiles, which counts for the code that would have run, of the first or the second
 * text. */
void rd_nest_add_run(const rd_nest_code *code, const void *kernels, double operations, int threads,
                     double seconds)
{
    const void *code_in_question = kernels ? kernels : rd_nest_loaded(code);

    rd_compiled_add_run(code_of_kernels(code, code_in_question)->compiled,
                        kernels ? RD_BY_LOOPS : RD_BY_TILES, operations, threads, seconds);
}

/* Returns how many times as long as tiles the nest takes in runs of so many operations, if it was
 * measured to be slower; else 0. */
double rd_nest_slowdown(const rd_nest_code *code, double operations)
{
    return rd_compiled_slowdown(code_of_kernels(code, rd_nest_loaded(code))->compiled, operations);
}

/* ---- One part -------------------------------------------------------------------------------- */
/* Returns the argument of a compiled function for a task: its memory, its share [lo, hi) of the
 * root loop, and the numbers and callbacks that the text asks for. */
static rd_nest_call call_of(const rd_nest_code *code, const rd_task *task)
{
    return (rd_nest_call){ .slot     = task->slot,
                           .state    = task->state,
                           .lo       = task->lo,
                           .hi       = task->hi,
                           .number   = code->number,
                           .function = code->function,
                           .reducer  = code->reducer };
}

/* Sets the status of a task: an index is outside its axis. */
static void set_index_error(rd_task *task)
{
    task->status = RD_ERR_AXIS;
    snprintf(task->sentence, sizeof task->sentence, "rd_take: an index is outside its axis");
}

/* Sets the status of a task: the run was cancelled. */
static void set_cancelled(rd_task *task)
{
    task->status = RD_ERR_CANCELLED;
    snprintf(task->sentence, sizeof task->sentence, "the evaluation was cancelled");
}

/* Sets the status of a task to the message of a user's function that failed; `failing` is the
 * number of its call. */
static void set_callback_error(const rd_program *p, rd_task *task, const rd_nest_call *call)
{
    task->status = RD_ERR_CALLBACK;
    snprintf(task->sentence, sizeof task->sentence, "%s: %s", p->call[call->failing].name,
             call->sentence);
}

/* Finds out which index was wrong, or which call failed first, by running the task again in the
 * reference interpreter.  A nest takes many elements through one function after the other, so it
 * does not know the order.  The reference sets the status; if it finds nothing wrong, the nest's
 * own report counts.  For loops over sparse rows the caller runs the stage again by another
 * strategy. */
static void fail(const rd_program *p, rd_task *task, const rd_nest_call *call)
{
    if (!p->by_rows)
        rd_backend_scalar.head(p, task);
    if (!p->by_rows && task->status == RD_OK)
        rd_backend_scalar.body(p, task);
    if (task->status == RD_OK && call->sentence)
        set_callback_error(p, task, call);
    else if (task->status == RD_OK)
        set_index_error(task);
}

/* Runs one part (head, body or tail) of a nest for a task, and adds what the part reports to the
 * task: loads (elements read), warnings, errors. `stopped`: the run was cancelled while rows were
 * sorted. */
static void run(const rd_nest_code *code, const rd_program *p, rd_task *task,
                void (*part)(rd_nest_call *))
{
    rd_nest_call call = call_of(code, task);

    rd_nest_pass_sorts(code, &call);
    part(&call);
    task->loads += call.loads;
    task->warnings |= call.warnings;
    if (call.stopped)
        set_cancelled(task);
    else if (call.failed || call.sentence)
        fail(p, task, &call);
}

/* Runs the head of the program, once for each task. */
void rd_nest_head(const rd_nest_code *code, const void *kernels, const rd_program *p, rd_task *task)
{
    run(code_of_kernels(code, kernels), p, task, ((const rd_nest_kernels *)kernels)->head);
}

/* Runs the body of the program on a task's share of the root loop. */
void rd_nest_body(const rd_nest_code *code, const void *kernels, const rd_program *p, rd_task *task)
{
    run(code_of_kernels(code, kernels), p, task, ((const rd_nest_kernels *)kernels)->body);
}

/* Runs the tail of the program, once after all tasks. */
void rd_nest_tail(const rd_nest_code *code, const void *kernels, const rd_program *p, rd_task *task)
{
    run(code_of_kernels(code, kernels), p, task, ((const rd_nest_kernels *)kernels)->tail);
}

/* Runs all parts by one function, for small programs of one task. Such programs have no users'
 * functions and no sorts, so `function`, `sort` and `take` are NULL. False: an index was outside
 * its axis. The state is read as volatile, so that it and `slot` are not copied as one vector. */
bool rd_nest_whole(const rd_nest_code *code, const void *kernels, rd_task *task)
{
    rd_nest_call call;

    code = code_of_kernels(code, kernels);
    /* Members are set one by one.  For a whole structure compilers write `rep stos`, which takes 10
     * cycles; for the first two members one vector, which waits until both have left the store
     * queue. */
    call.slot     = task->slot;
    call.state    = *(char *const volatile *)&task->state;
    call.lo       = 0;
    call.hi       = 0;
    call.number   = code->number;
    call.loads    = 0;
    call.warnings = 0;
    call.failed   = 0;
    call.failing  = 0;
    call.sentence = NULL;
    call.function = NULL;
    call.reducer  = code->reducer;
    call.sort     = NULL;
    call.take     = NULL;
    call.code     = NULL;
    call.stopped  = 0;
    ((const rd_nest_kernels *)kernels)->whole(&call);
    task->loads    = call.loads;
    task->warnings = call.warnings;
    if (call.failed)
        set_index_error(task);
    return !call.failed;
}

/* Merges the accumulators of the next task into those of a task (a split reduction). */
void rd_nest_join(const rd_nest_code *code, const void *kernels, const rd_task *into,
                  const rd_task *next)
{
    (void)code;
    ((const rd_nest_kernels *)kernels)->join(into->state, next->state);
}
