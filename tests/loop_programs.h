/* loop_programs.h - programs of expressions, as planners make them. */
#ifndef RD_TESTS_LOOP_PROGRAMS_H
#define RD_TESTS_LOOP_PROGRAMS_H
#include "eval/pool.h"
#include "kernels/program.h"

/* What is asked of each stage's program. */
typedef void loop_program_see(const rd_program *p, const char *what, void *user);

void *loop_pool_get(void *pool, size_t bytes);

/* Programs of all stages of results, NULL: there is no plan; nothing runs. */
void loop_programs_of(rd_ctx *ctx, rd_exprs in, rd_exprs y, rd_traversal traversal,
                      const char *what, loop_program_see *see, void *user);
/* Of random expressions from a seed; of the expressions in cases.h; of folds in many forms;
 * of sparse matrices. */
void loop_programs_of_seed(uint64_t seed, loop_program_see *see, void *user);
void loop_programs_of_cases(loop_program_see *see, void *user);
void loop_programs_of_folds(loop_program_see *see, void *user);
void loop_programs_of_rows(loop_program_see *see, void *user);

#endif
