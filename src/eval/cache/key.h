/* key.h - what a plan depends on, as words: two evaluations with one key may share a plan.
 *
 * The key holds the structure of the expressions, the layouts of the results, and the options.
 * It holds no address: those of leaves are given to the run.  Of slices of a leaf it holds only
 * how far they are from each other, so "10, :" and "11, :" of an array have one key and
 * different addresses.
 *
 * A program that computes with another number each time, such as `x * k` in a loop over k, would
 * have a new key each time.  So numbers of a key can become inputs, as leaves are: their values
 * leave the key, and their addresses are given to the run (numbers.c). */
#ifndef RD_EVAL_CACHE_KEY_H
#define RD_EVAL_CACHE_KEY_H
#include "eval/plan.h"

/* An expression of a key. */
typedef struct rd_key_node {
    const rd_expr *expr;
    int32_t        leaf; /* its number among the leaves, -1 */
} rd_key_node;

/* A leaf of a key. */
typedef struct rd_key_leaf {
    const rd_expr *expr;  /* the leaf */
    const int64_t *first; /* by axis: where its first reader begins; NULL: not read yet */
} rd_key_leaf;

/* A number that may become an input.  Its value lies in its node as in memory.  It is neither 0
 * nor 1, which constant folding may remove. */
typedef struct rd_key_number {
    const rd_expr *expr;
    int32_t
        /* index of the word with its value; once it is an input: of the first number with an
         * equal value */
        word;
} rd_key_number;

/* An entry of the hash table from expressions to nodes. */
typedef struct rd_key_place {
    const rd_expr *expr;
    uint32_t       round; /* of the key that put it here */
    int32_t        node;  /* its number among the nodes */
} rd_key_place;

enum { RD_KEY_NUMBERS = 16 };

/* Its vectors serve one key after another. */
typedef struct rd_key {
    rd_ctx       *ctx;
    uint64_t     *word;
    rd_key_node  *node;
    rd_key_leaf  *leaf;
    rd_key_place *place; /* hash table from expressions to nodes, at least half free */
    int32_t       n_word, n_node, n_leaf, room_word, room_node, room_leaf, room_place;
    int32_t       n_number; /* only the first ones are stored */
    rd_key_number number[RD_KEY_NUMBERS];
    bool          numbers_in; /* the numbers are inputs, after the leaves */
    uint32_t      round;      /* number of this key, from 1 on */
    uint64_t      hash;       /* of all words */
} rd_key;

/* Makes a key.  False: too large to be worth it, an input without memory, or no room, which is
 * not recorded. */
bool rd_key_make(rd_key *key, int n, const rd_request *request, const rd_eval_opts *opts);
/* Elements from the leaf's base to where its first reader begins, which is the address given to
 * runs. */
int64_t     rd_key_shift(const rd_key_leaf *leaf);
const void *rd_key_address(const rd_key_leaf *leaf);
void        rd_key_free(rd_key *key);
uint64_t    rd_key_hash(const rd_key *key);
/* numbers.c: turns the key's numbers into inputs, or back into values.  False: it has none or
 * too many, or the plan may be one in parts. */
bool rd_key_numbers_to_inputs(rd_key *key);
void rd_key_numbers_to_values(rd_key *key);
/* The number of addresses that a run gets; fills them in. */
int32_t rd_key_inputs(const rd_key *key);
void    rd_key_addresses(const rd_key *key, const void **address);
/* movable.c: makes a plan that runs on any leaves with this layout, and on any numbers if these
 * are inputs.  NULL after recording the failure. */
rd_plan *rd_key_plan(const rd_key *key, rd_results results, const rd_eval_opts *opts,
                     const rd_choice *choice);
#endif
