/* signatures.c - texts of arguments, as the tables have them: read once, and where a call's arguments go. */
#include "calls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ---------------------------------------------------------------------------------- */
static const char *read_parameter(const char *at, rdpy_parameter *p, int *lists)
{
    *p          = (rdpy_parameter){ .names = at, .by_name = true };
    at          = strchr(at, ':') + 1;
    p->kind     = *at++;
    p->list     = p->kind == 's' ? (*lists)++ : 0;
    p->optional = *at == '?';
    at += p->optional;
    if (*at == '=') {
        p->absent   = at + 1;
        p->fallback = strtod(p->absent, NULL);
        at += strcspn(at, " ");
    }
    return at;
}

int rdpy_read_signature(const char *text, int most, rdpy_parameter *at)
{
    int  lists = 0, n = 0;
    bool by_place = true;

    for (; *text && n < most; text += *text == ' ') {
        if (*text == '*') {
            by_place = false;
            text++;
        } else if (*text == '/') {
            for (int k = 0; k < n; k++)
                at[k].by_name = false;
            text++;
        } else {
            text             = read_parameter(text, &at[n], &lists);
            at[n++].by_place = by_place;
        }
    }
    return n;
}

bool rdpy_is_name(const rdpy_parameter *p, const char *name, size_t length)
{
    for (const char *at = p->names; p->by_name && *at != ':'; at += *at == '|') {
        const size_t n = strcspn(at, "|:");

        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* ---- Places of arguments ---------------------------------------------------------------------- */
static int place_keyword(const rdpy_row *r, PyObject *keyword, PyObject *value, PyObject **given)
{
    Py_ssize_t        length;
    const char *const name = PyUnicode_AsUTF8AndSize(keyword, &length);
    int               k    = 0;

    if (!name)
        return -1;
    while (k < r->n && !rdpy_is_name(&r->at[k], name, (size_t)length))
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

/* PyErr_Format() does not know "%.*s". */
const char *rdpy_name_of(const rdpy_parameter *p, char name[MOST_NAME])
{
    snprintf(name, MOST_NAME, "%.*s", (int)strcspn(p->names, "|:"), p->names);
    return name;
}
