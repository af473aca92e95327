/* user_functions.c - emits users' functions of numbers from their text, see rd_fn:
 *
 *     static inline float call0(const float x, const float y) { ..; return z; } */
#include "kernels/emit/emit.h"
#include <inttypes.h>
#include <string.h>

/* Returns the C type of the operands of a user's function: the type in memory for a function on
 * arrays that may fail (block), else float or double, as the result's type says. */
const char *rd_operand_type(const rd_call *call, rd_dtype type)
{
    return call->block ? rd_memory_type(call->in_type) : type == RD_F32 ? "float" : "double";
}

/* Names that a text of floats may use: RD_OF_FLOAT declares sqrt as sqrtf, and so on. */
static const char of_float[] =
    "#define RD_OF_FLOAT(f1, f2) f1(sqrt) f1(exp) f1(expm1) f1(log) f1(log1p) f1(log2) f1(sin) \\\n"
    "f1(cos) f1(tan) f1(tanh) f1(erf) f1(floor) f1(ceil) f1(trunc) f1(fabs) f2(pow) f2(atan2) \\\n"
    "f2(hypot) f2(fmod)\n"
    "#define RD_F1(m) float (*const m)(float) = m##f;\n"
    "#define RD_F2(m) float (*const m)(float, float) = m##f;\n";

/* min() and max() of either type; a NaN in the first operand stays. */
static const char of_either[] =
    "static inline T PICK(min)(T a, T b) { return a < b || a != a ? a : b; }\n"
    "static inline T PICK(max)(T a, T b) { return a > b || a != a ? a : b; }\n";

/* Writes min() and max() for a type, as functions rd_min_float() and so on, under which a user's
 * text finds them. */
static void add_pick(rd_text *to, const char *type)
{
    rd_text_add(to, "#define T %s\n#define PICK(m) rd_##m##_%s\n%s#undef T\n#undef PICK\n", type,
                type, of_either);
}

/* Writes the function of a user's C text, "static inline float call0(const float x, const float y)
 * { ..; return z; }". call->names lists the operands and the result, "x,y,z". The user's text
 * stands in do { } while (0), so that its `break` leaves the text and not the function. sqrt, abs,
 * min and so on are declared for the type. Behind the operands `at` is the result's name. Types are
 * float, which needs the f functions of C's library, or double. */
static void add_function(rd_text *to, const rd_call *call, int32_t number, const char *type)
{
    const char *at = call->names;

    rd_text_add(to, "static inline __attribute__((always_inline)) %s call%" PRId32 "(", type,
                number);
    for (int k = 0; k < call->n_in; k++) {
        const int length = (int)strcspn(at, ",");

        rd_text_add(to, "%sconst %s %.*s", k ? ", " : "", type, length, at);
        at += length + (at[length] == ',');
    }
    rd_text_add(to,
                ")\n{\ntypedef %s real;\n%s\n%s (*const abs)(%s) = fabs%s;\n"
                "%s (*const min)(%s, %s) = rd_min_%s, (*const max)(%s, %s) = rd_max_%s;\n"
                "real %s = 0;\ndo {\n%s\n} while (0);\nreturn %s;\n}\n",
                type, *type == 'f' ? "RD_OF_FLOAT(RD_F1, RD_F2)" : "", type, type,
                *type == 'f' ? "f" : "", type, type, type, type, type, type, type, at, call->body,
                at);
}

/* Writes a function for each call of a user's function that has a C text; before the first one,
 * the names of C's library that such texts may use. */
void rd_emit_functions(rd_text *to, const rd_program *p)
{
    bool first = true;

    for (int32_t i = 0; i < p->n_inst; i++) {
        const rd_inst *inst = &p->inst[i];

        if (inst->kind != RD_I_CALL || !p->call[inst->arg].body)
            continue;
        if (first) {
            rd_add_user_prelude(to);
            rd_text_add(to, "%s", of_float);
            add_pick(to, "float");
            add_pick(to, "double");
        }
        first = false;
        add_function(to, &p->call[inst->arg], inst->arg,
                     rd_operand_type(&p->call[inst->arg], inst->type));
    }
}
