/* evaluate.c - results: into memory of NumPy, of the caller, of rdim, or as a number of Python. */
#include "core.h"
#include <string.h>

/* ---- Options ----------------------------------------------------------------------------------- */
/* Each thread has its own options: rdim.options() in one thread changes no evaluation of another. */
static _Thread_local struct {
    int32_t   threads;
    bool      deterministic, measure;
    PyObject *progress; /* progress(done, seconds_left), NULL: nobody is told */
} options;
/* empty(shape, dtype): fresh memory with a buffer, by numpy.empty where there is one */
static PyObject *empty_memory;

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

static PyObject *set_empty(PyObject *self, PyObject *empty)
{
    (void)self;
    Py_XDECREF(empty_memory);
    empty_memory = Py_NewRef(empty);
    Py_RETURN_NONE;
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

/* The caller holds the memory that is read: node_here(). */
static rd_status evaluate(rd_ctx *ctx, void *of)
{
    running *const r    = of;
    rd_eval_opts   opts = { .size          = sizeof opts,
                            .threads       = options.threads,
                            .deterministic = options.deterministic,
                            .measure       = options.measure,
                            .progress      = told,
                            .user          = r };
    rd_status      status;

    r->state = PyEval_SaveThread();
    status   = rd_eval_many(ctx, r->results, &opts);
    PyEval_RestoreThread(r->state);
    return status;
}

static int run(rdpy_home *home, rd_results results)
{
    running   r      = { .results = results, .progress = Py_XNewRef(options.progress) };
    const int failed = rdpy_run(home, evaluate, &r);

    Py_XDECREF(r.progress);
    return failed;
}

static int run_one(rdpy_home *home, rd_expr *x, rd_array *out)
{
    return run(home, (rd_results){ &(rd_result){ x, out }, 1 });
}

/* The node where it is evaluated: in this thread's home.  `held` owns the memory that it reads, a new
 * reference or NULL: other threads, and who is told of progress, may assign to the array meanwhile. */
static rd_expr *node_here(rdpy_home *home, PyObject *array, PyObject **held)
{
    rd_expr *const x = rdpy_node(home, array);

    *held = x ? Py_XNewRef(((rdpy_array *)array)->held) : NULL;
    if (!x && !PyErr_Occurred())
        rdpy_raise(home->ctx);
    return x;
}

/* ---- Into buffers ------------------------------------------------------------------------------ */
/* The layout of one, which stays exported until the caller releases the view. */
static int open_output(PyObject *out, rdpy_buffer *view, rd_array *array)
{
    const int fits = rdpy_buffer_layout(out, RDPY_BUFFER_WRITABLE, view, array);

    if (fits == 0)
        PyErr_Format(
            PyExc_TypeError,
            "rdim: results cannot be written to %R: its type, byte order or strides are none "
            "of rdim's",
            (PyObject *)Py_TYPE(out));
    return fits == 1 ? 0 : -1;
}

int rdpy_evaluate_into(PyObject *array, PyObject *out)
{
    rdpy_buffer view;
    rd_array    layout;
    PyObject   *held = NULL;
    int         failed;

    if (open_output(out, &view, &layout) < 0)
        return -1;
    rdpy_home *const home = rdpy_my_home();
    rd_expr *const   x    = home ? node_here(home, array, &held) : NULL;

    failed = x ? run_one(home, x, &layout) : -1;
    PyBuffer_Release(&view);
    Py_XDECREF(held);
    return failed;
}

static PyObject *evaluate_into(PyObject *self, PyObject *args)
{
    PyObject *array, *out;

    (void)self;
    if (!PyArg_ParseTuple(args, "O!O:evaluate_into", rdpy_array_type, &array, &out) ||
        rdpy_evaluate_into(array, out) < 0)
        return NULL;
    return Py_NewRef(out);
}

/* Fresh memory for x. */
static PyObject *room_for(PyObject *array)
{
    PyObject *const shape = PyObject_GetAttrString(array, "shape");
    PyObject *const type  = rdpy_dtype_object(rd_type_of(((rdpy_array *)array)->x));
    PyObject *const room =
        shape && type ? PyObject_CallFunctionObjArgs(empty_memory, shape, type, NULL) : NULL;

    Py_XDECREF(shape);
    return room;
}

static PyObject *compute_one(PyObject *array)
{
    PyObject *const out = room_for(array);

    if (out && rdpy_evaluate_into(array, out) == 0)
        return out;
    Py_XDECREF(out);
    return NULL;
}

/* ---- Several results in one pass --------------------------------------------------------------- */
typedef struct outputs {
    Py_ssize_t   n, opened;
    PyObject    *list; /* of results */
    PyObject   **held; /* of arrays: node_here() */
    rdpy_buffer *view;
    rd_array    *layout;
    rd_result   *result;
} outputs;

static int open_all(outputs *o, PyObject *arrays)
{
    o->list   = PyTuple_New(o->n);
    o->held   = PyMem_Calloc((size_t)o->n + 1, sizeof(PyObject *));
    o->view   = PyMem_Calloc((size_t)o->n + 1, sizeof *o->view);
    o->layout = PyMem_Calloc((size_t)o->n + 1, sizeof *o->layout);
    o->result = PyMem_Calloc((size_t)o->n + 1, sizeof *o->result);
    if (!o->list || !o->held || !o->view || !o->layout || !o->result)
        return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    for (; o->opened < o->n; o->opened++) {
        PyObject *const array = PyTuple_GetItem(arrays, o->opened), *const out =
                                                                        array ? room_for(array)
                                                                              : NULL;

        if (!out || PyTuple_SetItem(o->list, o->opened, out) < 0 ||
            open_output(out, &o->view[o->opened], &o->layout[o->opened]) < 0)
            return -1;
    }
    return 0;
}

static void close_all(outputs *o)
{
    while (o->opened > 0)
        PyBuffer_Release(&o->view[--o->opened]);
    for (Py_ssize_t k = 0; o->held && k < o->n; k++)
        Py_XDECREF(o->held[k]);
    PyMem_Free(o->held);
    PyMem_Free(o->view);
    PyMem_Free(o->layout);
    PyMem_Free(o->result);
}

static int run_all(outputs *o, PyObject *arrays)
{
    rdpy_home *const home = rdpy_my_home();

    for (Py_ssize_t k = 0; home && k < o->n; k++) {
        rd_expr *const x = node_here(home, PyTuple_GetItem(arrays, k), &o->held[k]);

        if (!x)
            return -1;
        o->result[k] = (rd_result){ x, &o->layout[k] };
    }
    return home ? run(home, (rd_results){ o->result, (int32_t)o->n }) : -1;
}

static PyObject *compute_many(PyObject *self, PyObject *arrays)
{
    outputs o = { 0 };
    int     failed;

    (void)self;
    if (!PyTuple_Check(arrays))
        return PyErr_Format(PyExc_TypeError, "rdim.compute_many: a tuple of arrays is wanted");
    o.n = PyTuple_Size(arrays);
    for (Py_ssize_t k = 0; k < o.n; k++)
        if (!rdpy_is_array(PyTuple_GetItem(arrays, k)))
            return PyErr_Format(PyExc_TypeError, "rdim.compute_many: %R is no Array",
                                PyTuple_GetItem(arrays, k));
    failed = open_all(&o, arrays) < 0 || run_all(&o, arrays) < 0;
    close_all(&o);
    if (failed)
        Py_CLEAR(o.list);
    return o.list;
}

static PyObject *compute(PyObject *self, PyObject *array)
{
    (void)self;
    if (rdpy_is_array(array))
        return compute_one(array);
    return PyErr_Format(PyExc_TypeError, "rdim.compute: %R is no Array",
                        (PyObject *)Py_TYPE(array));
}

/* ---- Numbers ----------------------------------------------------------------------------------- */
static PyObject *number_of(const rd_array *a)
{
    switch (a->type) {
    case RD_BOOL: return PyBool_FromLong(*(const bool *)a->in);
    case RD_I64: return PyLong_FromLongLong(*(const int64_t *)a->in);
    case RD_U64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)a->in);
    case RD_F64: return PyFloat_FromDouble(*(const double *)a->in);
    default: {
        const double *const pair = a->in;

        return PyComplex_FromDoubles(pair[0], pair[1]);
    }
    }
}

/* The type of a Python number that holds each value exactly. */
static rd_dtype number_type(rd_dtype type)
{
    if (type == RD_BOOL || type == RD_U64)
        return type;
    if (type <= RD_U32)
        return RD_I64;
    return type >= RD_C64 ? RD_C128 : RD_F64;
}

static bool has_one_element(const rd_shape *shape)
{
    for (int k = 0; k < shape->n; k++)
        if (shape->at[k] != 1) {
            PyErr_Format(PyExc_TypeError,
                         "rdim: an array of one element is wanted, axis %d has %lld", k,
                         (long long)shape->at[k]);
            return false;
        }
    return true;
}

PyObject *rdpy_item(PyObject *self)
{
    rdpy_home *const home = rdpy_my_home();
    PyObject        *held = NULL;
    rd_expr         *x    = home ? node_here(home, self, &held) : NULL;
    double           room[2];
    rd_array         out    = { .data = room };
    int              failed = -1;

    if (!x)
        return NULL;
    out.shape = rd_shape_of(x);
    out.type  = number_type(rd_type_of(x));
    if (has_one_element(&out.shape))
        failed = run_one(home, x, &out);
    Py_XDECREF(held);
    return failed ? NULL : number_of(&out);
}

static PyObject *item(PyObject *self, PyObject *array)
{
    (void)self;
    if (rdpy_is_array(array))
        return rdpy_item(array);
    return PyErr_Format(PyExc_TypeError, "rdim.item: %R is no Array", (PyObject *)Py_TYPE(array));
}

/* ---- Memory of rdim's own ---------------------------------------------------------------------- */
typedef struct memory {
    rdpy_home *home;
    rd_array   array;
} memory;

static void free_memory(memory *m)
{
    rd_array_free(&m->array);
    rdpy_home_drop(m->home);
    PyMem_Free(m);
}

static void drop_memory(PyObject *capsule)
{
    free_memory(PyCapsule_GetPointer(capsule, "rdim.memory"));
}

PyObject *rdpy_own_memory(rdpy_home *home, rd_array *array)
{
    memory *const m = PyMem_Calloc(1, sizeof *m);
    PyObject     *capsule;
    rd_array      leaf = *array;

    if (!m) {
        rd_array_free(array);
        return PyErr_NoMemory();
    }
    *m = (memory){ home, *array };
    atomic_fetch_add(&home->refs, 1);
    capsule = PyCapsule_New(m, "rdim.memory", drop_memory);
    if (!capsule) {
        free_memory(m);
        return NULL;
    }
    leaf.owner = NULL;
    return rdpy_new(home, rd_leaf(home->ctx, &leaf), capsule);
}

int rdpy_evaluate_fresh(rdpy_home *home, PyObject *array, rd_array *out)
{
    PyObject      *held   = NULL;
    rd_expr *const x      = node_here(home, array, &held);
    const int      failed = x ? run_one(home, x, out) : -1;

    Py_XDECREF(held);
    return failed;
}

/* persist(array): the same as an array of elements */
static PyObject *persist(PyObject *self, PyObject *array)
{
    rdpy_home *const home = rdpy_my_home();
    rd_array         out  = { 0 };

    (void)self;
    if (!rdpy_is_array(array))
        return PyErr_Format(PyExc_TypeError, "rdim.persist: %R is no Array",
                            (PyObject *)Py_TYPE(array));
    if (!home || rdpy_evaluate_fresh(home, array, &out) < 0)
        return NULL;
    return rdpy_own_memory(home, &out);
}

PyMethodDef rdpy_evaluate_functions[] = {
    { "set_options", set_options, METH_VARARGS,
      "set_options(threads, deterministic, measure, progress): the old ones" },
    { "_set_empty", set_empty, METH_O, NULL },
    { "compute", compute, METH_O, "compute(array): its elements in fresh memory" },
    { "compute_many", compute_many, METH_O,
      "compute_many(arrays): the elements of all, by one run" },
    { "evaluate_into", evaluate_into, METH_VARARGS, "evaluate_into(array, out): out" },
    { "item", item, METH_O, "item(array): its one element as a number" },
    { "persist", persist, METH_O, "persist(array): an Array of its elements" },
    { NULL, NULL, 0, NULL }
};
