/* explain_residue.h - what explain says of operations that run element by element. */
#ifndef RD_EVAL_EXPLAIN_RESIDUE_H
#define RD_EVAL_EXPLAIN_RESIDUE_H
#include "eval/forms.h"

/* Adds a line if scalar operations take at least a tenth of the stage's predicted time.  False:
 * no memory. */
bool rd_residue_of_stage(rd_text *text, const rd_stage_form *s, rd_pool *pool);
#endif
