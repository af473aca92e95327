/* core.h - what the files of the extension share: homes, arrays, operands.
 *
 * An Array of Python is a handle: a node of a context, and what owns the memory that the node reads.
 * Contexts are for one thread at a time, and never forget a node by themselves; so each thread has a
 * home of its own, which keeps the nodes of living handles and drops the others (home.c). */
#ifndef RDPY_CORE_H
#define RDPY_CORE_H
#include "sharing.h"
#include <pthread.h>
#include <rdim.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- Homes (home.c) --------------------------------------------------------------------------- */
struct rdpy_home {
    rd_ctx           *ctx;
    rd_mark           begin;  /* of all nodes                                            */
    int64_t           limit;  /* of nodes: with more of them dead ones are dropped       */
    rdpy_array       *arrays; /* handles whose nodes are here                            */
    pthread_mutex_t   lock;   /* of `arrays`, and of nodes, while others read them       */
    atomic_long       refs;   /* its thread, its handles, and capsules of pinned homes   */
    bool              busy;   /* an evaluation runs: a callback of it builds elsewhere   */
    int               main;   /* is it the main thread's?  1, -1: no, 0: nobody has looked */
    bool              pinned; /* of one sparse result, whose pattern is in its context   */
    const char       *call;   /* the function of Python that builds, for sentences; or NULL */
    struct rdpy_home *inner;  /* of callbacks while this one is busy; NULL: none yet     */
    rdpy_owners       owners; /* of what was read here: sharing.h                        */
};

/* The home in which this thread may build now.  Nodes that nobody holds may go: so nodes are asked for
 * after it, and no Python code runs from then on until the result is a handle.  NULL with an exception. */
rdpy_home *rdpy_my_home(void);
/* A new one for one result, and a capsule that keeps it. */
rdpy_home *rdpy_pinned_home(void);
PyObject  *rdpy_home_capsule(rdpy_home *home);
/* The array's node becomes *x, of this home, which another handle may have: it is read under the home's lock. */
void rdpy_home_enter(rdpy_home *home, rdpy_array *array, rd_expr *const *x);
void rdpy_home_leave(rdpy_array *array);
void rdpy_home_drop(rdpy_home *home);

/* ---- Arrays (array.c) ------------------------------------------------------------------------- */
struct rdpy_array {
    PyObject_HEAD rdpy_home *home;
    rd_expr                 *x;
    rdpy_array              *next, *prev; /* of the home */
    PyObject                *held; /* owners of memory: NULL, one object, or a tuple of such */
    PyObject                *weak;
#ifdef Py_GIL_DISABLED
    PyMutex lock; /* of home and held */
#endif
};
extern PyTypeObject *rdpy_array_type;

static inline bool rdpy_is_array(PyObject *o)
{
    return PyObject_TypeCheck(o, rdpy_array_type);
}

/* A handle of a node in the home.  `held` is taken over.  NULL with an exception: x NULL gives the
 * context's error. */
PyObject *rdpy_new(rdpy_home *home, rd_expr *x, PyObject *held);
/* The union of what operands hold, a new reference or NULL for nothing; -1 for an exception. */
int       rdpy_held_together(int n, PyObject *const *operand, PyObject **held);
PyObject *rdpy_both_held(PyObject *a, PyObject *b); /* takes a over */
/* made, which may be NULL, holding one more owner, which may be NULL, too.  NULL with an exception. */
PyObject *rdpy_holding(PyObject *made, PyObject *owner);

/* The type of its elements. */
static inline rd_dtype rdpy_type_of(PyObject *array)
{
    rdpy_array *const a    = (rdpy_array *)array;
    const rd_dtype    type = rd_type_of(rdpy_look(a));

    rdpy_looked(a);
    return type;
}

/* x with the elements of `made`, which is taken over, in x's shape and type: what x += y returns.  NULL with an
 * exception where they do not fit; a Py_NotImplemented stays one. */
PyObject *rdpy_become(PyObject *x, PyObject *made);

/* ---- Operands (operand.c) --------------------------------------------------------------------- */
/* A new reference to o as an Array or a Python number, whose nodes rdpy_node() makes: may run Python.
 * NULL with an exception; a Py_NotImplemented where o is of a class that rdim does not know. */
PyObject *rdpy_operand(PyObject *o);
/* The same, but what is unknown is a TypeError. */
PyObject *rdpy_operand_or_error(PyObject *o);
/* The node of such an operand in the home, runs no Python; NULL: the context has the error. */
rd_expr *rdpy_node(rdpy_home *home, PyObject *operand);
bool     rdpy_any_sparse(int n, PyObject *const *operand);
/* Where a result of these operands is built: this thread's home, or a pinned one. */
rdpy_home *rdpy_home_for(int n, PyObject *const *operand);
/* The handle of x, made in `home` of the operands. */
PyObject *rdpy_made(rdpy_home *home, rd_expr *x, int n, PyObject *const *operand);
/* The same, of what rdpy_take_owners() found, which is taken over. */
PyObject *rdpy_made_holding(rdpy_home *home, rd_expr *x, PyObject *held);

/* ---- Ints beside arrays (numbers.c) ------------------------------------------------------------ */
/* Whether a Python int, operand `number`, is above (1) or below (-1) all values of the other one's type. */
int rdpy_beyond(PyObject *const operand[2], int *number);
/* An int of over 64 bits beside floats is a float; -1 with an exception. */
int rdpy_as_floats(PyObject *operand[2]);
/* The result of a comparison with such a number; NULL and no error: the function is none. */
rd_expr *rdpy_compared_beyond(rdpy_home      *home, rd_expr *(*function)(rd_expr *x, rd_expr *y),
                              PyObject *const operand[2], int number, int side);

/* ---- Memory of others (leaves.c) -------------------------------------------------------------- */
/* o, which is none, as an Array; may run Python. */
PyObject *rdpy_asarray(PyObject *o);
bool      rdpy_is_numpy_bool(PyObject *o), rdpy_is_numpy_array(PyObject *o);
int       rdpy_buffer_layout(PyObject *o, int flags, rdpy_buffer *view, rd_array *array);

/* ---- Of the library beside rdim.h ------------------------------------------------------------- */
/* Two numbers between which all elements of ints are, as far as that is known without evaluating (src/expr/span.h);
 * false of others. */
bool rd_span_of(const rd_expr *x, int64_t *low, int64_t *high);

/* ---- Types (types.c) -------------------------------------------------------------------------- */
int       rdpy_types_init(PyObject *module);
PyObject *rdpy_dtype_object(rd_dtype type); /* borrowed: NumPy's, or ours where there is no NumPy */
/* Finds the element type that a dtype, a name or a Python type stands for; None stands for RD_AUTO.  -1 with
 * an exception. */
int rdpy_dtype_of(PyObject *o, rd_dtype *type);
/* Finds the element type of a buffer's format and item size; RD_AUTO where rdim has no such type. */
rd_dtype    rdpy_dtype_of_format(const char *format, Py_ssize_t size);
const char *rdpy_type_name(rd_dtype type);
Py_ssize_t  rdpy_size(rd_dtype type); /* bytes */
bool        rdpy_is_complex(rd_dtype type);
/* Returns the format for memoryview.cast(); NULL: neither buffers nor NumPy alone have the type. */
const char *rdpy_format(rd_dtype type);
/* Bools, unsigned ints, signed ones, floats, complex numbers: 0 to 4.  NumPy's casting="same_kind" goes upwards. */
int rdpy_kind(rd_dtype type);

/* ---- Arguments (arguments.c) ------------------------------------------------------------------ */
/* Axes: None, a number, a sequence of them.  -1 with an exception. */
int rdpy_dims(PyObject *o, bool keep, rd_dims *dims);
int rdpy_ints(PyObject *o, rd_ints *ints);
int rdpy_int64(PyObject *o, int64_t *value);
/* Names of arguments, which of them the call takes, and which go by place in which order; `call` is for sentences.
 * value[k] stays NULL where argument k was not given. */
typedef struct rdpy_names {
    const char        *call;
    int                n;
    const char *const *name;
    uint32_t           takes; /* a bit for each argument */
    int                n_places;
    const int         *place;
} rdpy_names;
int rdpy_arguments(const rdpy_names *names, PyObject *const *args, Py_ssize_t n_args,
                   PyObject *keywords, PyObject **value);

/* ---- Labels (labels.c) -------------------------------------------------------------------------- */
/* A row of labels or weights along the one axis that is reduced, as weights of numpy.average; what is no such row, and
 * what broadcasts anyhow, as it is.  NULL with an exception where it may mean two axes; `what` is for the sentence. */
rd_expr *rdpy_along(const char *call, const char *what, rd_expr *x, rd_expr *row, rd_dims dims);
/* Whether groups= is given where labels are; else a ValueError. */
bool rdpy_has_groups(const char *call, int n_label, rd_ints groups);

/* ---- Errors (errors.c) ------------------------------------------------------------------------ */
int       rdpy_errors_init(PyObject *module);
PyObject *rdpy_axis_error(void); /* borrowed */
/* Raises the context's error and clears it; returns NULL.  The sentence speaks of `call`, a name of Python, or where
 * that is NULL of what the library's own sentence says. */
void *rdpy_raise(rd_ctx *ctx);
void *rdpy_raise_from(rd_ctx *ctx, const char *call);
/* The same of an exception that is set already, where its sentence begins with a function of the package. */
void *rdpy_retell(const char *call);

/* ---- Running (interrupt.c) --------------------------------------------------------------------- */
/* A function that evaluates in the home's context.  It releases the interpreter's lock meanwhile, and holds it
 * again when it returns. */
typedef rd_status rdpy_work(rd_ctx *ctx, void *of);
/* Runs it; Ctrl-C ends it.  -1 with an exception. */
int rdpy_run(rdpy_home *home, rdpy_work *work, void *of);

/* ---- Evaluating with the thread's options (running.c) ----------------------------------------- */
/* -1 with an exception. */
int rdpy_run_many(rdpy_home *home, rd_results results);
int rdpy_run_one(rdpy_home *home, rd_expr *x, rd_array *out);
/* The node where it is evaluated: in this thread's home.  `held` owns the memory that it reads, a new
 * reference or NULL: other threads, and who is told of progress, may assign to the array meanwhile. */
rd_expr *rdpy_node_here(rdpy_home *home, PyObject *array, PyObject **held);
/* The same options, without a progress function. */
rd_eval_opts rdpy_eval_options(void);

/* ---- Results (evaluate.c, item.c, memory.c) --------------------------------------------------- */
/* Into a buffer of the caller's; -1 with an exception. */
int rdpy_evaluate_into(PyObject *array, PyObject *out);
/* One element as a Python number. */
PyObject *rdpy_item(PyObject *self);
/* Slots of the type Array. */
PyObject *rdpy_to_float(PyObject *self), *rdpy_to_int(PyObject *self),
    *rdpy_to_index(PyObject *self);
int rdpy_to_bool(PyObject *self);
/* Into fresh memory of the home's context; -1 with an exception. */
int rdpy_evaluate_fresh(rdpy_home *home, PyObject *array, rd_array *out);
/* The Array of elements that `array`, which is taken over, owns. */
PyObject *rdpy_own_memory(rdpy_home *home, rd_array *array);

/* ---- The module (module.c) --------------------------------------------------------------------- */
/* -1 with an exception: another interpreter of this process has the extension. */
int rdpy_only_interpreter(void);

/* ---- Tables of functions, methods and slots --------------------------------------------------- */
int rdpy_array_init(PyObject *module);
int rdpy_maps_init(PyObject *module);
int rdpy_reductions_init(PyObject *module);
int rdpy_calls_init(PyObject *module);
/* A method of the type Array; the definition stays where it is. */
int                rdpy_add_method(PyMethodDef *definition);
extern PyMethodDef rdpy_running_functions[], rdpy_item_functions[], rdpy_error_functions[],
    rdpy_memory_functions[], rdpy_evaluate_functions[], rdpy_text_functions[],
    rdpy_leaf_functions[], rdpy_dlpack_functions[], rdpy_pick_functions[], rdpy_home_functions[],
    rdpy_sparse_functions[], rdpy_function_functions[], rdpy_reducer_functions[],
    rdpy_array_functions[], rdpy_derivative_functions[], rdpy_solve_functions[];
extern PyType_Slot rdpy_operator_slots[];
extern PyGetSetDef rdpy_properties[];
Py_ssize_t         rdpy_length(PyObject *self);
PyObject          *rdpy_getitem(PyObject *self, PyObject *key);
#endif
