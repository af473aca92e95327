/* made_of.h - the variables that a statement is made of, from its text. */
#ifndef CMD_MADE_OF_H
#define CMD_MADE_OF_H
#include "inputs.h"

/* The operands of a statement. */
typedef struct cmd_made_of {
    int   n; /* operands: variables that are neither in subscripts nor arguments with a keyword */
    short operand[CMD_MOST_KNOWN]; /* in the order of the text, as places in inputs->known */
    bool  once;                    /* there is one operand, which is used once */
    bool  as_is;                   /* ... and its elements are unchanged: v, v[2:, 0], v.T, v + 0 */
    bool  shifts;                  /* the only steps are + and - */
} cmd_made_of;

/* Earlier statements with names. */
enum { CMD_MOST_STATEMENTS = 64 };
typedef struct cmd_statements {
    int                n;
    const char        *name[CMD_MOST_STATEMENTS];
    const cmd_made_of *made[CMD_MOST_STATEMENTS];
} cmd_statements;

/* Reads the next statement; `name` NULL or "": it has none. */
const cmd_made_of *cmd_read_statement(cmd_statements *all, const cmd_inputs *in, const char *name,
                                      const char *text);
/* Finds the operand that describes the result: the only operand, or the only one that is no
 * axis. NULL: there are several. */
const cmd_known *cmd_only_operand(const cmd_inputs *in, const cmd_made_of *made);
/* True if that bracket begins a list, [a, b], and not subscripts. from: the beginning of the
 * text. */
bool cmd_is_list(const char *from, const char *bracket);
/* Returns the text without arguments that lack the units of the result: weights, indices,
 * conditions (units.c). */
const char *cmd_quantities(const char *text);
/* Returns the text with blanks in place of comments, which go from # to the end of a line, and
 * without blanks at its end. */
const char *cmd_without_comments(const char *text);
/* Skips "name =" or "name[i, j] =". */
const char *cmd_right_side(const char *text);
/* Skips the rest of a bracket; p is inside it. */
const char *cmd_behind_bracket(const char *p);
/* Finds the comma or the bracket that ends the argument; p is inside it. */
const char *cmd_behind_argument(const char *p);
#endif
