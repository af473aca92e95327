/* rdim/user_reducers.h - reductions and scans of your own.
 *
 * A reducer has a state of plain data and functions over it: init, step, merge, finish.  Pass it to
 * rd_reduce() or rd_scan(), and one of two operands to rd_reduce2().  RD_REDUCER writes one from C
 * statements; the struct can also be filled in by hand, as in C++.  NumPy's counterpart is
 * numpy.ufunc.reduce. */
#ifndef RDIM_USER_REDUCERS_H
#define RDIM_USER_REDUCERS_H
#include "user_reducer_macros.h"
#include "reductions.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A user's reducer.  It is copied where it is used.  All functions must be pure and
 *  thread-safe. */
struct rd_reducer {
    /** sizeof(rd_reducer). */
    uint32_t    size;
    /** Values in each result, 1 to 1024.  Above 1 the result has a new last axis of that extent. */
    int32_t     n_out;
    /** The type of the elements, to which operands are converted, and that of the results. */
    rd_dtype    in, out;
    /** The size of the state, 1 to 4096 bytes of plain data, aligned to 16. */
    int64_t     state_size;
    /** A name, and text for compiled C and CUDA: the state's members, then the bodies of init,
     *  step, merge and finish.  Entries may be NULL.  The text must compute the bits of the
     *  functions, as either may run.  Text that does not compile alone is not used. */
    const char *name, *code[5];
    /** Sets a state of no element. */
    void (*init)(void *s);
    /** Takes n elements into a state.  x is the first one, the others follow `stride` elements
     *  apart, and i is the flat index of the first. */
    void (*step)(void *s, int64_t n, const void *x, int64_t stride, int64_t i);
    /** Takes the state b, of the elements that follow a's, into a.  NULL: the elements are folded
     *  in strict C order.  Otherwise blocks of elements in C order are merged in their order. */
    void (*merge)(void *a, const void *b);
    /** Writes n_out results from a state. */
    void (*finish)(const void *s, void *y);
    /** Of a reducer of two operands: the type of the second one. */
    rd_dtype in2;
    /** Not 0: elements may come and states may be merged in any order.  Elements 64 apart then go
     *  to separate states, side by side in vectors, up to four times as fast. */
    int32_t  commutes;
    /** Of a reducer of two operands, instead of step.  The elements of w are `along` apart. */
    void (*step2)(void *s, int64_t n, const void *x, int64_t stride, const void *w, int64_t along,
                  int64_t i);
    /** Whether later elements cannot change what finish() writes from this state; if the reducer
     *  commutes, whether no other elements can.  Then those may be skipped, together with computing
     *  them, if that could report no error.  NULL: never. */
    int32_t (*done)(const void *s);
    /** Not 0: no element gives no result, as for a maximum.
     *
     *  A reduction of no element is then RD_ERR_EMPTY, or .initial, a value of type `out`.  Where
     *  .where, .skip_nan or a group leave no element, the result is .initial.  Without .initial it
     *  is NaN for floats, and RD_ERR_EMPTY for other types.
     *  init() must set a state that says it has seen nothing.  step() begins such a state with its
     *  first element, and merge() takes both kinds.  What finish() writes from one is not used. */
    int32_t no_identity, reserved;
};

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
/** A reducer from C statements, at file scope:
 *      RD_REDUCER(name, X, Y, n, (members), (init), (step), (merge), (finish))
 *
 *  X is the C type of the elements, Y that of the n results.  `members` are those of the state.
 *  - init sets *s.
 *  - step takes x, and its flat index i (int64_t), into *s.
 *  - merge takes *b, of the elements after a's, into *a.
 *  - finish writes y[0] to y[n - 1] from *s.
 *  - One more may follow, (done): an expression of *s, that of rd_reducer.done.
 *  The statements must be C and C++ alike.  They may have local variables, and may call no function
 *  but those of <math.h>.  How elements are split into states is fixed by the plan. */
#define RD_REDUCER(name_, ...)           RD_REDUCER_OF_(name_, 0, __VA_ARGS__, (0), )
/** As RD_REDUCER, with `commutes` set. */
#define RD_REDUCER_COMMUTES(name_, ...)  RD_REDUCER_OF_(name_, 1, __VA_ARGS__, (0), )
/** A reducer of two operands, for rd_reduce2(): RD_REDUCER2(name, X, W, Y, n, ...).  Its step takes
 *  x, an X, and w, a W.  All else is as for RD_REDUCER. */
#define RD_REDUCER2(name_, ...)          RD_REDUCER2_OF_(name_, 0, __VA_ARGS__, (0), )
/** As RD_REDUCER2, with `commutes` set. */
#define RD_REDUCER2_COMMUTES(name_, ...) RD_REDUCER2_OF_(name_, 1, __VA_ARGS__, (0), )
/** A reducer without identity (see rd_reducer.no_identity), at file scope:
 *      RD_REDUCER_FIRST(name, X, Y, n, (members), (first), (step), (merge), (finish))
 *
 *  `first` sets *s from the first element x.  The other statements get only states that have seen
 *  an element.  No (done) follows.  The element with the greatest magnitude:
 *      RD_REDUCER_FIRST(longest, float, float, 1, (float x;), (s->x = x;),
 *                       (if (fabsf(x) > fabsf(s->x)) s->x = x;),
 *                       (if (fabsf(b->x) > fabsf(a->x)) *a = *b;), (y[0] = s->x;)) */
#define RD_REDUCER_FIRST(...)            RD_FIRST_OF_(2, __VA_ARGS__)
/** As RD_REDUCER_FIRST, with `commutes` set. */
#define RD_REDUCER_FIRST_COMMUTES(...)   RD_FIRST_OF_(3, __VA_ARGS__)
/** As RD_REDUCER_FIRST, of two operands: RD_REDUCER2_FIRST(name, X, W, Y, n, ...). */
#define RD_REDUCER2_FIRST(...)           RD_FIRST2_OF_(2, __VA_ARGS__)
/** As RD_REDUCER2_FIRST, with `commutes` set. */
#define RD_REDUCER2_FIRST_COMMUTES(...)  RD_FIRST2_OF_(3, __VA_ARGS__)
#endif
#endif
