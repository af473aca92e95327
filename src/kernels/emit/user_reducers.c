/* user_reducers.c - emits users' reducers as functions that are called as ours are
 * (reducer_functions.c).
 *
 * The text of a reducer (rd_reducer.code) becomes functions on its struct.  Where the struct is
 * a few numbers, each is an array of states of its own, as our states are.  A step gathers them
 * into a struct that compilers take apart, so neighbouring cells are vectors.  Else states are
 * structs, also where steps have loops of their own.  A reducer without text, or with text that
 * does not compile, is called by its addresses, on structs that hold its table beside its bytes.
 *
 * A form is how states are stored (rd_user_form); seen: the last number of a state is a flag that
 * it has met an element.
 *
 * Fields. A fold has `user` if its reducer is the caller's own. */
#include "kernels/emit/user_reducers.h"
#include <stdio.h>

/* The prelude of users' texts: declarations of C's mathematical functions, as no header is
 * included. */
static const char of_headers[] =
    "#ifndef RD_USERS\n#define RD_USERS\n"
    "#define bool _Bool\n#define true 1\n#define false 0\n"
    "#define RD_1(name) double name(double); float name##f(float);\n"
    "#define RD_2(name) double name(double, double); float name##f(float, float);\n"
    "RD_1(acos) RD_1(asin) RD_1(atan) RD_1(cos) RD_1(sin) RD_1(tan) RD_1(acosh) RD_1(asinh)\n"
    "RD_1(atanh) RD_1(cosh) RD_1(sinh) RD_1(tanh) RD_1(exp) RD_1(exp2) RD_1(expm1) RD_1(log)\n"
    "RD_1(log10) RD_1(log1p) RD_1(log2) RD_1(logb) RD_1(cbrt) RD_1(fabs) RD_1(sqrt) RD_1(erf)\n"
    "RD_1(erfc) RD_1(lgamma) RD_1(tgamma) RD_1(ceil) RD_1(floor) RD_1(nearbyint) RD_1(rint)\n"
    "RD_1(round) RD_1(trunc)\n"
    "RD_2(atan2) RD_2(pow) RD_2(hypot) RD_2(fmod) RD_2(remainder) RD_2(copysign)\n"
    "RD_2(nextafter) RD_2(fdim) RD_2(fmax) RD_2(fmin)\n"
    "double fma(double, double, double); float fmaf(float, float, float);\n"
    "double ldexp(double, int); float ldexpf(float, int);\n"
    "double frexp(double, int *); float frexpf(float, int *);\n"
    "double modf(double, double *); float modff(float, float *);\n"
    "long lround(double); long lroundf(float); long lrint(double); long lrintf(float);\n"
    "long long llround(double); long long llrint(double);\n"
    "int abs(int); long labs(long); long long llabs(long long);\n"
    "#define USER static inline __attribute__((always_inline)) void\n#endif\n";

/* ---- The four functions on a struct ---------------------------------------------------------- */
/* The C type of an element in the user's text. */
static const char *element_type(rd_dtype type)
{
    return type == RD_BOOL ? "_Bool" : rd_memory_type(type);
}

/* Writes a function on the user's struct: "USER init_of0(U0 *const s) { do { s->n = 0; } while
 * (0); }". The user's text stands in a do-loop, so that its `break` leaves the text. body NULL:
 * the function does nothing. */
static void add_body(rd_text *to, int number, const char *name, const char *parameters,
                     const char *body)
{
    rd_text_add(to, "USER %s_of%d(%s)\n{\ndo {\n%s\n} while (0);\n}\n", name, number, parameters,
                body ? body : "");
}

/* Writes the functions init, step, merge and finish on the user's struct, "USER step_of0(U0 *const
 * s, const X0 x, int64_t i) { do { s->n += x; } while (0); }". Each holds the user's text or, in
 * form POINTERS, a call by address. A `return` of the text only leaves that function. r->code[1] to
 * [4] are the texts of init, step, merge and finish; a reducer without merge gets one that does
 * nothing. */
static void add_bodies(rd_text *to, const rd_emit_fold *f, int number)
{
    const rd_reducer *r       = f->fold->user;
    const bool        by_text = f->user->form != RD_USER_POINTERS;
    char              parameters[120];

    snprintf(parameters, sizeof parameters, "U%d *const s", number);
    add_body(to, number, "init", parameters, by_text ? r->code[1] : "s->user->init(s->at);");
    if (f->weighted)
        snprintf(parameters, sizeof parameters, "U%d *const s, const X%d x, const W%d w, int64_t i",
                 number, number, number);
    else
        snprintf(parameters, sizeof parameters, "U%d *const s, const X%d x, int64_t i", number,
                 number);
    add_body(to, number, "step", parameters,
             by_text       ? r->code[2]
             : f->weighted ? "s->user->step2(s->at, 1, &x, 1, &w, 1, i);"
                           : "s->user->step(s->at, 1, &x, 1, i);");
    snprintf(parameters, sizeof parameters, "U%d *const a, const U%d *const b", number, number);
    if (r->merge)
        add_body(to, number, "merge", parameters,
                 by_text ? r->code[3] : "a->user->merge(a->at, b->at);");
    else
        add_body(to, number, "merge", parameters, "");
    snprintf(parameters, sizeof parameters, "const U%d *const s, Y%d *const y", number, number);
    add_body(to, number, "finish", parameters, by_text ? r->code[4] : "s->user->finish(s->at, y);");
}

/* Writes the types that a reducer's functions name: X0 of elements, Y0 of results, W0 of weights,
 * and the struct U0 of a state: "typedef float X0; typedef struct V0 { .. } V0;". The name that
 * RD_REDUCER gives the struct, such as mean_state, stands for U0. V0 only serves an assertion: if
 * its size is not the one that the caller's compiler found, the text must not compile. */
static void add_types(rd_text *to, const rd_emit_fold *f, int number)
{
    const rd_reducer *r = f->fold->user;

    rd_text_add(to, "typedef %s X%d;\ntypedef %s Y%d;\n", element_type(r->in), number,
                element_type(r->out), number);
    if (f->weighted)
        rd_text_add(to, "typedef %s W%d;\n", element_type(r->in2), number);
    if (rd_is_word(r->name)) /* RD_REDUCER's name for it */
        rd_text_add(to, "#undef %s_state\n#define %s_state U%d\n", r->name, r->name, number);
    if (f->user->form == RD_USER_POINTERS)
        rd_text_add(to,
                    "typedef struct U%d { const rd_nest_reducer *user; char at[%d] "
                    "__attribute__((aligned(16))); } U%d;\n",
                    number, (int)f->bytes - 16, number);
    else
        rd_text_add(to,
                    "typedef struct V%d { %s\n} V%d;\n_Static_assert(sizeof(V%d) == %d, \"\");\n"
                    "typedef struct U%d { %s\n} __attribute__((aligned(16))) U%d;\n",
                    number, r->code[0], number, number, (int)r->state_size, number, r->code[0],
                    number);
}

/* ---- On arrays of states --------------------------------------------------------------------- */
/* Writes the parameters of a state, a pointer for each number: "double *s0, int32_t *s1". */
static void add_parameters(rd_text *to, const rd_emit_fold *f, const char *qualifier, char name)
{
    for (int k = 0; k < f->n_state; k++)
        rd_text_add(to, "%s%s%s *%c%d", k ? ", " : "", qualifier, rd_user_state_type(f, k), name,
                    k);
}

/* Writes how a state becomes the user's struct. If the members are numbers in arrays of their
 * own (MEMBER_WISE), they are gathered into a local struct `as`: " U0 s_ = { 0 }, *const s =
 * &s_; s->n = *s0;". Else the struct is used where it lies. `filled`: members get the state's
 * values, else 0. name: that of the state's numbers, s0 .. */
static void gather(rd_text *to, const rd_emit_fold *f, const char *as, char name, bool filled)
{
    if (f->user->form != RD_USER_MEMBER_WISE) {
        rd_text_add(to, "    %s *const %s = (%s *)%c0;\n", f->user->type, as, f->user->type, name);
        return;
    }
    rd_text_add(to, "    %s %s_ = { 0 }, *const %s = &%s_;\n", f->user->type, as, as, as);
    for (int k = 0; filled && k < f->user->n; k++)
        rd_text_add(to, "    %s->%s = *%c%d;\n", as, f->user->member[k].place, name, k);
}

/* Writes the members of the local struct `as` back to the state's numbers, "*s0 = s->mean;", if
 * they are in arrays of their own (MEMBER_WISE). */
static void scatter(rd_text *to, const rd_emit_fold *f, const char *as, char name)
{
    for (int k = 0; f->user->form == RD_USER_MEMBER_WISE && k < f->user->n; k++)
        rd_text_add(to, "    *%c%d = %s->%s;\n", name, k, as, f->user->member[k].place);
}

/* Writes begin0(): it calls the user's init, and clears the flag that an element came (seen). */
static void add_begin(rd_text *to, const rd_emit_fold *f, int number)
{
    rd_text_add(to, "USER begin%d(", number);
    add_parameters(to, f, "", 's');
    rd_text_add(to, ")\n{\n");
    gather(to, f, "s", 's', /*filled=*/false);
    rd_text_add(to, "    init_of%d(s);\n", number);
    scatter(to, f, "s", 's');
    rd_text_add(to, f->seen ? "    *s%d = 0;\n}\n" : "}\n", f->user->n);
}

/* Writes how a register becomes an operand of the user's text, in its type in memory: "const X0
 * y = (x);". kind: 'X' for elements, 'W' for weights. */
static void add_operand(rd_text *to, char kind, int number, const char *name, rd_dtype type,
                        const char *reg)
{
    const bool is_half = rd_dtype_is_narrow_float(type);

    rd_text_add(to, "    const %c%d %s = %s%s(%s);\n", kind, number, name,
                is_half ? rd_memory_type(type) : "", is_half ? "_of_f32" : "", reg);
}

/* Writes step0(), which takes an element into a state: "USER step0(double *s0, const double x,
 * const int w, int64_t i) { .. step_of0(s, y, i); .. }". A mask `take` decides whether the user's
 * step is called. The flag that an element came, if there is one (seen), is set. X0 is the type of
 * elements, W0 that of weights (without weights w is an unused int). */
static void add_step(rd_text *to, const rd_emit_fold *f, int number)
{
    rd_text_add(to, "USER step%d(", number);
    add_parameters(to, f, "", 's');
    rd_text_add(to, ", const %s x, const %s w, int64_t i%s)\n{\n", rd_register_type(f->fold->type),
                f->weighted ? rd_register_type(f->fold->user->in2) : "int",
                f->masked ? ", const uint8_t take" : "");
    gather(to, f, "s", 's', /*filled=*/true);
    add_operand(to, 'X', number, "y", f->fold->user->in, "x");
    if (f->weighted)
        add_operand(to, 'W', number, "v", f->fold->user->in2, "w");
    rd_text_add(to, "    %sstep_of%d(s, y%s, i);\n", f->masked ? "if (take) " : "", number,
                f->weighted ? ", v" : "");
    scatter(to, f, "s", 's');
    if (f->seen)
        rd_text_add(to, f->masked ? "    *s%d |= take;\n" : "    *s%d = 1;\n", f->user->n);
    rd_text_add(to, "}\n");
}

/* Writes merge0(), which merges state b into state s. A state without an element stands for
 * nothing, which the user's merge() need not know: then it is not called, and the other state is
 * taken. The flag `seen` says that an element came. */
static void add_merge(rd_text *to, const rd_emit_fold *f, int number)
{
    const int seen = f->user->n;

    rd_text_add(to, "USER merge%d(", number);
    add_parameters(to, f, "", 's');
    rd_text_add(to, ", ");
    add_parameters(to, f, "const ", 'b');
    rd_text_add(to, ")\n{\n");
    gather(to, f, "s", 's', /*filled=*/true);
    gather(to, f, "b", 'b', /*filled=*/true);
    if (f->seen)
        rd_text_add(to, "    if (*b%d) { if (*s%d) merge_of%d(s, b); else *s = *b; }\n", seen, seen,
                    number);
    else
        rd_text_add(to, "    merge_of%d(s, b);\n", number);
    scatter(to, f, "s", 's');
    rd_text_add(to, f->seen ? "    *s%d |= *b%d;\n}\n" : "}\n", seen, seen);
}

/* Writes finish0(), which makes the results of a state: "USER finish0(const double *s0, double
 * *y0) { .. finish_of0(s, y); *y0 = y[0]; }". The user's finish() writes to an array y of the
 * type in memory, and its elements are converted to registers. */
static void add_finish(rd_text *to, const rd_emit_fold *f, int number)
{
    const rd_reducer *r    = f->fold->user;
    const char       *type = rd_result_type(f->fold);

    rd_text_add(to, "USER finish%d(", number);
    add_parameters(to, f, "const ", 's');
    for (int k = 0; k < r->n_out; k++)
        rd_text_add(to, ", %s *y%d", type, k);
    rd_text_add(to, ")\n{\n    Y%d y[%d] __attribute__((aligned(16))) = { 0 };\n", number,
                (int)r->n_out);
    gather(to, f, "s", 's', /*filled=*/true);
    rd_text_add(to, "    finish_of%d(s, y);\n", number);
    for (int k = 0; k < r->n_out; k++) {
        char element[20];

        snprintf(element, sizeof element, "y[%d]", k);
        rd_text_add(to, "    *y%d = ", k);
        rd_add_from_memory(to, r->out, element);
        rd_text_add(to, ";\n");
    }
    rd_text_add(to, "}\n");
}

/* Writes the declarations that users' texts may use. */
void rd_add_user_prelude(rd_text *to)
{
    rd_text_add(to, "%s", of_headers);
}

/* Writes all functions of a user's reducer: types, the functions on its struct, and begin, step,
 * block, merge, finish on states. block0(), which ends a block of steps, does nothing. */
void rd_user_functions(rd_text *to, const rd_emit_fold *f, int number)
{
    rd_add_user_prelude(to);
    add_types(to, f, number);
    add_bodies(to, f, number);
    add_begin(to, f, number);
    add_step(to, f, number);
    rd_text_add(to, "USER block%d(", number);
    add_parameters(to, f, "", 's');
    rd_text_add(to, ")\n{\n}\n");
    add_merge(to, f, number);
    add_finish(to, f, number);
}
