/* user_calls.c - calls of users' functions as text: of their own C text, or by their addresses
 * on arrays of one operand each.
 *
 *     q->failing = 0;
 *     q->sentence = ((const char *(*)(void *, int64_t, const void *const *, void *))
 *         q->function[0].code)(q->function[0].user, n0, in, a7);
 *
 * Operands of a whole strip are in arrays already (pass/fission.c); one element gets arrays of
 * one element each. */
#include "kernels/print/print.h"
#include <inttypes.h>
#include <stdio.h>

/* Characters of an array's name. */
enum { NAME = 24 };

/* A call of a user's function on arrays of `count` elements. */
typedef struct user_call {
    const rd_tree_value *let;              /* the value that the call makes        */
    const rd_call       *call;             /* the user's function                  */
    const char          *count;            /* elements of each array, as text      */
    char in[RD_MAX_CALL][NAME], out[NAME]; /* names of arrays: operands, the result */
} user_call;

/* Adds the names of the arrays of all operands: "a5, a6"; element "[i]" makes "a5[i], a6[i]". */
static void add_operands(rd_text *to, const user_call *c, const char *element)
{
    for (int32_t k = 0; k < c->let->n; k++)
        rd_text_add(to, "%s%s%s", k ? ", " : "", c->in[k], element);
}

/* Prints the call of a function on arrays that may fail: it returns a sentence, or NULL. After
 * one call has failed, none is made any more: "if (!q->sentence) { .. q->sentence = ..(user, n0,
 * in, a7); }". q->failing is the number of the call, for the message. */
static void print_block_call(rd_printing *n, const user_call *c, const char *operands)
{
    const int32_t number = c->let->arg;

    rd_print_line(n,
                  "if (!q->sentence) { const void *const in[] = { %s }; q->failing = %" PRId32
                  "; q->sentence = ((const char *(*)(void *, int64_t, const void *const *, "
                  "void *))q->function[%" PRId32 "].code)(q->function[%" PRId32
                  "].user, %s, in, %s); }",
                  operands, number, number, number, c->count, c->out);
}

/* Adds the type of each operand, which is the same for all: "float, float". */
static void add_types(rd_text *to, const user_call *c, const char *type)
{
    for (int32_t k = 0; k < c->let->n; k++)
        rd_text_add(to, k ? ", %s" : "%s", type);
}

/* True if the function takes and returns one element, not a row of them. f32_1 to f64_2 are
 * functions of one or two elements. */
static bool is_scalar_function(const rd_call *call)
{
    return call->f32_1 || call->f32_2 || call->f64_1 || call->f64_2;
}

/* Prints a loop that calls `name` for one element after another: "for (int64_t i = 0; i < n0;
 * i++) a7[i] = call0(a5[i]);". */
static void print_single_calls(rd_printing *n, const user_call *c, const char *name)
{
    rd_text elements = { 0 };

    add_operands(&elements, c, "[i]");
    rd_print_line(n, "for (int64_t i = 0; i < %s; i++) %s[i] = %s(%s);", c->count, c->out, name,
                  elements.at ? elements.at : "");
    rd_text_end(&elements, n->to);
}

/* Prints calls of the user's own C text, which is the function "call0" of the generated text,
 * for one element after another. */
static void print_text_calls(rd_printing *n, const user_call *c)
{
    char name[NAME];

    snprintf(name, sizeof name, "call%" PRId32, c->let->arg);
    print_single_calls(n, c, name);
}

/* Prints calls of a function of one element by its address, "((float
 * (*)(float))q->function[0].code)", for one element after another. */
static void print_address_calls(rd_printing *n, const user_call *c)
{
    const char *type = c->call->f32_1 || c->call->f32_2 ? "float" : "double";
    rd_text     name = { 0 };

    rd_text_add(&name, "((%s (*)(", type);
    add_types(&name, c, type);
    rd_text_add(&name, "))q->function[%" PRId32 "].code)", c->let->arg);
    print_single_calls(n, c, name.at ? name.at : "");
    rd_text_end(&name, n->to);
}

/* Prints one call for all elements of a strip, by a function on arrays that cannot fail: "{
 * const float *const in[] = { a5, a6 }; ((void (*)(..))q->function[0].code)(n0, in, a7); }". */
static void print_row_call(rd_printing *n, const user_call *c, const char *operands)
{
    const char *type = rd_operand_type(c->call, c->let->type);

    rd_print_line(n,
                  "{ const %s *const in[] = { %s }; ((void (*)(int64_t, const %s *const *, %s "
                  "*))q->function[%" PRId32 "].code)(%s, in, %s); }",
                  type, operands, type, type, c->let->arg, c->count, c->out);
}

/* Prints the call in the form that the user's function has. It is C text, a function on arrays
 * that may fail (block), a function of one element by its address, or one on arrays that cannot
 * fail. n->pointers: texts are called by address, too. */
static void print_call(rd_printing *n, const user_call *c)
{
    rd_text operands = { 0 };

    add_operands(&operands, c, "");
    if (c->call->body && !n->pointers)
        print_text_calls(n, c);
    else if (c->call->block)
        print_block_call(n, c, operands.at ? operands.at : "");
    else if (is_scalar_function(c->call))
        print_address_calls(n, c);
    else
        print_row_call(n, c, operands.at ? operands.at : "");
    rd_text_end(&operands, n->to);
}

/* Returns the description of a call on arrays of `count` elements (as text), still without the
 * names of its arrays. */
static user_call user_call_of(const rd_printing *n, const rd_tree_value *let, const char *count)
{
    return (user_call){ .let = let, .call = &n->t->p->call[let->arg], .count = count };
}

/* ---- A whole strip --------------------------------------------------------------------------- */
/* Prints a call on a whole strip (the `count` elements that a vector loop takes at once): its
 * operands, and the result, are local arrays a5 .. of the text. */
void rd_print_strip_call(rd_printing *n, const rd_tree_value *let, int32_t result,
                         const char *count)
{
    user_call c = user_call_of(n, let, count);

    for (int32_t k = 0; k < let->n; k++)
        snprintf(c.in[k], NAME, "a%" PRId32, n->t->let[n->t->operand[let->first + k]].store);
    snprintf(c.out, NAME, "a%" PRId32, result);
    print_call(n, &c);
}

/* ---- One element --------------------------------------------------------------------------- */
/* Prints operand k as an array of one element, "float k5_0[1] = { r3 };", where 5 is the value
 * that the call makes. A function on blocks takes elements in their type in memory, so a half is
 * converted. */
static void declare_operand(rd_printing *n, user_call *c, int32_t value, int32_t k)
{
    const rd_call *call   = c->call;
    rd_text        stored = { 0 };

    snprintf(c->in[k], NAME, "k%" PRId32 "_%" PRId32, value, k);
    if (call->block)
        rd_begin_stored(&stored, call->in_type);
    rd_text_add(&stored, "r%" PRId32 "%s", n->t->operand[c->let->first + k],
                call->block ? rd_end_stored(call->in_type) : "");
    rd_print_line(n, "%s %s[1] = { %s };", rd_operand_type(call, c->let->type), c->in[k],
                  stored.at ? stored.at : "");
    rd_text_end(&stored, n->to);
}

/* Prints how the result of a call, an array of one element, becomes a value: "const float r5 =
 * y5[0];". A function on blocks has written it in its type in memory, which is converted. */
static void print_result(rd_printing *n, const user_call *c, int32_t value)
{
    char    element[NAME + 4];
    rd_text result = { 0 };

    snprintf(element, sizeof element, "%s[0]", c->out);
    if (c->call->block)
        rd_add_from_memory(&result, c->let->type, element);
    else
        rd_text_add(&result, "%s", element);
    rd_print_line(n, "const %s r%" PRId32 " = %s;", rd_register_type(c->let->type), value,
                  result.at ? result.at : "");
    rd_text_end(&result, n->to);
}

/* Prints a call for one element: "float k5_0[1] = { r3 }; float y5[1] = { 0 }; <call>; const
 * float r5 = y5[0];". */
void rd_print_call(rd_printing *n, int32_t value)
{
    user_call c = user_call_of(n, &n->t->let[value], "1");

    for (int32_t k = 0; k < c.let->n; k++)
        declare_operand(n, &c, value, k);
    snprintf(c.out, NAME, "y%" PRId32, value);
    rd_print_line(
        n, "%s %s[1] = { 0 };",
        c.call->block ? rd_memory_type(c.let->type) : rd_operand_type(c.call, c.let->type), c.out);
    print_call(n, &c);
    print_result(n, &c, value);
}
