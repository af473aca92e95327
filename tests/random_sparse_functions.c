/* random_sparse_functions.c - every operator of ops.def on sparse arrays and on their dense twins. */
#include "random_sparse.h"
#include "expr/expr.h"

#include <string.h>

/* Not declared by the public header, but a row as the others. */
rd_expr *rd_fmod(rd_expr *x, rd_expr *y);
rd_expr *rd_pow_half(rd_expr *x, rd_expr *y);

#define OP_1(name) { #name, rd_##name, NULL },
#define OP_2(name) { #name, NULL, rd_##name },
#define OP_3(name)
static const struct {
    const char *name;
    rd_expr *(*of_one)(rd_expr *);
    rd_expr *(*of_two)(rd_expr *, rd_expr *);
} functions[] = {
#define RD_OP(name, arity, ...)   OP_##arity(name)
#define RD_TEST(name, arity, ...) OP_##arity(name)
#include "core/ops.def"
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* A function of the same elements has the same bits.  So it is asked of what is known to the bit
 * alone, and of zeros only where their signs are known. */
sparse_pair sparse_function(sparse_case *c, sparse_pair x)
{
    const int   which = sparse_below(c, N_FUNCTIONS);
    sparse_pair z = functions[which].of_two ? sparse_partner(c, x) : x, y = x;
    const bool  one = functions[which].of_one;

    if (x.rough > 0 || z.rough > 0 || x.summed || z.summed || x.most > 8 || z.stored != x.stored ||
        rd_shape_of(z.dense).n > rd_shape_of(x.dense).n)
        return x;
    y.most  = 2e19;
    y.grain = 0;
    SPARSE_BOTH(c, functions[which].name, x, z, y, false,
                one ? functions[which].of_one(v) : functions[which].of_two(v, w));
    if (y.sparse == x.sparse)
        return x;
    y.infinite |= z.infinite;
    y.uniform = x.uniform && z.uniform;
    y.axes    = one ? x.axes : 0;
    return y;
}
