/* documentation.c - what help() and inspect.signature() show of functions: their signature, and rows of docs.def. */
#include "signatures.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- What the tables say ---------------------------------------------------------------------- */
static const struct {
    const char *name, *sentence, *example, *result;
} docs[] = {
#define DOC(name, sentence, example, result) { #name, sentence, example, result },
#include "docs.def"
#undef DOC
};

static const struct {
    const char *function, *name, *kinds, *text;
} parameters[] = {
#define PARAMETER(function, name, kinds, text) { #function, #name, kinds, text },
#include "parameters.def"
#undef PARAMETER
};

static const struct {
    char        kind;
    const char *words;
} kinds[] = {
#define KIND(letter, words, hint) { letter, words },
#include "kinds.def"
#undef KIND
};

static const char *kind_words(char kind)
{
    size_t k = 0;

    while (k < sizeof kinds / sizeof *kinds - 1 && kinds[k].kind != kind)
        k++;
    return kinds[k].words;
}

/* Rows of one function stand before those of all, which are called `any_other`. */
static const char *parameter_text(const char *function, const char *name, char kind)
{
    for (size_t k = 0; k < sizeof parameters / sizeof *parameters; k++)
        if (strcmp(parameters[k].name, name) == 0 && strchr(parameters[k].kinds, kind) &&
            (strcmp(parameters[k].function, function) == 0 ||
             strcmp(parameters[k].function, "any_other") == 0))
            return parameters[k].text;
    return "";
}

/* ---- Writing ---------------------------------------------------------------------------------- */
enum { MOST_TEXT = 8192, MOST_PARAMETERS = 24 };
typedef struct page {
    int  n;
    char text[MOST_TEXT];
} page;

static void put(page *p, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    p->n += vsnprintf(p->text + p->n, (size_t)(MOST_TEXT - p->n), format, arguments);
    va_end(arguments);
    if (p->n >= MOST_TEXT)
        p->n = MOST_TEXT - 1;
}

static void put_default(page *p, const rdpy_parameter *x)
{
    if (x->absent && x->kind == 'b')
        put(p, "=%s", x->fallback != 0 ? "True" : "False");
    else if (x->absent)
        put(p, "=%.*s", (int)strcspn(x->absent, " "), x->absent);
    else if (x->optional)
        put(p, "=None");
}

/* "name($module, a, /, axis=None, *, where=None)": the form that Python reads a signature from. */
static void put_signature(page *p, const char *name, int n, const rdpy_parameter *at, bool method)
{
    bool places = true;
    char shown[MOST_NAME];

    put(p, "%s($%s", name, method ? "self" : "module");
    for (int k = method; k < n; k++) {
        if (places && !at[k].by_place)
            put(p, ", *");
        places = at[k].by_place;
        put(p, ", %s", rdpy_name_of(&at[k], shown));
        put_default(p, &at[k]);
        if (!at[k].by_name && (k + 1 == n || at[k + 1].by_name))
            put(p, ", /");
    }
    put(p, ")\n--\n\n");
}

static void put_parameters(page *p, const char *name, int n, const rdpy_parameter *at, bool method)
{
    char shown[MOST_NAME];

    if (n > method)
        put(p, "\nParameters\n----------\n");
    for (int k = method; k < n; k++) {
        const char *const text = parameter_text(name, rdpy_name_of(&at[k], shown), at[k].kind);

        put(p, "%s : %s%s\n", shown, kind_words(at[k].kind),
            at[k].optional || at[k].absent ? ", optional" : "");
        if (*text)
            put(p, "    %s\n", text);
    }
}

/* An example that begins with the function's name is of the module. */
static void put_prose(page *p, const char *name, int n, const rdpy_parameter *at, bool method)
{
    for (size_t k = 0; k < sizeof docs / sizeof *docs; k++)
        if (strcmp(docs[k].name, name) == 0) {
            put(p, "%s\n", docs[k].sentence);
            put_parameters(p, name, n, at, method);
            put(p, "\nExamples\n--------\n>>> %s\n%s\n", docs[k].example, docs[k].result);
            return;
        }
}

const char *rdpy_doc(const char *name, const char *signature, bool method)
{
    page           p = { .n = 0 };
    rdpy_parameter at[MOST_PARAMETERS];
    const int      n = rdpy_read_signature(signature, MOST_PARAMETERS, at);
    char          *text;

    put_signature(&p, name, n, at, method);
    put_prose(&p, name, n, at, method);
    text = PyMem_Malloc((size_t)p.n + 1);
    return text ? memcpy(text, p.text, (size_t)p.n + 1) : NULL;
}
