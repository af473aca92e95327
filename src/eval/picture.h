/* picture.h - a plan as a picture: the graph of expressions, then what stages read, do, and write. */
#ifndef RD_EVAL_PICTURE_H
#define RD_EVAL_PICTURE_H
#include "core/svg.h"
#include "eval/forms.h"

/* The expressions, each node once, operands above; of a large graph only how large it is.  False: no
 * memory. */
bool rd_picture_graph(rd_svg *to, rd_ctx *ctx, rd_results results);
/* The stages of a plan, below what is there: loops, bytes, what each runs as; leaves on their left,
 * arrays and results on their right.  False: no memory. */
bool rd_picture_plan(rd_svg *to, const rd_nest *nest, const rd_stages *stages, rd_pool *pool);
/* A line of words. */
void rd_picture_line(rd_svg *to, const char *line);
#endif
