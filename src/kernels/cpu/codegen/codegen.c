/* codegen.c - a program's nest: its text all together, compiled by the tier, and run. */
#include "kernels/cpu/codegen/codegen.h"
#include "core/environment.h"
#include "core/bytes.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/cpu/jit/preprocess.h"
#include "kernels/cpu/jit/tier.h"
#include "kernels/cpu/reference/machine.h"
#include "kernels/cpu/codegen/call.h"
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rd_prelude[], rd_codegen_prelude[];

struct rd_codegen_code {
    rd_compiled         *compiled;
    int64_t              state;
    bool                 by_rows;
    int32_t              n_number;
    rd_codegen_function *function;
    rd_codegen_reducer  *reducer;
    rd_codegen_code     *otherwise; /* where its text cannot be compiled, NULL */
    int64_t              number[];
};

/* ---- Which programs -------------------------------------------------------------------------- */
static const char *forced;

void rd_codegen_force(const char *use)
{
    forced = use;
}

rd_codegen_use rd_codegen_use_now(void)
{
    const char *asked = forced ? forced : rd_environment(RD_ENV_RDIM_CODEGEN);

    if (asked && strcmp(asked, "always") == 0)
        return RD_CODEGEN_ALWAYS;
    return asked && strcmp(asked, "never") == 0 ? RD_CODEGEN_NEVER : RD_CODEGEN_IF_BEST;
}

/* ---- Parts of a program ---------------------------------------------------------------------- */
enum { WHOLE = 3 }; /* all parts as one */

static const char *const part_names[] = { "head", "body", "tail", "whole" };

static const char *word_type(rd_dtype type)
{
    return rd_register_type(type);
}

/* Values that the head has made are in the task's state for the other parts. */
static void keep_registers(rd_codegen *n, int64_t at, bool store)
{
    for (int32_t i = 0; i < n->p->body; i++) {
        const rd_inst *inst = &n->p->inst[i];

        if (n->p->inst[i].loop >= 0 || inst->kind < RD_I_CONST || inst->kind > RD_I_CALL ||
            inst->kind == RD_I_STORE)
            continue;
        if (store)
            rd_line(n, "*(%s *)(q->state + %" PRId64 ") = r%d;", word_type(inst->type), at,
                    inst->dst);
        else
            rd_line(n, "const %s r%d = *(const %s *)(q->state + %" PRId64 ");",
                    word_type(inst->type), inst->dst, word_type(inst->type), at);
        at += 8;
    }
}

static void declare_folds(rd_codegen *n)
{
    rd_declare_states(n);
    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_codegen_fold *f = &n->fold[k];

        if (f->room)
            rd_line(n, "char *const tree%d = q->state + %" PRId64 ";", k, f->tree);
        if (f->split)
            rd_line(n, "int64_t *const f%d = (int64_t *)(q->state + %" PRId64 ");", k, f->facts);
    }
}

/* Of rows of a few strips and a rest the number of elements is spelled out: states of lanes then stay
 * in registers from strip to strip (the variance of rows of 192 f32: 62 ns, so 30). */
static bool is_few_strips(const rd_codegen *n, int32_t axis)
{
    enum { FEW = 4 };

    for (int32_t k = 0; k < n->n_region; k++) {
        const rd_region *r = &n->region[k];

        if (r->axis == axis && r->fixed && !r->around && r->rest >= 0 &&
            n->p->axis_extent[axis] <= (int64_t)FEW * r->width)
            return true;
    }
    return false;
}

static void declare_axes(rd_codegen *n)
{
    for (int32_t a = 0; a < n->p->n_axis; a++) {
        rd_text extent = { 0 };

        n->bind[a]   = (rd_bind){ 0 };
        n->ranges[a] = 0;
        if (is_few_strips(n, a))
            rd_text_add(&extent, "%" PRId64, n->p->axis_extent[a]);
        else
            rd_number_text(n, &extent, n->p->axis_extent[a]);
        if (a == n->root && n->by_rows)
            rd_declare_rows(n);
        else if (a == n->root)
            rd_line(n, "const int64_t lo%d_0 = q->lo, hi%d_0 = q->hi;", a, a);
        else
            rd_line(n, "const int64_t lo%d_0 = 0, hi%d_0 = %s;", a, a, extent.at);
        rd_text_free(&extent);
    }
}

/* The step of a fold that tasks share with which the task begins, or which follows its last. */
static void declare_steps(rd_codegen *n, const char *bound)
{
    const int32_t root = n->p->root;

    for (int32_t k = 0; k < n->p->n_fold; k++) {
        const rd_fold *fold = &n->p->fold[k];
        const int64_t  rows = (fold->lane_extent + fold->lanes - 1) / fold->lanes;
        rd_text        step = { 0 };

        if (!n->fold[k].split)
            continue;
        if (rd_coef(&fold->lane, root))
            rd_text_add(&step, "(q->%s * %" PRId64 " + %d) / %d", bound, rd_coef(&fold->lane, root),
                        fold->lanes - 1, fold->lanes);
        else {
            rd_text_add(&step, "q->%s * ", bound);
            rd_number_text(n, &step, rd_coef(&fold->outer, root) * rows);
        }
        if (bound[0] == 'l')
            rd_line(n, "const int64_t first%d = %s;", k, step.at);
        else
            rd_line(n, "f%d[1] = %s;", k, step.at);
        rd_text_free(&step);
    }
}

static void write_part(rd_codegen *n, int part, int64_t registers)
{
    const int32_t at[] = { 0, n->p->body, n->p->tail, n->p->n_inst };

    n->indent = 1;
    for (int32_t s = 0; s < n->n_slot; s++)
        rd_line(n, "char *const m%d = q->slot[%d];", s, s);
    declare_folds(n);
    declare_axes(n);
    n->past = false;
    rd_line(n, "int64_t loads = 0;");
    rd_line(n, "int32_t failed = 0;");
    rd_line(n, "uint32_t warnings = 0;");
    if (part == 0)
        declare_steps(n, "lo");
    else if (part != WHOLE)
        keep_registers(n, registers, false);
    for (int k = part == WHOLE ? 0 : part; k <= (part == WHOLE ? 2 : part); k++) {
        rd_walk_items(n, at[k], at[k + 1]);
        rd_strip_loop_end(n);
    }
    if (part == 0)
        keep_registers(n, registers, true);
    if (part == 1)
        declare_steps(n, "hi");
    if (n->past)
        rd_line(n, "STREAMED");
    rd_line(n, "q->loads += loads;");
    rd_line(n, "q->failed |= failed;");
    rd_line(n, "q->warnings |= warnings;");
}

static void add_numbers(rd_codegen *n, rd_text *to)
{
    for (int32_t k = 0; k < n->n_number; k++)
        rd_text_add(to, "    const int64_t N%d = q->number[%d];\n", k, k);
}

/* Twice, as only at the end it is known which values later loops read; the numbers are known then,
 * too. */
static void write_parts(rd_codegen *n, rd_text *text)
{
    const int first = n->whole ? WHOLE : 0, last = n->whole ? WHOLE : WHOLE - 1;
    rd_text   part[WHOLE + 1] = { { 0 } }, none = { 0 };
    int64_t   registers = rd_piece(&n->state, n->whole ? 0 : n->p->n_inst, 8);

    for (int dry = 1; dry >= 0 && !n->why; dry--)
        for (int k = first; k <= last && !n->why; k++) {
            n->dry  = dry;
            n->part = n->fours = n->jam = n->covered = n->refused = -1;
            n->to                                                 = dry ? &none : &part[k];
            n->round                                              = k * 100000;
            write_part(n, k, registers);
            rd_text_free(&none);
        }
    for (int k = first; k <= last; k++) {
        rd_text_add(text, "static void %s(rd_codegen_call *q)\n{\n", part_names[k]);
        add_numbers(n, text);
        rd_text_add(text, "%s}\n\n", part[k].at ? part[k].at : "");
        if (part[k].failed)
            n->why = "no memory";
        rd_text_free(&part[k]);
    }
}

/* ---- All together ---------------------------------------------------------------------------- */
static void write_text(rd_codegen *n, rd_text *text)
{
    rd_text parts = { 0 }, join = { 0 };

    rd_emit_ops(text, n->p);
    if (!n->pointers)
        rd_emit_functions(text, n->p);
    for (int32_t k = 0; k < n->p->n_fold && !n->why; k++) {
        rd_emit_reducer(text, &n->fold[k].of, k);
        rd_codegen_tree_functions(n, text, k);
        rd_codegen_scan_functions(n, text, k);
        rd_codegen_exit_functions(n, text, k);
    }
    rd_bounds_functions(n, text);
    write_parts(n, &parts);
    rd_text_add(text, "%s", parts.at ? parts.at : "");
    if (!n->whole) {
        rd_codegen_join_function(n, &join);
        rd_text_add(text, "static void join(char *into, char *next)\n{\n%s}\n\n",
                    join.at ? join.at : "");
    }
    rd_text_add(text,
                "__attribute__((visibility(\"default\"))) const rd_codegen_kernels "
                "rdim_kernels = { %s };\n",
                n->whole ? "0, 0, 0, 0, whole" : "head, body, join, tail, 0");
    if (parts.failed || join.failed || text->failed)
        n->why = "no memory";
    rd_text_free(&parts);
    rd_text_free(&join);
    rd_text_free(&n->before);
    rd_text_free(&n->fetched);
    rd_text_free(&n->inside);
    rd_text_free(&n->after);
}

/* A key is a character and the text: the bytes of a vector, which are even, plus 1 where an f64 is
 * rounded to less. */
static char first_of_key(const rd_codegen *n)
{
    bool rounds = false;

    for (int32_t i = 0; i < n->p->n_inst; i++) {
        const rd_inst *inst = &n->p->inst[i];

        rounds |= inst->kind == RD_I_CAST && inst->from == RD_F64 &&
                  rd_dtype_kind(inst->type) == RD_KIND_FLOAT && inst->type != RD_F64;
    }
    return (char)(n->vector + rounds);
}

static const char *const *text_of_key(rd_text *text, const void *key)
{
    const char *first = key;

    rd_text_add(text, "%s\n%s\n%s", rd_prelude, rd_codegen_prelude, first + 1);
    return rd_compiler_flags(*first & ~1, *first & 1);
}

/* All but the first character of a nest's key.  False: no memory. */
static bool emit(rd_codegen *n, rd_text *key, rd_get_fn *get, void *pool)
{
    if (!rd_codegen_facts(n, get, pool))
        return false;
    if (n->whole && n->p->n_call)
        n->why = "a function whose failure a task reports";
    if (!n->why) {
        rd_codegen_regions(n);
        rd_codegen_lay_out(n);
    }
    if (!n->why)
        write_text(n, key);
    return true;
}

static rd_codegen_function function_of(const rd_call *call)
{
    typedef void (*any)(void);

    return (rd_codegen_function){ .code = call->block   ? (any)call->block
                                          : call->f32_1 ? (any)call->f32_1
                                          : call->f32_2 ? (any)call->f32_2
                                          : call->f64_1 ? (any)call->f64_1
                                          : call->f64_2 ? (any)call->f64_2
                                                        : NULL,
                                  .user = call->user };
}

/* Functions with loops are there for both types: that of the results counts. */
static bool add_functions(const rd_program *p, rd_get_fn *get, void *pool, rd_codegen_code *made)
{
    typedef void (*any)(void);

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

static bool add_reducers(const rd_program *p, rd_get_fn *get, void *pool, rd_codegen_code *made)
{
    made->reducer = get(pool, sizeof *made->reducer * ((size_t)p->n_fold + 1));
    for (int32_t k = 0; made->reducer && k < p->n_fold; k++) {
        const rd_reducer *user = p->fold[k].user;

        if (user)
            made->reducer[k] = (rd_codegen_reducer){ user->init, user->step, user->step2,
                                                     user->merge, user->finish };
    }
    return made->reducer;
}

/* What the text asks of a call, and what it is compiled to.  NULL: no memory. */
static rd_codegen_code *code_of(const rd_codegen *n, const rd_text *key, rd_get_fn *get, void *pool)
{
    const rd_program *p    = n->p;
    rd_codegen_code  *made = get(pool, sizeof *made + sizeof *made->number * (size_t)n->n_number);

    if (!made || !add_functions(p, get, pool, made) || !add_reducers(p, get, pool, made))
        return NULL;
    made->state = n->state;
    if (!n->whole && !n->by_rows && rd_machine_bytes(p) > n->state)
        made->state = rd_machine_bytes(p); /* who says which index was wrong */
    made->by_rows  = n->by_rows;
    made->n_number = n->n_number;
    memcpy(made->number, n->number, sizeof *n->number * (size_t)n->n_number);
    made->compiled = rd_compiled_of(key->at, key->n + 1, text_of_key);
    return made;
}

static bool prepare(rd_codegen *n, rd_get_fn *get, void *pool, rd_codegen_code **code)
{
    rd_text key = { 0 };
    bool    ok;

    *code = NULL;
    rd_text_add(&key, "%c", first_of_key(n));
    ok = emit(n, &key, get, pool);
    if (ok && !n->why) {
        *code = code_of(n, &key, get, pool);
        ok    = *code;
    }
    if (*code && !(*code)->compiled)
        *code = NULL;
    rd_text_free(&key);
    return ok;
}

static bool has_user(const rd_program *p)
{
    bool found = false;

    for (int32_t k = 0; k < p->n_fold; k++)
        found |= p->fold[k].user && p->fold[k].user->code[2];
    for (int32_t k = 0; k < p->n_call; k++)
        found |= p->call[k].body != NULL;
    return found;
}

/* A user's text may name what is not in it: then functions are called. */
static bool prepare_otherwise(rd_codegen *n, rd_get_fn *get, void *pool, rd_codegen_code *made)
{
    if (!prepare(n, get, pool, &made->otherwise))
        return false;
    if (made->otherwise && made->otherwise->state > made->state)
        made->state = made->otherwise->state;
    if (made->otherwise && rd_compiled_failed(made->compiled))
        rd_compiled_want(made->otherwise->compiled, n->of->work);
    return true;
}

static rd_codegen nest_of(const rd_program *p, int vector, bool whole)
{
    return (rd_codegen){
        .p = p, .of = p, .vector = vector, .whole = whole, .root = whole ? -1 : p->root
    };
}

/* By rows, if it can be.  False: no memory. */
static bool take_rows(rd_codegen *n, rd_get_fn *get, void *pool)
{
    const rd_program *by_rows = NULL;

    if (!rd_codegen_rows(n->of, get, pool, &by_rows))
        return false;
    n->by_rows = by_rows;
    if (by_rows) {
        n->p    = by_rows;
        n->root = n->whole ? -1 : by_rows->root;
    }
    return true;
}

bool rd_codegen_prepare(const rd_program *p, int vector, bool whole, rd_get_fn *get, void *pool,
                        const rd_codegen_code **code, const char **why)
{
    rd_codegen       n = nest_of(p, vector, whole), other;
    rd_codegen_code *made;

    *code = NULL;
    if (!take_rows(&n, get, pool))
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

bool rd_codegen_by_rows(const rd_codegen_code *code)
{
    return code->by_rows;
}

static void add_strips(rd_text *to, const rd_codegen *n)
{
    for (int32_t k = 0; k < n->n_region; k++) {
        const rd_region *r = &n->region[k];

        rd_text_add(to, "  %s: strips of %" PRId32 " along axis %" PRId32,
                    part_names[rd_part_of(n->p, r->from)], r->width, r->axis);
        rd_text_add(to, "%s%s%s%s\n", r->fixed ? ", fixed" : "", r->one ? ", one" : "",
                    r->wide ? ", wide" : "", r->around ? ", around loops" : "");
    }
}

const char *rd_codegen_describe(const rd_program *p, int vector, rd_get_fn *get, void *pool,
                                rd_text *strips, rd_text *code)
{
    const bool whole  = p->whole && !p->nest;
    rd_codegen n      = nest_of(p, vector, whole);
    rd_text    before = { 0 }, text = { 0 };

    if (!take_rows(&n, get, pool) || !emit(&n, &text, get, pool))
        return "no memory";
    rd_text_add(&before, "%s\n%s", rd_prelude, rd_codegen_prelude);
    if (strips && !n.why)
        add_strips(strips, &n);
    if (code && !n.why && !before.failed)
        rd_preprocess(code, before.at, text.at);
    rd_text_free(&before);
    rd_text_free(&text);
    return n.why;
}

/* ---- Runs ------------------------------------------------------------------------------------ */
int64_t rd_codegen_state(const rd_codegen_code *code)
{
    return code->state;
}

const void *rd_codegen_here(const rd_codegen_code *code)
{
    const void *kernels = code ? rd_compiled_kernels(code->compiled) : NULL;

    return kernels || !code ? kernels : rd_codegen_here(code->otherwise);
}

rd_compiled_state rd_codegen_state_of(const rd_codegen_code *code, double *left)
{
    const rd_compiled_state state = rd_compiled_state_of(code->compiled, left);

    return state == RD_COMPILED_FAILED && code->otherwise
               ? rd_codegen_state_of(code->otherwise, left)
               : state;
}

void rd_codegen_missed(const rd_codegen_code *code, double operations)
{
    if (code->otherwise && rd_compiled_failed(code->compiled))
        code = code->otherwise;
    rd_compiled_missed(code->compiled, operations);
}

/* Whose kernels they are. */
static const rd_codegen_code *way_of(const rd_codegen_code *code, const void *kernels)
{
    return code->otherwise && kernels == rd_compiled_kernels(code->otherwise->compiled)
               ? code->otherwise
               : code;
}

static rd_codegen_call call_of(const rd_codegen_code *code, const rd_task *task)
{
    return (rd_codegen_call){ .slot     = task->slot,
                              .state    = task->state,
                              .lo       = task->lo,
                              .hi       = task->hi,
                              .number   = code->number,
                              .function = code->function,
                              .reducer  = code->reducer };
}

static void refuse(rd_task *task)
{
    task->status = RD_ERR_AXIS;
    snprintf(task->sentence, sizeof task->sentence, "rd_take: an index is outside its axis");
}

static void tell(const rd_program *p, rd_task *task, const rd_codegen_call *call)
{
    task->status = RD_ERR_CALLBACK;
    snprintf(task->sentence, sizeof task->sentence, "%s: %s", p->call[call->failing].name,
             call->sentence);
}

/* The reference executor says which index it was, or what failed first: a nest takes strip after
 * strip through one function, then through the next.  Of rows, who runs the stage has it run again
 * otherwise. */
static void fail(const rd_program *p, rd_task *task, const rd_codegen_call *call)
{
    if (!p->by_rows)
        rd_backend_scalar.head(p, task);
    if (!p->by_rows && task->status == RD_OK)
        rd_backend_scalar.body(p, task);
    if (task->status == RD_OK && call->sentence)
        tell(p, task, call);
    else if (task->status == RD_OK)
        refuse(task);
}

static void run(const rd_codegen_code *code, const rd_program *p, rd_task *task,
                void (*part)(rd_codegen_call *))
{
    rd_codegen_call call = call_of(code, task);

    part(&call);
    task->loads += call.loads;
    task->warnings |= call.warnings;
    if (call.failed || call.sentence)
        fail(p, task, &call);
}

void rd_codegen_head(const rd_codegen_code *code, const void *kernels, const rd_program *p,
                     rd_task *task)
{
    run(way_of(code, kernels), p, task, ((const rd_codegen_kernels *)kernels)->head);
}

void rd_codegen_body(const rd_codegen_code *code, const void *kernels, const rd_program *p,
                     rd_task *task)
{
    run(way_of(code, kernels), p, task, ((const rd_codegen_kernels *)kernels)->body);
}

void rd_codegen_tail(const rd_codegen_code *code, const void *kernels, const rd_program *p,
                     rd_task *task)
{
    run(way_of(code, kernels), p, task, ((const rd_codegen_kernels *)kernels)->tail);
}

bool rd_codegen_whole(const rd_codegen_code *code, const void *kernels, rd_task *task)
{
    rd_codegen_call call;

    code = way_of(code, kernels);
    call = (rd_codegen_call){
        .slot = task->slot, .state = task->state, .number = code->number, .reducer = code->reducer
    };
    ((const rd_codegen_kernels *)kernels)->whole(&call);
    task->loads    = call.loads;
    task->warnings = call.warnings;
    if (call.failed)
        refuse(task);
    return !call.failed;
}

void rd_codegen_join(const rd_codegen_code *code, const void *kernels, const rd_task *into,
                     const rd_task *next)
{
    (void)code;
    ((const rd_codegen_kernels *)kernels)->join(into->state, next->state);
}
