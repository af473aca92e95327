/* dump.h - words that dumps and explain share. */
#ifndef RD_EVAL_DUMP_H
#define RD_EVAL_DUMP_H
#include "eval/ir.h"

enum { RD_NAME_TEXT = 24 };

/* Name of a materialised value: y and the result's number, or t and its number in the tree. */
const char *rd_materialised_name(const rd_graph *graph, const int32_t *number, int value,
                                 char name[RD_NAME_TEXT]);
/* Name of a leaf's slot: the input's name, or x and a number. */
const char *rd_slot_name(const rd_graph *graph, int slot, char name[RD_NAME_TEXT]);
void        rd_subscript_text(rd_text *text, const rd_graph *graph, const rd_subscript *at);
/* Writes what value v computes as an expression of leaves and materialised values. */
void rd_value_text(rd_text *text, const rd_tree *tree, int value);
/* leaf_index.c: the subscripts of a leaf along each of its axes of more than one index.  Returns
 * their number, at most RD_MAX_RANK; -1: only the flat address is known. */
int         rd_leaf_index(const rd_graph *graph, const rd_value *read, rd_subscript *at);
const char *rd_storage_class_name(rd_storage_class keep);
#endif
