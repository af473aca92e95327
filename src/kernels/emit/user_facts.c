/* user_facts.c - facts of a user's reducer from its text: the members of its struct, and whether
 * vectors can be made of its steps.
 *
 * The text of a reducer is C code that the user has given: code[0] the members of its struct, and 1
 * to 4 the bodies of init, step, merge and finish. */
#include "kernels/emit/user_reducers.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- Members --------------------------------------------------------------------------------- */
/* The C types that a member may have, and their bytes. */
static const struct {
    const char *name;
    int         size;
} types[] = { { "double", 8 },
              { "float", 4 },
              { "int", 4 },
              { "unsigned", 4 },
              { "unsigned int", 4 },
              { "long", sizeof(long) },
              { "long long", 8 },
              { "unsigned long", sizeof(long) },
              { "unsigned long long", 8 },
              { "int8_t", 1 },
              { "int16_t", 2 },
              { "int32_t", 4 },
              { "int64_t", 8 },
              { "uint8_t", 1 },
              { "uint16_t", 2 },
              { "uint32_t", 4 },
              { "uint64_t", 8 },
              { "size_t", sizeof(size_t) },
              { "bool", 1 },
              { "_Bool", 1 },
              { "char", 1 },
              { "short", 2 } };

/* Skips white space. */
static const char *skip_spaces(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Returns the length of the C word (letters, digits and _) that the text begins with; 0 if it
 * begins with none. */
static int word_length(const char *at)
{
    int n = 0;

    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return n;
}

/* True if the text is one word. */
bool rd_is_word(const char *text)
{
    return text[0] && word_length(text) == (int)strlen(text);
}

/* Adds a member of the user's struct: its type (a row of `types`), its name of `length`
 * characters, and index >= 0 for an element of an array, "v[3]". False: the name is none of C,
 * or there are too many members. */
static bool add_member(rd_user *u, int type, const char *name, int length, int index)
{
    rd_user_member *m = &u->member[u->n];

    if (u->n == RD_USER_MEMBERS || length == 0 || length > RD_USER_NAME ||
        isdigit((unsigned char)name[0]))
        return false;
    *m = (rd_user_member){ .type = types[type].name, .size = types[type].size };
    if (index >= 0)
        snprintf(m->place, sizeof m->place, "%.*s[%d]", length, name, index);
    else
        snprintf(m->place, sizeof m->place, "%.*s", length, name);
    u->n++;
    return true;
}

/* Reads the names behind a type in the user's struct, "n, v[3];", and adds each as a member, an
 * array as one member for each element. Returns the text behind the ";"; NULL: it is more than
 * this reader knows. */
static const char *declarators(rd_user *u, int type, const char *at)
{
    for (;; at++) {
        const char *name = at = skip_spaces(at);
        const int   length    = word_length(at);

        at = skip_spaces(at + length);
        if (*at == '[') {
            int count = 0;

            for (at = skip_spaces(at + 1); isdigit((unsigned char)*at) && count <= RD_USER_MEMBERS;)
                count = 10 * count + *at++ - '0';
            at = skip_spaces(at);
            if (*at++ != ']' || count == 0 || count > RD_USER_MEMBERS)
                return NULL;
            for (int k = 0; k < count; k++)
                if (!add_member(u, type, name, length, k))
                    return NULL;
            at = skip_spaces(at);
        } else if (!add_member(u, type, name, length, /*index=*/-1))
            return NULL;
        if (*at != ',')
            return *at == ';' ? at + 1 : NULL;
    }
}

/* Reads one declaration of the user's struct, such as "unsigned long n, v[3];". The type is the
 * longest sequence of words that `types` has. Returns the text behind the declaration; NULL: it
 * is more than this reader knows. */
static const char *declaration(rd_user *u, const char *at)
{
    char        words[RD_USER_NAME] = "";
    const char *behind              = NULL;
    int         found               = -1;

    while (word_length(at)) {
        const int length = word_length(at);
        const int used   = (int)strlen(words);

        if (used + length + 2 > RD_USER_NAME)
            break;
        snprintf(words + used, sizeof words - (size_t)used, "%s%.*s", used ? " " : "", length, at);
        at = skip_spaces(at + length);
        for (int k = 0; k < (int)(sizeof types / sizeof *types); k++)
            if (strcmp(words, types[k].name) == 0) {
                found  = k;
                behind = at;
            }
    }
    return found < 0 ? NULL : declarators(u, found, behind);
}

/* True if the text is only declarations of members of known types, at least one; they are added
 * to *u. */
static bool has_members(rd_user *u, const char *text)
{
    for (text = skip_spaces(text); text && *text;) {
        text = declaration(u, text);
        text = text ? skip_spaces(text) : NULL;
    }
    return text && u->n > 0;
}

/* True if the word occurs in the text as a whole word. */
static bool has_word(const char *text, const char *word)
{
    while (*text) {
        const int length = word_length(text);

        if (length == (int)strlen(word) && strncmp(text, word, (size_t)length) == 0)
            return true;
        text += length ? length : 1;
    }
    return false;
}

/* True if the path through the text, or its subscripts, may depend on the element, so that
 * neighbouring elements cannot be a vector. Signs are loops or jumps other than `for`, a `for`
 * with "&&" or "||", or, in a text without loops, a subscript that is no number. */
static bool depends_on_elements(const char *text)
{
    static const char *const words[] = { "while", "do", "goto", "switch", "break", "asm" };
    const bool               loops   = has_word(text, "for");

    for (int k = 0; k < (int)(sizeof words / sizeof *words); k++)
        if (has_word(text, words[k]))
            return true;
    if (loops && (strstr(text, "&&") || strstr(text, "||")))
        return true;
    for (const char *at = strchr(text, '['); at && !loops; at = strchr(at + 1, '['))
        if (!isdigit((unsigned char)*skip_spaces(at + 1)))
            return true;
    return false;
}

/* True if the user's reducer has C text for all that it needs: its struct, init, step and
 * finish, and merge if it has one. A `return` in the step's text is refused: in the function
 * that RD_REDUCER makes of it, it ends a loop over elements, and here it would end one step. */
bool rd_user_has_text(const rd_reducer *r)
{
    return r->code[0] && r->code[1] && r->code[2] && r->code[4] && (r->code[3] || !r->merge) &&
           !has_word(r->code[2], "return");
}

/* True if the step may need the index of its element: its C text has the word i; also without a
 * text, as a function may use the index. */
bool rd_user_needs_index(const rd_reducer *r)
{
    return !r->code[2] || has_word(r->code[2], "i");
}

/* True if a member of the struct has 8 bytes, or states are whole structs: then the flag that an
 * element came is an int of 8 bytes, too. */
static bool is_wide(const rd_user *u)
{
    bool wide = u->form != RD_USER_MEMBER_WISE;

    for (int k = 0; k < u->n; k++)
        wide |= u->member[k].size == 8;
    return wide;
}

/* Chooses how the text keeps the states of a user's reducer: a number for each member, whole
 * structs, or structs for calls by address. With numbers for members, compilers make vectors of
 * steps, unless loops or subscripts depend on elements. A struct's bytes are rounded up to 16; for
 * calls by address there are 16 more, for the pointer to the reducer. A flag that an element came
 * (seen) is added where a state may meet none, and for scans. `number` is that of the fold, for the
 * struct's name. n is the number of arrays of states: one for each member, or one of structs.
 * False: no memory. */
bool rd_user_facts(rd_emit_fold *f, int number, bool pointers, rd_get_fn *get, void *pool)
{
    const rd_reducer *r     = f->fold->user;
    const int32_t     bytes = (int32_t)((r->state_size + 15) / 16 * 16);
    rd_user          *u     = get(pool, sizeof *u);

    if (!u)
        return false;
    u->form = pointers || !rd_user_has_text(r) ? RD_USER_POINTERS : RD_USER_STRUCT;
    if (u->form == RD_USER_STRUCT && has_members(u, r->code[0]) && !depends_on_elements(r->code[2]))
        u->form = RD_USER_MEMBER_WISE;
    snprintf(u->type, sizeof u->type, "U%d", number);
    if (u->form != RD_USER_MEMBER_WISE) {
        u->n     = 1;
        f->bytes = u->form == RD_USER_STRUCT ? bytes : bytes + 16;
    }
    f->user    = u;
    f->seen    = f->masked || f->merges_empty || f->fold->scan;
    f->n_state = u->n + f->seen;
    return true;
}

/* Returns the C type of number k of a state: of a member, of the whole struct, or, for k = n, of
 * the flag behind them that an element came. */
const char *rd_user_state_type(const rd_emit_fold *f, int k)
{
    if (k == f->user->n)
        return is_wide(f->user) ? "int64_t" : "int32_t";
    return f->user->form == RD_USER_MEMBER_WISE ? f->user->member[k].type : f->user->type;
}

/* Returns the bytes of a state, with 8 for the flag that an element came (seen). */
int rd_user_bytes(const rd_emit_fold *f)
{
    int bytes = f->seen ? 8 : 0;

    for (int k = 0; k < f->user->n; k++)
        bytes += f->user->form == RD_USER_MEMBER_WISE ? f->user->member[k].size : f->bytes;
    return bytes;
}

/* Returns how many additions a step costs, about: of a built-in reducer from the table; of a
 * user's, the operators in its text, where a division counts as 4. Without a text it is 8, and
 * never much more than 100. */
double rd_fold_cost(const rd_fold *f)
{
    const char *text = f->user ? f->user->code[2] : NULL;
    double      cost = 0;

    if (!f->user)
        return (double)rd_reducer_table[f->reducer].cost;
    if (!text)
        return 8;
    for (; *text && cost < 100; text++)
        if (text[0] == '-' && text[1] == '>')
            text++;
        else
            cost += *text == '/' ? 4 : strchr("+-*<>?", *text) ? 1 : 0;
    return cost;
}

/* Returns the bytes of the widest number of a state, 4 or 8, if vectors can be made of the
 * steps; 0 if they cannot. */
int rd_user_widest(const rd_emit_fold *f)
{
    return f->user->form != RD_USER_MEMBER_WISE ? 0 : is_wide(f->user) ? 8 : 4;
}

/* Writes, before a state of a reducer that is called by its addresses begins, the pointer to the
 * reducer's table of functions; nothing for other reducers. `name` is what stands before the fold's
 * number in the name of a state, `at` its subscript.
 *
 *     s0_0[l].user = q->reducer + 0; */
void rd_add_user_begin(rd_text *to, const rd_emit_fold *f, int number, const char *name,
                       const char *at)
{
    if (f->user && f->user->form == RD_USER_POINTERS)
        rd_text_add(to, " %s%d_0[%s].user = q->reducer + %d;", name, number, at, number);
}
