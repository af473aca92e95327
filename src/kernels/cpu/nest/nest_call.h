/* nest_call.h - how a compiled nest is called. The library and the text that it compiles both
 * read this. */
#ifndef RD_KERNELS_CPU_NEST_NEST_CALL_H
#define RD_KERNELS_CPU_NEST_NEST_CALL_H
#include <stdint.h>

/* A user's function, and the pointer that it gets. */
typedef struct rd_nest_function {
    void (*code)(void);
    void *user;
} rd_nest_function;

/* The callbacks of a user's reducer. */
typedef struct rd_nest_reducer {
    void (*init)(void *s);
    void (*step)(void *s, int64_t n, const void *x, int64_t stride, int64_t i);
    void (*step2)(void *s, int64_t n, const void *x, int64_t stride, const void *w, int64_t along,
                  int64_t i); /* of two operands, instead */
    void (*merge)(void *a, const void *b);
    void (*finish)(const void *s, void *y);
} rd_nest_reducer;

/* A call of one part.  The caller fills it, up to `number`; the nest reports in the fields
 * behind. */
typedef struct rd_nest_call rd_nest_call;
struct rd_nest_call {
    void *const            *slot;   /* memory of slots              */
    char                   *state;  /* memory of the task           */
    int64_t                 lo, hi; /* indices of the root axis     */
    const int64_t          *number; /* values of N0 ..: extents, strides and offsets */
    int64_t                 loads;  /* elements read from slots that are not scratch */
    uint32_t                warnings;
    int32_t                 failed;   /* an index was outside its axis */
    int32_t                 failing;  /* number of the function that failed */
    const char             *sentence; /* why it failed; NULL */
    const rd_nest_function *function;
    const rd_nest_reducer  *reducer; /* by fold */
    /* Sorts a row, by the number of the sort; sets `stopped` if the run was cancelled meanwhile. */
    void (*sort)(rd_nest_call *q, int32_t number, const void *from, void *to);
    /* Takes n elements of a row that comes in strips, of which the first is element `begin`; `state`
     * has the fronts of so many blocks of them. */
    void (*take)(rd_nest_call *q, int32_t number, const void *from, void *to, void *state,
                 int64_t begin, int64_t n, int64_t fronts);
    const void *code; /* the rd_nest_code, for sort() and take() */
    int32_t     stopped;
};

/* The functions of a compiled nest, at the symbol rdim_kernels. */
typedef struct rd_nest_kernels {
    void (*head)(rd_nest_call *q);
    void (*body)(rd_nest_call *q);
    void (*join)(char *into, char *next); /* adds the state of the next task to that of a task */
    void (*tail)(rd_nest_call *q);
    void (*whole)(rd_nest_call *q); /* all as one task; if it is NULL the others are not */
} rd_nest_kernels;
#endif
