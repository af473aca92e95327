/* bytes.h - what fuzz targets of the library's calls share: inputs read as numbers and texts, contexts
 * that count their memory, and the checks of refusals and evaluations.  What is wrong calls abort(). */
#ifndef RD_FUZZ_BYTES_H
#define RD_FUZZ_BYTES_H
#include "expr/expr.h"

/* An input that is read from its beginning; behind its end there are zeros. */
typedef struct fuzz_bytes {
    const uint8_t *at, *end;
} fuzz_bytes;

uint8_t fuzz_byte(fuzz_bytes *in);
/* A number from 0 to n - 1, of one byte. */
int fuzz_below(fuzz_bytes *in, int n);
/* A number: small ones of one byte, limits of the types, or any of 8 bytes. */
int64_t fuzz_number(fuzz_bytes *in);
/* The bytes up to `end`, or to a 0, for free(). */
char *fuzz_text(fuzz_bytes *in, char end);
/* What is left of the input. */
size_t fuzz_left(const fuzz_bytes *in);

/* A context of one thread, whose memory holds no zeros, has a limit, and is counted.  No compiler is
 * started.  Its end fails if something was not released. */
rd_ctx *fuzz_context(void);
void    fuzz_context_end(rd_ctx *ctx);

/* Says what is wrong, and aborts. */
__attribute__((noreturn, format(printf, 1, 2))) void fuzz_wrong(const char *format, ...);
/* There is an error, whose sentence begins with the call (NULL: some call of the library) and names it
 * once.  It is cleared.  Returns its status. */
rd_status fuzz_refusal(rd_ctx *ctx, const char *call);
/* x evaluated by the vector kernels and by the scalar reference, which must agree; out is fresh memory.
 * False: both refused it, for the same reason. */
bool fuzz_evaluate(rd_ctx *ctx, rd_expr *x, rd_array *out);
/* The same of an x that must be evaluated. */
void fuzz_must_evaluate(rd_ctx *ctx, rd_expr *x, rd_array *out);
/* Has x at most so many elements? */
bool fuzz_is_small(const rd_expr *x, int64_t most);
#endif
