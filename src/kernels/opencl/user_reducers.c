/* user_reducers.c - which users' reducers run from their text: those that call nothing, as
 * functions of C need not have the same bits on a device. */
#include "kernels/opencl/opencl_plan.h"
#include <ctype.h>
#include <string.h>

/* True for a character that a name in C may have. */
static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* True if the word of n characters is one of C that may stand before a bracket without being
 * called. */
static bool is_statement(const char *word, size_t n)
{
    static const char *const statements[] = { "if", "while", "for", "switch", "sizeof", "return" };

    for (size_t k = 0; k < sizeof statements / sizeof *statements; k++)
        if (strlen(statements[k]) == n && memcmp(statements[k], word, n) == 0)
            return true;
    return false;
}

/* True if a text of C calls a function: a bracket follows a name that is no keyword.  Blanks may
 * stand between. */
static bool has_calls(const char *text)
{
    for (const char *at = strchr(text, '('); at; at = strchr(at + 1, '(')) {
        const char *end = at, *begin;

        while (end > text && isspace((unsigned char)end[-1]))
            end--;
        for (begin = end; begin > text && is_name(begin[-1]);)
            begin--;
        if (begin < end && !is_statement(begin, (size_t)(end - begin)))
            return true;
    }
    return false;
}

/* True if a user's reducer can run on the device. It has a text, and none of its functions
 * (init, step and so on) calls another, as functions of C need not have the same bits there. */
bool rd_cl_may_run(const rd_reducer *r)
{
    enum { TEXTS = 5 };
    bool may = rd_user_has_text(r);

    for (int k = 0; k < TEXTS; k++)
        may = may && !(r->code[k] && has_calls(r->code[k]));
    return may;
}
