/* slice_model.h - what views are, by lists of places: the model that slice.c compares the library with. */
#ifndef RD_FUZZ_SLICE_MODEL_H
#define RD_FUZZ_SLICE_MODEL_H
#include "fuzz/bytes.h"

enum { MOST_ELEMENTS = 4096, MOST_EXTENT = 64, OUTSIDE = INT32_MIN };

/* A small array. */
typedef struct model {
    int     rank;
    int64_t extent[RD_MAX_RANK], origin[RD_MAX_RANK], n;
    int32_t element[MOST_ELEMENTS]; /* in C order; OUTSIDE: of an index that is outside */
    bool    doubtful;               /* some index was outside                            */
} model;

/* A view.  Index i along axis k of the result moves axis of[k] of the operand by at[k][i], and axis also[k] by
 * and_at[k][i]; -1: none.  Axis a of the operand begins at base[a].  A place of -1 is outside. */
typedef struct lists {
    int     rank;
    bool    too_large, knows_origin, doubtful;
    int     of[RD_MAX_RANK], also[RD_MAX_RANK];
    int64_t base[RD_MAX_RANK], n[RD_MAX_RANK], origin[RD_MAX_RANK];
    int64_t at[RD_MAX_RANK][MOST_EXTENT], and_at[RD_MAX_RANK][MOST_EXTENT];
} lists;

typedef struct indices {
    int     rank;
    int64_t n, at[8];
    bool    is_unsigned;
} indices;

void model_begin(model *m, const rd_shape *shape);
/* False: the result is too large to go on with. */
bool model_step(model *m, const lists *l);
/* Each says what its call means; false: it is refused. */
bool model_text(const model *m, const char *text, lists *l);
bool model_select(const model *m, int axis, int64_t i, lists *l);
bool model_permute(const model *m, const rd_index *order, lists *l);
void model_range(const model *m, int axis, int64_t start, int64_t stop, int64_t step, lists *l);
void model_diagonal(const model *m, int axis1, int axis2, int64_t offset, lists *l);
void model_window(const model *m, int axis, int64_t n, int64_t step, lists *l);
void model_take(const model *m, int axis, const indices *index, lists *l);
/* The number as an element of that type; returns what it is there, INT64_MAX where it is more. */
int64_t model_store(void *to, rd_dtype type, int64_t number);
#endif
