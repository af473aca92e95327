/* dump.h - words the dumps share. */
#ifndef RD_EVAL_DUMP_H
#define RD_EVAL_DUMP_H
#include "eval/ir.h"

enum { RD_NAME_TEXT = 24 };

/* Name of an anchor: y and the result's number, or t and its number in the tree. */
const char *rd_anchor_name(const rd_graph *graph, const int32_t *number, int value,
                           char name[RD_NAME_TEXT]);
/* Name of a leaf's slot: the input's name, or x and its number. */
const char *rd_slot_name(const rd_graph *graph, int slot, char name[RD_NAME_TEXT]);
void        rd_subscript_text(rd_text *text, const rd_graph *graph, const rd_subscript *at);
/* What value v computes, written out down to leaves and kept values. */
void rd_value_text(rd_text *text, const rd_tree *tree, int value);
/* leaf_index.c: where a leaf is read along each of its axes that have neighbours; how many, at most
 * RD_MAX_RANK; -1: only its flat place can be told. */
int         rd_leaf_index(const rd_graph *graph, const rd_value *read, rd_subscript *at);
const char *rd_keep_name(rd_keep keep);
#endif
