/* made_of.h - the variables that a statement of a formula is made of, as its text says. */
#ifndef CMD_MADE_OF_H
#define CMD_MADE_OF_H
#include "inputs.h"

typedef struct cmd_made_of {
    int   n; /* operands: variables that are neither in subscripts nor arguments with a keyword */
    short operand[CMD_MOST_KNOWN]; /* in the order of the text, as places in inputs->known */
    bool  once;                    /* there is one operand, at one place */
    bool  as_is;                   /* and the statement has its elements: v, v[2:, 0], v.T, v + 0 */
    bool  shifts;                  /* only + and - are there, no function */
} cmd_made_of;

/* Statements that were read before. */
enum { CMD_MOST_STATEMENTS = 64 };
typedef struct cmd_statements {
    int                n;
    const char        *name[CMD_MOST_STATEMENTS];
    const cmd_made_of *made[CMD_MOST_STATEMENTS];
} cmd_statements;

/* The next statement; `name` NULL or "": it has none. */
const cmd_made_of *cmd_read_statement(cmd_statements *all, const cmd_inputs *in, const char *name,
                                      const char *text);
/* The operand that results are named and described after: the only one that is no axis of others, or the
 * only one; NULL: there are several. */
const cmd_known *cmd_only_operand(const cmd_inputs *in, const cmd_made_of *made);
/* Is that bracket the first one of a list, [a, b], and not of subscripts? */
bool cmd_is_list(const char *from, const char *bracket);
/* The text without arguments that have no units of the result: weights, indices, conditions (units.c). */
const char *cmd_quantities(const char *text);
/* The text behind "name =" or "name[i, j] =". */
const char *cmd_right_side(const char *text);
/* Behind the bracket that ends what `p` is the first character in. */
const char *cmd_behind_bracket(const char *p);
/* The comma or the bracket that ends the argument in which `p` is. */
const char *cmd_behind_argument(const char *p);
#endif
