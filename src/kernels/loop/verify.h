/* verify.h - the state of the verifier (verify.c) at a place in a tree. */
#ifndef RD_KERNELS_LOOP_VERIFY_H
#define RD_KERNELS_LOOP_VERIFY_H
#include "kernels/loop/loop.h"

typedef enum rd_scope { RD_NOT_MADE, RD_IN_SCOPE, RD_OUT_OF_SCOPE } rd_scope;

typedef struct rd_verifier {
    const rd_schedule *t;
    rd_text           *why;
    uint8_t           *scope;           /* per value: an rd_scope                     */
    int32_t           *bound;           /* per axis: loops around that bind it        */
    int32_t           *array;           /* per store: its ARRAYs that are in scope    */
    bool              *stands, *opened; /* per statement, per loop: it was visited    */
    int32_t            stmt;            /* the current statement                      */
} rd_verifier;

/* True if the number names one of n things. */
static inline bool rd_is_number_below(int32_t number, int32_t n)
{
    return number >= 0 && number < n;
}

/* Notes what is wrong with the current statement; returns false. */
__attribute__((format(printf, 2, 3))) bool rd_verify_fails(const rd_verifier *f, const char *format,
                                                           ...);
/* verify_parts.c: each verifies one part, and returns false after noting what is wrong.  A value
 * that is read; a position; a bound of a loop; an access to memory; a LET. */
bool rd_verify_read(const rd_verifier *f, int32_t value);
bool rd_verify_linear(const rd_verifier *f, const rd_linear *at);
bool rd_verify_edge(const rd_verifier *f, const rd_edge *edge);
bool rd_verify_memory(const rd_verifier *f, int32_t slot, int32_t store, const rd_linear *at);
bool rd_verify_let(const rd_verifier *f, const rd_stmt *s);
/* The statement makes so many values, which no other makes. */
bool rd_verify_made(const rd_verifier *f, const rd_stmt *s, int32_t n);
/* The fold and its array of states exist; all that a statement of a fold needs. */
bool rd_verify_states(const rd_verifier *f, const rd_stmt *s);
bool rd_verify_fold(const rd_verifier *f, const rd_stmt *s);
/* verify_calls.c: a function of the text can run this vector loop `by call`. */
bool rd_verify_call(rd_verifier *f, int32_t stmt);
/* Blocks do not end element by element of a vector loop: only a loop by call has such an end. */
bool rd_verify_block_end(const rd_verifier *f, const rd_stmt *s);
#endif
