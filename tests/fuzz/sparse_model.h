/* sparse_model.h - what index arrays mean, place by place: the model that sparse.c compares the library with. */
#ifndef RD_FUZZ_SPARSE_MODEL_H
#define RD_FUZZ_SPARSE_MODEL_H
#include "fuzz/bytes.h"

enum { MOST_AXES = 3, MOST_INDICES = 64, MOST_PLACES = 1024 };
enum { CSR, CSC, COO, ANY_FORMAT };

typedef struct index_row {
    int64_t n, at[MOST_INDICES];
} index_row;

typedef struct sparse_level {
    rd_level_kind kind;
    int           axis;
    bool          wide, odd; /* indices of 64 bits; of no type that indices have */
    index_row     pos, crd;
} sparse_level;

typedef struct sparse {
    int          format, rank;
    bool         trusted, stored;
    int          fill;
    rd_dtype     type;
    int64_t      extent[MOST_AXES], values; /* how many values are given */
    sparse_level level[MOST_AXES];
} sparse;

typedef struct dense {
    int64_t n, at[MOST_PLACES];
    bool    too_large;
} dense;

/* Either: nobody looks whether indices ascend, or a size is near the limit. */
typedef enum verdict { REFUSED, TAKEN, EITHER } verdict;

/* Kinds and axes of the levels, as the format has them, or as the input says. */
void sparse_name_levels(sparse *s, fuzz_bytes *in);
/* Places of the last level; -1: far too many, or none that can be counted. */
int64_t sparse_places(const sparse *s);
/* Value number i. */
int64_t sparse_value(const sparse *s, int64_t i);
/* The dense array, if all is right. */
verdict sparse_judge(const sparse *s, dense *d);
#endif
