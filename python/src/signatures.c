/* signatures.c - signatures of calls.def: read once, shown by help(), and where a call's arguments go. */
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Signatures ------------------------------------------------------------------------------- */
static const char *read_parameter(const char *at, rdpy_parameter *p, int *lists)
{
    *p          = (rdpy_parameter){ .names = at };
    at          = strchr(at, ':') + 1;
    p->kind     = *at++;
    p->list     = p->kind == 's' ? (*lists)++ : 0;
    p->optional = *at == '?';
    at += p->optional;
    p->has_default = *at == '=';
    if (p->has_default) {
        char *end;

        p->fallback = strtod(at + 1, &end);
        at          = end;
    }
    return at;
}

void rdpy_read_signature(rdpy_row *r)
{
    int  lists    = 0;
    bool by_place = true;

    for (const char *at = r->signature; *at; at += *at == ' ') {
        if (*at == '*') {
            by_place = false;
            at++;
            continue;
        }
        at                     = read_parameter(at, &r->at[r->n], &lists);
        r->at[r->n++].by_place = by_place;
        r->n_places += by_place;
    }
}

/* "name($module, a, axis=None)": what help() and inspect.signature() show.  It stays for good. */
const char *rdpy_signature_text(const rdpy_row *r, bool method)
{
    enum { MOST_TEXT = 512 };
    char *const text = PyMem_Malloc(MOST_TEXT);
    int  at   = text ? snprintf(text, MOST_TEXT, "%s($%s", r->name, method ? "self" : "module") : 0;
    bool star = false;

    for (int k = method; text && k < r->n && at < MOST_TEXT; k++) {
        const rdpy_parameter *const p = &r->at[k];

        at += snprintf(text + at, (size_t)(MOST_TEXT - at), "%s, %.*s%s",
                       p->by_place || star ? "" : ", *", (int)strcspn(p->names, "|:"), p->names,
                       p->optional || p->has_default ? "=None" : "");
        star |= !p->by_place;
    }
    if (!text || at + 32 > MOST_TEXT)
        return text ? r->signature : NULL;
    snprintf(text + at, (size_t)(MOST_TEXT - at), ")\n--\n\n");
    return text;
}

/* ---- Places of arguments ---------------------------------------------------------------------- */
static bool has_name(const rdpy_parameter *p, const char *name, size_t length)
{
    for (const char *at = p->names; *at != ':'; at += *at == '|') {
        const size_t n = strcspn(at, "|:");

        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

static int place_keyword(const rdpy_row *r, PyObject *keyword, PyObject *value, PyObject **given)
{
    Py_ssize_t        length;
    const char *const name = PyUnicode_AsUTF8AndSize(keyword, &length);
    int               k    = 0;

    if (!name)
        return -1;
    while (k < r->n && !has_name(&r->at[k], name, (size_t)length))
        k++;
    if (k < r->n && !given[k]) {
        given[k] = value;
        return 0;
    }
    PyErr_Format(PyExc_TypeError,
                 k == r->n ? "rdim.%s() has no keyword %R" : "rdim.%s(): %R is given twice",
                 r->name, keyword);
    return -1;
}

int rdpy_place_all(const rdpy_row *r, PyObject *const *args, Py_ssize_t n_args, PyObject *keywords,
                   PyObject **given)
{
    const Py_ssize_t n_keywords = keywords ? PyTuple_Size(keywords) : 0;

    if (n_args > r->n_places) {
        PyErr_Format(PyExc_TypeError, "rdim.%s() takes at most %d arguments by place, %zd given",
                     r->name, r->n_places, n_args);
        return -1;
    }
    for (Py_ssize_t k = 0; k < r->n; k++)
        given[k] = k < n_args ? args[k] : NULL;
    for (Py_ssize_t k = 0; k < n_keywords; k++)
        if (place_keyword(r, PyTuple_GetItem(keywords, k), args[n_args + k], given) < 0)
            return -1;
    return 0;
}

/* The first name, for sentences: PyErr_Format() does not know "%.*s". */
const char *rdpy_name_of(const rdpy_parameter *p, char name[MOST_NAME])
{
    snprintf(name, MOST_NAME, "%.*s", (int)strcspn(p->names, "|:"), p->names);
    return name;
}
