/* picture.h - draws a plan as a picture: the graph of expressions, then what each stage reads,
 * does, and writes. */
#ifndef RD_EVAL_PICTURE_H
#define RD_EVAL_PICTURE_H
#include "core/svg.h"
#include "eval/forms.h"

/* Draws the expressions, each node once, with operands above.  A large graph is only described
 * by its size.  False: no memory. */
bool rd_picture_graph(rd_svg *to, rd_ctx *ctx, rd_results results);
/* Draws the stages of a plan below the picture so far: loops, bytes and forms in the middle,
 * leaves on the left, arrays and results on the right.  False: no memory. */
bool rd_picture_plan(rd_svg *to, const rd_nest *nest, const rd_stages *stages, rd_pool *pool);
/* Draws a line of words. */
void rd_picture_line(rd_svg *to, const char *line);
#endif
