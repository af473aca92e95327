/* running.c - an evaluation with the options of its thread, which reports its progress. */
#include "core.h"

/* ---- Options ----------------------------------------------------------------------------------- */
/* Each thread has its own options: rdim.options() in one thread changes no evaluation of another. */
static _Thread_local struct {
    int32_t   threads;
    bool      deterministic, measure;
    PyObject *progress; /* progress(done, seconds_left), NULL: nobody is told */
} options;

/* set_options(threads, deterministic, measure, progress): the old ones */
static PyObject *set_options(PyObject *self, PyObject *args)
{
    int       threads, deterministic, measure;
    PyObject *progress, *old;

    (void)self;
    if (!PyArg_ParseTuple(args, "ippO:set_options", &threads, &deterministic, &measure, &progress))
        return NULL;
    old = Py_BuildValue("iOOO", (int)options.threads, options.deterministic ? Py_True : Py_False,
                        options.measure ? Py_True : Py_False,
                        options.progress ? options.progress : Py_None);
    if (!old)
        return NULL;
    PyObject *const was = options.progress;

    options.threads       = threads;
    options.deterministic = deterministic;
    options.measure       = measure;
    options.progress      = progress == Py_None ? NULL : Py_NewRef(progress);
    Py_XDECREF(was);
    return old;
}

/* ---- Running ----------------------------------------------------------------------------------- */
typedef struct running {
    rd_results     results;
    PyThreadState *state;    /* of the thread while it does not have the interpreter */
    PyObject      *progress; /* options may change while it runs */
    bool           stopped;  /* an exception is set */
} running;

/* About ten times a second, on the thread that evaluates: signals, and who is told. */
static int told(void *user, double done, double seconds_left)
{
    running *const r = user;

    if (r->stopped)
        return 1;
    PyEval_RestoreThread(r->state);
    r->stopped = PyErr_CheckSignals() < 0;
    if (!r->stopped && r->progress) {
        PyObject *const said = PyObject_CallFunction(r->progress, "dd", done, seconds_left);

        r->stopped = !said;
        Py_XDECREF(said);
    }
    r->state = PyEval_SaveThread();
    return r->stopped;
}

rd_eval_opts rdpy_eval_options(void)
{
    return (rd_eval_opts){ .size          = sizeof(rd_eval_opts),
                           .threads       = options.threads,
                           .deterministic = options.deterministic,
                           .measure       = options.measure };
}

/* The caller holds the memory that is read: rdpy_node_here(). */
static rd_status evaluate(rd_ctx *ctx, void *of)
{
    running *const r    = of;
    rd_eval_opts   opts = rdpy_eval_options();
    rd_status      status;

    opts.progress = told;
    opts.user     = r;
    r->state      = PyEval_SaveThread();
    status        = rd_eval_many(ctx, r->results, &opts);
    PyEval_RestoreThread(r->state);
    return status;
}

int rdpy_run_many(rdpy_home *home, rd_results results)
{
    running   r      = { .results = results, .progress = Py_XNewRef(options.progress) };
    const int failed = rdpy_run(home, evaluate, &r);

    Py_XDECREF(r.progress);
    return failed;
}

int rdpy_run_one(rdpy_home *home, rd_expr *x, rd_array *out)
{
    return rdpy_run_many(home, (rd_results){ &(rd_result){ x, out }, 1 });
}

rd_expr *rdpy_node_here(rdpy_home *home, PyObject *array, PyObject **held)
{
    rd_expr *const x = rdpy_node(home, array);

    *held = NULL;
    if (!x && !PyErr_Occurred())
        rdpy_raise(home->ctx);
    return x && rdpy_take_owners(home, 1, &array, held) == 0 ? x : NULL;
}

PyMethodDef rdpy_running_functions[] = {
    { "set_options", set_options, METH_VARARGS,
      "set_options(threads, deterministic, measure, progress): the old ones" },
    { NULL, NULL, 0, NULL }
};
