/* numbers.c - turns the numbers of a key into inputs of the run, so that other numbers need no
 * other plan. */
#include "eval/cache/key.h"

/* Plans of graphs with at most so many nodes are rarely in parts. */
enum { MOST_NODES = 96 };

/* Bit of the key's first word, not used by options: the key has numbers as inputs. */
static const uint64_t NUMBERS_IN = UINT64_C(1) << 60;

/* A word of these bits and a count stands for an input.  No value has them: numbers that stay in
 * a key are 0, -0 or 1. */
static const uint64_t INPUT = UINT64_C(0x7FF8) << 48;

/* The index of the first number with the same type and value as number k. The graph computes equal
 * values once, so a plan for x * 2 + 2 does not fit x * 2 + 3: the key must tell which numbers are
 * equal. */
static uint64_t first_equal(const rd_key *key, int32_t k)
{
    const rd_expr *e = key->number[k].expr;
    uint64_t       j = 0;

    while (key->number[j].expr->type != e->type ||
           key->number[j].expr->as.number->value.u64 != e->as.number->value.u64)
        j++;
    return j;
}

/* True if the plan may be in parts: with a product of sparse matrices, or many nodes.  Such a plan
 * has its numbers fixed, and planning would find that out late. */
static bool may_be_several_plans(const rd_key *key)
{
    bool product = false;

    for (int32_t k = 0; k < key->n_node && !product; k++)
        product = key->node[k].expr->kind == RD_EXPR_PRODUCT;
    return product || key->n_node > MOST_NODES;
}

/* True if the reader computes in the same way for any int operand. Other readers do not: the code
 * for division, shifts and random numbers contains the value. */
static bool is_plain(const rd_expr *reader)
{
    if (reader->kind != RD_EXPR_MAP)
        return false;
    switch (reader->op) {
    case RD_OP_eq:
    case RD_OP_ne:
    case RD_OP_lt:
    case RD_OP_le:
    case RD_OP_gt:
    case RD_OP_ge:
    case RD_OP_add:
    case RD_OP_sub:
    case RD_OP_mul:
    case RD_OP_minimum:
    case RD_OP_maximum: return true;
    default: return false;
    }
}

/* True if all readers of x compute in the same way for any int, also those that read it through
 * views, which broadcast a number. */
static bool is_read_plainly(const rd_key *key, const rd_expr *x)
{
    bool plain = true;

    for (int32_t k = 0; k < key->n_node && plain; k++) {
        const rd_expr *e = key->node[k].expr;

        for (int i = 0; i < e->n_in && plain; i++)
            plain = e->in[i] != x || is_plain(e) ||
                    (e->kind == RD_EXPR_VIEW && is_read_plainly(key, e));
    }
    return plain;
}

/* True if the number, possibly broadcast by views, is the exponent of a power by products
 * (pow_half): the code of such a power contains the exponent. */
static bool is_exponent(const rd_key *key, const rd_expr *x)
{
    bool found = false;

    for (int32_t k = 0; k < key->n_node && !found; k++) {
        const rd_expr *e = key->node[k].expr;

        for (int i = 0; i < e->n_in && !found; i++)
            found = e->in[i] == x && ((e->kind == RD_EXPR_MAP && e->op == RD_OP_pow_half) ||
                                      (e->kind == RD_EXPR_VIEW && is_exponent(key, e)));
    }
    return found;
}

/* True if the number may become an input: its readers compute in the same way for any value. Ints
 * do not if there are index arrays (COORD), as a mask such as i < n limits a loop. */
static bool is_input(const rd_key *key, const rd_expr *number)
{
    bool coordinates = false;

    if (rd_dtype_kind(number->type) == RD_KIND_FLOAT)
        return !is_exponent(key, number);
    for (int32_t k = 0; k < key->n_node && !coordinates; k++)
        coordinates = key->node[k].expr->kind == RD_EXPR_COORD;
    return !coordinates && is_read_plainly(key, number);
}

/* Keeps only those numbers of the key that may become inputs. */
static void keep_inputs(rd_key *key)
{
    int32_t n = 0;

    for (int32_t k = 0; k < key->n_number; k++)
        if (is_input(key, key->number[k].expr))
            key->number[n++] = key->number[k];
    key->n_number = n;
}

/* Turns the key's numbers into inputs: each value's word becomes a marker with the index of the
 * first equal number. False: there are none or too many, or the plan may be one in parts.
 * keep_inputs() leaves in key->number those that may be inputs. Bits INPUT and NUMBERS_IN mark
 * words, so that such keys differ from others. */
bool rd_key_numbers_to_inputs(rd_key *key)
{
    if (key->n_number == 0 || key->n_number > RD_KEY_NUMBERS || may_be_several_plans(key))
        return false;
    keep_inputs(key);
    if (key->n_number == 0)
        return false;
    for (int32_t k = 0; k < key->n_number; k++)
        key->word[key->number[k].word] = INPUT | first_equal(key, k);
    key->word[0] |= NUMBERS_IN;
    key->hash       = rd_key_hash(key);
    key->numbers_in = true;
    return true;
}

/* Turns the key's inputs back into numbers: puts their values into its words and computes its
 * hash. */
void rd_key_numbers_to_values(rd_key *key)
{
    for (int32_t k = 0; k < key->n_number; k++)
        key->word[key->number[k].word] = key->number[k].expr->as.number->value.u64;
    key->word[0] &= ~NUMBERS_IN;
    key->hash       = rd_key_hash(key);
    key->numbers_in = false;
}

/* The number of addresses that a run gets: of leaves and, if numbers are inputs, of numbers. */
int32_t rd_key_inputs(const rd_key *key)
{
    return key->n_leaf + (key->numbers_in ? key->n_number : 0);
}

/* Fills in the addresses that a run gets: of leaves, then of numbers, which lie in their nodes. */
void rd_key_addresses(const rd_key *key, const void **address)
{
    for (int32_t k = 0; k < key->n_leaf; k++)
        address[k] = rd_key_address(&key->leaf[k]);
    for (int32_t k = 0; key->numbers_in && k < key->n_number; k++)
        address[key->n_leaf + k] = &key->number[k].expr->as.number->value;
}
