/* key.h - what a plan depends on, as numbers: two evaluations with one key may share a plan.
 *
 * The key holds the expressions by structure, the layouts of the results and the options.  It holds
 * no address: the leaves' are given apart, for the run.  Nor does it say where in a leaf a slice
 * begins, only how far the slices of one leaf are from each other, so that "10, :" and "11, :" of
 * an array have one key and different addresses.
 *
 * A program that computes with another number each time, `x * k` in a loop over k, would have a new key
 * each time.  So the numbers of a key can be made inputs as leaves are: their values leave it, and
 * their addresses are given to the run (numbers.c). */
#ifndef RD_EVAL_CACHE_KEY_H
#define RD_EVAL_CACHE_KEY_H
#include "eval/plan.h"

typedef struct rd_key_node {
    const rd_expr *expr;
    int32_t        leaf; /* number among the leaves, -1 */
} rd_key_node;

typedef struct rd_key_leaf {
    const rd_expr *expr;
    const int64_t *first; /* per axis, where its first reader begins; NULL: not read yet */
} rd_key_leaf;

/* A number that may become an input: its element lies in its node as in memory, and it is neither 0 nor 1, which a
 * fold may leave out. */
typedef struct rd_key_number {
    const rd_expr *expr;
    int32_t
        word; /* that has its value; where it is an input: which of those with its value comes first */
} rd_key_number;

typedef struct rd_key_place {
    const rd_expr *expr;
    uint32_t       round; /* of the key that put it here */
    int32_t        node;
} rd_key_place;

enum { RD_KEY_NUMBERS = 16 };

/* Its vectors serve one key after another. */
typedef struct rd_key {
    rd_ctx       *ctx;
    uint64_t     *word;
    rd_key_node  *node;
    rd_key_leaf  *leaf;
    rd_key_place *place; /* from expression to node: a table of room_place entries, at least half of
                          * them free */
    int32_t       n_word, n_node, n_leaf, room_word, room_node, room_leaf, room_place;
    int32_t       n_number; /* of which the first ones are here */
    rd_key_number number[RD_KEY_NUMBERS];
    bool          numbers_in; /* they are inputs, after the leaves */
    uint32_t      round;
    uint64_t      hash;
} rd_key;

/* False: too large to be worth a key, an input without memory, or no room (which is not
 * recorded). */
bool rd_key_make(rd_key *key, int n, const rd_request *request, const rd_eval_opts *opts);
/* Elements from the leaf's base to where its first reader begins: addresses of runs are there. */
int64_t     rd_key_shift(const rd_key_leaf *leaf);
const void *rd_key_address(const rd_key_leaf *leaf);
void        rd_key_free(rd_key *key);
uint64_t    rd_key_hash(const rd_key *key);
/* numbers.c: makes the key's numbers inputs, or values in it again.  False: it has none or too many, or the plan may
 * consist of several. */
bool rd_key_numbers_in(rd_key *key);
void rd_key_numbers_back(rd_key *key);
/* How many addresses a run gets, and all of them. */
int32_t rd_key_inputs(const rd_key *key);
void    rd_key_addresses(const rd_key *key, const void **address);
/* movable.c: a plan of the key's own that runs on any leaves laid out like its, and any numbers where they are inputs;
 * NULL after recording the failure. */
rd_plan *rd_key_plan(const rd_key *key, rd_results results, const rd_eval_opts *opts,
                     const rd_choice *choice);
#endif
