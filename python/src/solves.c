/* solves.c - solves, eigenvalues and estimates of operators that are expressions of an input.
 *
 * The calls of rdim/solves.h and rdim/eigenvalues.h evaluate, so they run as evaluations do: without the
 * interpreter's lock, with the thread's options.  Operands are Arrays in a tuple, None where there is none. */
#include "core.h"
#include <stdlib.h>
#include <time.h>

/* ---- Operands ---------------------------------------------------------------------------------- */
/* Nodes of operands in the home where a call runs, who owns their memory, and who is told of iterations. */
typedef struct solving {
    rdpy_home     *home;
    int            n;
    rd_expr      **node; /* NULL where the operand is None */
    PyObject     **held;
    PyThreadState *state;    /* of the thread while it does not have the interpreter */
    PyObject      *progress; /* progress(iteration, residual), or NULL */
    bool           stopped;  /* an exception is set */
    double         seen;     /* when signals were last asked for, in seconds */
    double        *history;  /* residuals, where they are wanted */
    int64_t        n_history, room;
    bool           keeps;
    rd_eval_opts   eval;
} solving;

static void end_solving(solving *s)
{
    for (int k = 0; s->held && k < s->n; k++)
        Py_XDECREF(s->held[k]);
    PyMem_Free(s->held);
    PyMem_Free(s->node);
    free(s->history);
    Py_XDECREF(s->progress);
}

/* -1 with an exception; end_solving() is due in any case. */
static int begin_solving(solving *s, rdpy_home *home, PyObject *operands, PyObject *progress)
{
    s->home     = home;
    s->n        = (int)PyTuple_Size(operands);
    s->node     = PyMem_Calloc((size_t)s->n + 1, sizeof *s->node);
    s->held     = PyMem_Calloc((size_t)s->n + 1, sizeof *s->held);
    s->progress = progress == Py_None ? NULL : Py_XNewRef(progress);
    s->eval     = rdpy_eval_options();
    if (!home)
        return -1;
    if (!s->node || !s->held) {
        PyErr_NoMemory();
        return -1;
    }
    for (int k = 0; k < s->n; k++) {
        PyObject *const one = PyTuple_GetItem(operands, k);

        if (one != Py_None && !(s->node[k] = rdpy_node_here(home, one, &s->held[k])))
            return -1;
    }
    return 0;
}

/* ---- Iterations -------------------------------------------------------------------------------- */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep(solving *s, double residual)
{
    if (s->n_history == s->room) {
        const int64_t room = 2 * s->room + 64;
        double *const more = realloc(s->history, (size_t)room * sizeof *more);

        if (!more)
            return; /* the history ends here */
        s->history = more;
        s->room    = room;
    }
    s->history[s->n_history++] = residual;
}

/* After each iteration.  The interpreter is asked for if somebody is told, and else ten times a second, as other
 * threads may have it. */
static int told(void *user, int64_t iteration, double residual)
{
    solving *const s   = user;
    const double   now = seconds();

    if (s->stopped)
        return 1;
    if (s->keeps)
        keep(s, residual);
    if (!s->progress && now - s->seen < 0.1)
        return 0;
    s->seen = now;
    PyEval_RestoreThread(s->state);
    s->stopped = PyErr_CheckSignals() < 0;
    if (!s->stopped && s->progress) {
        PyObject *const said =
            PyObject_CallFunction(s->progress, "Ld", (long long)iteration, residual);

        s->stopped = !said;
        Py_XDECREF(said);
    }
    s->state = PyEval_SaveThread();
    return s->stopped;
}

/* A call of the library, whose arguments are in the struct that begins with a `solving`. */
typedef rd_status calling(rd_ctx *ctx, void *of);
typedef struct running {
    solving *s;
    calling *call;
    void    *of;
} running;

static rd_status run_call(rd_ctx *ctx, void *of)
{
    running *const r = of;
    rd_status      status;

    r->s->n_history = 0; /* of a try before, which a signal ended */
    r->s->seen      = seconds();
    r->s->state     = PyEval_SaveThread();
    status          = r->call(ctx, r->of);
    PyEval_RestoreThread(r->s->state);
    return status;
}

static int run(solving *s, calling *call, void *of)
{
    running r = { s, call, of };

    return rdpy_run(s->home, run_call, &r);
}

/* (iterations, evaluations, residual, converged, residuals of iterations), or None where nobody asked. */
static PyObject *told_of(const solving *s, const rd_solve_info *info)
{
    if (!s->keeps)
        return Py_NewRef(Py_None);
    PyObject *const residuals = PyTuple_New((Py_ssize_t)s->n_history), *made;

    for (int64_t k = 0; residuals && k < s->n_history; k++) {
        PyObject *const one = PyFloat_FromDouble(s->history[k]);

        if (!one || PyTuple_SetItem(residuals, (Py_ssize_t)k, one) < 0) {
            Py_DECREF(residuals);
            return NULL;
        }
    }
    made = residuals
               ? Py_BuildValue("LLdOO", (long long)info->iterations, (long long)info->evaluations,
                               info->residual, info->converged ? Py_True : Py_False, residuals)
               : NULL;
    Py_XDECREF(residuals);
    return made;
}

/* ---- Linear systems ---------------------------------------------------------------------------- */
/* Operands of a solve, and what a gradient has in their places behind `Av` and v. */
enum { OF_AV, OF_V, OF_PRECONDITIONER, OF_B, OF_START, OF_X = OF_B, OF_G, OF_P };
typedef struct linear {
    solving       s;
    rd_solve_opts opts;
    rd_solve_info info;
    rd_array      of_b, *of_p;
} linear;

static rd_status solve_now(rd_ctx *ctx, void *of)
{
    linear *const l = of;

    return rd_solve_by(ctx, l->s.node[OF_AV], l->s.node[OF_V], l->s.node[OF_B], &l->opts);
}

static rd_status gradient_now(rd_ctx *ctx, void *of)
{
    linear *const  l = of;
    const rd_exprs p = { l->s.node + OF_P, l->s.n - OF_P };

    return rd_solve_grad_by(ctx, l->s.node[OF_AV], l->s.node[OF_V], l->s.node[OF_X],
                            l->s.node[OF_G], &l->of_b, p, &l->opts);
}

/* Reads (operands, method, tolerance, most, restart, coupled, progress, wants info); -1 with an exception. */
static int begin_linear(linear *l, PyObject *args, int least)
{
    PyObject *operands, *progress;
    int       method, restart, coupled, keeps;
    double    tolerance;
    long long most;

    if (!PyArg_ParseTuple(args, "O!idLipOp", &PyTuple_Type, &operands, &method, &tolerance, &most,
                          &restart, &coupled, &progress, &keeps))
        return -1;
    if (PyTuple_Size(operands) < least) {
        PyErr_SetString(PyExc_TypeError, "rdim._core: too few operands of a solve");
        return -1;
    }
    l->s.keeps = keeps;
    if (begin_solving(&l->s, rdpy_my_home(), operands, progress) < 0)
        return -1;
    l->opts = (rd_solve_opts){ .size           = sizeof l->opts,
                               .method         = (rd_solver)method,
                               .tolerance      = tolerance,
                               .most           = most,
                               .restart        = restart,
                               .coupled        = coupled,
                               .preconditioner = l->s.node[OF_PRECONDITIONER],
                               .progress       = told,
                               .user           = &l->s,
                               .info           = keeps ? &l->info : NULL,
                               .eval           = &l->s.eval };
    return 0;
}

/* _solve((Av, v, preconditioner, b, start), ...): the solution and what is known of it */
static PyObject *solve(PyObject *self, PyObject *args)
{
    linear    l    = { .s = { .n = 0 } };
    rd_array  x    = { 0 };
    PyObject *made = NULL, *info = NULL, *both = NULL;

    (void)self;
    if (begin_linear(&l, args, OF_START + 1) == 0) {
        l.opts.start = l.s.node[OF_START];
        l.opts.x     = &x;
        if (run(&l.s, solve_now, &l) == 0)
            made = rdpy_own_memory(l.s.home, &x);
        else
            rd_array_free(&x); /* a solution that missed its tolerance */
    }
    info = made ? told_of(&l.s, &l.info) : NULL;
    both = info ? PyTuple_Pack(2, made, info) : NULL;
    Py_XDECREF(made);
    Py_XDECREF(info);
    end_solving(&l.s);
    return both;
}

/* The gradient by b, then those by operands, in a list. */
static PyObject *gradients_of(linear *l)
{
    const int       n   = l->s.n - OF_P;
    PyObject *const all = PyList_New(n + 1);

    for (int k = 0; k <= n; k++) {
        rd_array *const from = k ? &l->of_p[k - 1] : &l->of_b;
        PyObject *const one  = all ? rdpy_own_memory(l->s.home, from) : NULL;

        *from = (rd_array){ 0 }; /* taken over */
        if (!one || PyList_SetItem(all, k, one) < 0) {
            Py_XDECREF(all);
            return NULL;
        }
    }
    return all;
}

/* _solve_grad((Av, v, preconditioner, x, g, p, ...), ...): gradients by b and by each p */
static PyObject *solve_grad(PyObject *self, PyObject *args)
{
    linear    l    = { .s = { .n = 0 } };
    PyObject *made = NULL;

    (void)self;
    if (begin_linear(&l, args, OF_P) == 0 &&
        (l.of_p = PyMem_Calloc((size_t)(l.s.n - OF_P) + 1, sizeof *l.of_p))) {
        l.opts.x = l.of_p;
        if (run(&l.s, gradient_now, &l) == 0)
            made = gradients_of(&l);
        rd_array_free(&l.of_b);
        for (int k = 0; k < l.s.n - OF_P; k++)
            rd_array_free(&l.of_p[k]);
    } else if (!PyErr_Occurred())
        PyErr_NoMemory();
    PyMem_Free(l.of_p);
    end_solving(&l.s);
    return made;
}

/* ---- Eigenvalues ------------------------------------------------------------------------------- */
typedef struct eigen {
    solving       s;
    rd_eigen_opts opts;
    rd_solve_info info;
    long long     k; /* 0: power iteration */
    double        value;
    rd_array      values, vectors;
} eigen;

static rd_status eigenvalues_now(rd_ctx *ctx, void *of)
{
    eigen *const   e  = of;
    rd_expr *const Av = e->s.node[OF_AV], *const v = e->s.node[OF_V];

    return e->k ? rd_eigsh_by(ctx, Av, v, e->k, &e->values, &e->opts)
                : rd_power_by(ctx, Av, v, &e->value, &e->opts);
}

/* (values, vectors, what is known of them) */
static PyObject *eigenvalues_of(eigen *e)
{
    PyObject *values, *vectors = NULL, *info, *all;

    values    = e->k ? rdpy_own_memory(e->s.home, &e->values) : PyFloat_FromDouble(e->value);
    e->values = (rd_array){ 0 }; /* taken over */
    if (values) {
        vectors    = rdpy_own_memory(e->s.home, &e->vectors);
        e->vectors = (rd_array){ 0 };
    }
    info = vectors ? told_of(&e->s, &e->info) : NULL;
    all  = info ? PyTuple_Pack(3, values, vectors, info) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(vectors);
    Py_XDECREF(info);
    return all;
}

/* _eigenvalues((Av, v), k, which, tolerance, most, basis, seed, progress, wants info) */
static PyObject *eigenvalues(PyObject *self, PyObject *args)
{
    eigen              e = { .s = { .n = 0 } };
    PyObject          *operands, *progress, *made = NULL;
    int                which, basis, keeps;
    double             tolerance;
    long long          most;
    unsigned long long seed;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!LidLiKOp", &PyTuple_Type, &operands, &e.k, &which, &tolerance,
                          &most, &basis, &seed, &progress, &keeps))
        return NULL;
    e.s.keeps = keeps;
    if (begin_solving(&e.s, rdpy_my_home(), operands, progress) == 0) {
        e.opts = (rd_eigen_opts){ .size      = sizeof e.opts,
                                  .which     = (rd_which)which,
                                  .vectors   = &e.vectors,
                                  .tolerance = tolerance,
                                  .most      = most,
                                  .basis     = basis,
                                  .seed      = seed,
                                  .progress  = told,
                                  .user      = &e.s,
                                  .info      = keeps ? &e.info : NULL,
                                  .eval      = &e.s.eval };
        if (run(&e.s, eigenvalues_now, &e) == 0)
            made = eigenvalues_of(&e);
        rd_array_free(&e.values);
        rd_array_free(&e.vectors);
    }
    end_solving(&e.s);
    return made;
}

/* ---- Traces and determinants ------------------------------------------------------------------- */
typedef struct estimate {
    solving          s;
    rd_estimate_opts opts;
    bool             logdet;
} estimate;

static rd_status estimate_now(rd_ctx *ctx, void *of)
{
    estimate *const e = of;
    rd_expr *const Av = e->s.node[OF_AV], *const v = e->s.node[OF_V];

    return e->logdet ? rd_estimate_logdet_by(ctx, Av, v, &e->opts)
                     : rd_estimate_trace_by(ctx, Av, v, &e->opts);
}

/* _estimate((Av, v), of the logarithm of the determinant, steps, probes, seed, coupled, progress): value, error */
static PyObject *estimate_of(PyObject *self, PyObject *args)
{
    estimate           e = { .s = { .n = 0 } };
    PyObject          *operands, *progress, *made = NULL;
    double             value = 0, error = 0;
    int                logdet, steps, coupled;
    long long          probes;
    unsigned long long seed;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!piLKpO", &PyTuple_Type, &operands, &logdet, &steps, &probes,
                          &seed, &coupled, &progress))
        return NULL;
    e.logdet = logdet;
    if (begin_solving(&e.s, rdpy_my_home(), operands, progress) == 0) {
        e.opts = (rd_estimate_opts){ .size     = sizeof e.opts,
                                     .steps    = steps,
                                     .value    = &value,
                                     .probes   = probes,
                                     .seed     = seed,
                                     .coupled  = coupled,
                                     .progress = told,
                                     .user     = &e.s,
                                     .error    = &error,
                                     .eval     = &e.s.eval };
        if (run(&e.s, estimate_now, &e) == 0)
            made = Py_BuildValue("dd", value, error);
    }
    end_solving(&e.s);
    return made;
}

/* ---- Inputs and preconditioners ---------------------------------------------------------------- */
/* _input(name, shape, dtype): a leaf without elements, which a solve gives it */
static PyObject *input(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject   *shape, *type;
    rd_array    layout = { 0 };
    rdpy_home  *home;

    (void)self;
    if (!PyArg_ParseTuple(args, "sOO:_input", &name, &shape, &type) ||
        rdpy_ints(shape, &layout.shape) < 0 || rdpy_dtype_of(type, &layout.type) < 0 ||
        !(home = rdpy_my_home()))
        return NULL;
    return rdpy_new(home, rd_input(home->ctx, name, &layout), NULL);
}

typedef struct preparing {
    solving  s;
    double   ridge;
    rd_expr *made;
} preparing;

static rd_status prepare_now(rd_ctx *ctx, void *of)
{
    preparing *const p = of;

    p->made = rd_nystroem(p->s.node[0], p->s.node[1], p->s.node[2], p->ridge);
    return p->made ? RD_OK : rd_error(ctx);
}

/* _nystroem((r, across, within), ridge).  Elements that it makes lie in the memory of its context, so it has a home
 * of its own, as sparse results have. */
static PyObject *nystroem(PyObject *self, PyObject *args)
{
    preparing  p = { .s = { .n = 0 } };
    PyObject  *operands, *made = NULL, *held = NULL;
    rdpy_home *home;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!d:_nystroem", &PyTuple_Type, &operands, &p.ridge) ||
        !(home = rdpy_pinned_home()))
        return NULL;
    if (begin_solving(&p.s, home, operands, NULL) == 0 && run(&p.s, prepare_now, &p) == 0) {
        int failed = 0;

        for (int k = 0; k < p.s.n && !failed; k++)
            failed = p.s.held[k] && !(held = rdpy_both_held(held, p.s.held[k]));
        if (!failed)
            made = rdpy_made_holding(home, p.made, held);
    }
    end_solving(&p.s);
    rdpy_home_drop(home); /* the result has a reference of its own */
    return made;
}

PyMethodDef rdpy_solve_functions[] = {
    { "_input", input, METH_VARARGS, "_input(name, shape, dtype): an operand of solves" },
    { "_solve", solve, METH_VARARGS,
      "_solve((Av, v, preconditioner, b, start), method, tolerance, most, restart, coupled, progress, "
      "info): a solution" },
    { "_solve_grad", solve_grad, METH_VARARGS,
      "_solve_grad((Av, v, preconditioner, x, g, p, ...), the same): gradients by b and by each p" },
    { "_eigenvalues", eigenvalues, METH_VARARGS,
      "_eigenvalues((Av, v), k, which, tolerance, most, basis, seed, progress, info)" },
    { "_estimate", estimate_of, METH_VARARGS,
      "_estimate((Av, v), logdet, steps, probes, seed, coupled, progress): value and error" },
    { "_nystroem", nystroem, METH_VARARGS, "_nystroem((r, across, within), ridge)" },
    { NULL, NULL, 0, NULL }
};
