/* made_of.c - finds the variables that a statement is made of, from its text.
 *
 * If the text is not understood, more operands are counted, not fewer: then fewer facts are kept
 * for the result. Functions "behind_..." return the first character behind what they skip. */
#include "made_of.h"
#include <ctype.h>
#include <string.h>

/* True if the character can begin a name. */
static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

/* Returns the first character behind the name that begins at p. */
static const char *behind_name(const char *p)
{
    while (is_letter(*p) || isdigit((unsigned char)*p))
        p++;
    return p;
}

/* Returns the first character from p on that is no blank. */
static const char *behind_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Returns the first character behind the text in quotes that begins at p; the end, if it is not
 * closed. */
static const char *behind_quotes(const char *p)
{
    const char *end = strchr(p + 1, *p);

    return end ? end + 1 : p + strlen(p);
}

/* Returns a copy of a statement with blanks in place of its comments, and none at its end, so that
 * scanners of the text need not know comments. A # in quotes begins none. */
const char *cmd_without_comments(const char *text)
{
    char  *copy = cmd_copy(text, strlen(text));
    size_t end  = 0; /* behind the last character that is no blank */

    for (size_t at = 0; copy[at];) {
        if (copy[at] == '#') {
            while (copy[at] && copy[at] != '\n')
                copy[at++] = ' ';
            continue;
        }
        const bool   quoted = copy[at] == '\'' || copy[at] == '"';
        const size_t next   = quoted ? (size_t)(behind_quotes(copy + at) - copy) : at + 1;
        end                 = isspace((unsigned char)copy[at]) ? end : next;
        at                  = next;
    }
    copy[end] = '\0';
    return copy;
}

/* Returns the first character behind the closing bracket of the bracket that p is inside of. Inner
 * brackets and texts in quotes do not close it. */
const char *cmd_behind_bracket(const char *p)
{
    for (int depth = 0; *p; p++) {
        if (*p == '\'' || *p == '"') {
            p = behind_quotes(p) - 1;
            continue;
        }
        depth += strchr("([", *p) != NULL;
        if (strchr(")]", *p) && depth-- == 0)
            return p + 1;
    }
    return p;
}

/* Finds the comma or the closing bracket that ends the argument that p is in. Texts in quotes and
 * inner brackets are skipped. */
const char *cmd_behind_argument(const char *p)
{
    while (*p && !strchr(",)]", *p))
        p = *p == '\'' || *p == '"'  ? behind_quotes(p)
            : *p == '(' || *p == '[' ? cmd_behind_bracket(p + 1)
                                     : p + 1;
    return p;
}

/* Returns the text behind "name =", "name[i, j] =" or "name +=". A text without them is returned
 * from its first character on; == is a comparison. */
const char *cmd_right_side(const char *text)
{
    const char *p = behind_blanks(text), *name = p;

    p = behind_blanks(behind_name(p));
    if (p > name && *p == '[')
        p = behind_blanks(cmd_behind_bracket(p + 1));
    if (*p == '+' && p[1] == '=')
        p++;
    return p > name && *p == '=' && p[1] != '=' ? behind_blanks(p + 1) : behind_blanks(text);
}

/* True if the bracket begins a list, [a, b]: it stands at the start of the text (from), or behind
 * an opening bracket, a comma or an equals sign. Otherwise it begins subscripts. */
bool cmd_is_list(const char *from, const char *bracket)
{
    while (bracket > from && isspace((unsigned char)bracket[-1]))
        bracket--;
    return bracket == from || strchr("([,=", bracket[-1]);
}

/* ---- Operands -------------------------------------------------------------------------------- */
/* True if `name` equals the n characters of the text. */
static bool is_named(const char *name, const char *text, size_t n)
{
    return name && strlen(name) == n && memcmp(name, text, n) == 0;
}

/* Adds variable k of in->known to the operands of a statement. If it is there already, or is not
 * the only one, `once` (a single operand, used once) becomes false. */
static void add_operand(cmd_made_of *made, short k)
{
    for (int i = 0; i < made->n; i++)
        if (made->operand[i] == k) {
            made->once = false;
            return;
        }
    made->operand[made->n++] = k;
    made->once               = made->n == 1 && made->once;
}

/* Adds the operands of an earlier statement, whose result is used, and keeps only the facts that
 * both have: once (one operand, used once) and shifts (only + and -). */
static void add_statement(cmd_made_of *made, const cmd_made_of *other)
{
    for (int i = 0; i < other->n; i++)
        add_operand(made, other->operand[i]);
    made->once &= other->once;
    made->shifts &= other->shifts;
}

/* Adds the operands that a name of n characters stands for: those of the latest statement of this
 * name, or a variable. False: it is neither, but a function or a constant. */
static bool add_name(cmd_made_of *made, const cmd_statements *all, const cmd_inputs *in,
                     const char *name, size_t n)
{
    for (int k = all->n; k-- > 0;)
        if (is_named(all->name[k], name, n)) {
            add_statement(made, all->made[k]);
            return true;
        }
    for (int k = 0; k < in->n_known; k++)
        if (is_named(in->known[k].name, name, n)) {
            add_operand(made, (short)k);
            return true;
        }
    return false;
}

/* Scans a text for names of operands; subscripts and keyword arguments are skipped. made->shifts
 * becomes false at all that is no operand, number, + or -. A name behind a '.' is a method; .T is
 * only a view. */
static void find_operands(cmd_made_of *made, const cmd_statements *all, const cmd_inputs *in,
                          const char *text)
{
    int depth = 0;

    for (const char *p = text; *p;) {
        if (*p == '\'' || *p == '"')
            p = behind_quotes(p);
        else if (*p == '[')
            p = cmd_is_list(text, p) ? p + 1 : cmd_behind_bracket(p + 1);
        else if (is_letter(*p) && !(p > text && isdigit((unsigned char)p[-1]))) {
            const char *name = p, *end = behind_name(p);
            const bool  method = name > text && name[-1] == '.';
            p                  = behind_blanks(end);
            const bool view    = method && end - name == 1 && *name == 'T';
            if (depth > 0 && *p == '=' && p[1] != '=')
                p = cmd_behind_argument(p);
            else if (*p == '(' ||
                     !(view || (!method && add_name(made, all, in, name, (size_t)(end - name)))))
                made->shifts = false; /* a function, a reduction over indices, a constant */
        } else {
            made->shifts &= strchr("*/^%<>&|!?@~=:", *p) == NULL;
            depth += (*p == '(') - (*p == ')');
            p++;
        }
    }
}

/* True if only subscripts, .T and steps that change nothing, such as + 0, follow a name at p.
 * Blanks are removed before the comparison. */
static bool is_unchanged(const char *p)
{
    static const char *const rests[] = { "", "+0", "-0", "+0.0", "-0.0", "*1", "*1.0" };
    char                     rest[8] = "";

    for (p = behind_blanks(p); *p == '[' || (p[0] == '.' && p[1] == 'T');)
        p = behind_blanks(*p == '[' ? cmd_behind_bracket(p + 1) : p + 2);
    for (size_t n = 0; *p; p = behind_blanks(p + 1)) {
        if (n + 1 == sizeof rest)
            return false;
        rest[n++] = *p;
    }
    for (size_t k = 0; k < sizeof rests / sizeof *rests; k++)
        if (strcmp(rest, rests[k]) == 0)
            return true;
    return false;
}

/* True if the text is one name, with subscripts at most, so that elements are those of the
 * variable. The name of an earlier statement must stand for such a text, too. */
static bool is_as_is(const cmd_statements *all, const char *text)
{
    const char *end = behind_name(text);

    if (!is_letter(*text) || !is_unchanged(end))
        return false;
    for (int k = all->n; k-- > 0;)
        if (is_named(all->name[k], text, (size_t)(end - text)))
            return all->made[k]->as_is;
    return true;
}

/* Reads the next statement of the formula, finds its operands, and remembers them by its name.
 * Arguments without the units of the result, such as weights, are removed first
 * (cmd_quantities()). */
const cmd_made_of *cmd_read_statement(cmd_statements *all, const cmd_inputs *in, const char *name,
                                      const char *text)
{
    cmd_made_of *made  = cmd_room(sizeof *made);
    const char  *right = cmd_right_side(text);

    made->once = made->shifts = true;
    find_operands(made, all, in, cmd_quantities(right));
    made->once &= made->n == 1;
    made->as_is = made->once && is_as_is(all, right);
    if (name && *name && all->n < CMD_MOST_STATEMENTS) {
        all->name[all->n]   = cmd_copy(name, strlen(name));
        all->made[all->n++] = made;
    }
    return made;
}

/* Finds the operand that describes the result: the only one, or the only one that is no axis. NULL:
 * there are several, or none. */
const cmd_known *cmd_only_operand(const cmd_inputs *in, const cmd_made_of *made)
{
    const cmd_known *only = NULL;

    if (made->n == 1)
        return &in->known[made->operand[0]];
    for (int k = 0; k < made->n; k++)
        if (!in->known[made->operand[k]].v.is_axis) {
            if (only)
                return NULL;
            only = &in->known[made->operand[k]];
        }
    return only;
}
