/* check.c - checks the invariants of the data between stages; debug builds call it after each
 * stage. */
#include "eval/ir.h"

/* True if value i needs only values before it: operands, the value that it reads, and gathered
 * indices, but not in subscripts that say where it is stored (into). */
static bool has_operands_first(const rd_graph *g, int i)
{
    const rd_value *v = &g->value[i];

    for (int k = 0; k < v->n_in; k++)
        if (v->in[k] >= i)
            return false;
    for (int d = 0; d < v->n_at && v->into < 0; d++)
        for (int t = 0; t < v->at[d].n_term; t++)
            if (v->at[d].term[t].axis < 0 && v->at[d].term[t].value >= i)
                return false;
    return v->target < i;
}

/* Checks that each value of a graph comes after those it needs, and that its fields suit its kind.
 * Returns a sentence about the first that does not; NULL: nothing is wrong. Fields: `axes` the
 * loop axes of a value, `reduced` those that go; `slot` memory that it reads and `target` a
 * value, -1: none; `row`: it is stored as rows to sort; `inner`: the axis of a reducer's several
 * results. */
const char *rd_check_graph(const rd_graph *g)
{
    for (int i = 0; i < g->n_value; i++) {
        const rd_value *v = &g->value[i];

        if (!has_operands_first(g, i))
            return "a value comes before one it needs";
        if (v->kind == RD_VALUE_REDUCE && (v->axes & v->reduced))
            return "a reduction keeps an axis that it reduces";
        if (v->combine && v->combine->first_lane > v->combine->n_order)
            return "a fold's lanes start after its last axis";
        if (v->kind == RD_VALUE_READ && (v->slot >= 0) == (v->target >= 0))
            return "a read of neither a leaf nor a value, or of both";
        if (v->kind == RD_VALUE_SORT && ((v->slot >= 0) == (v->target >= 0) || v->inner < 0 ||
                                         (v->target >= 0 && !g->value[v->target].row)))
            return "an order of no row";
        if (v->slot >= g->n_slot)
            return "a slot that is not there";
        if (rd_own_dims(v) & ~v->axes)
            return "groups or a reducer's results lie along an axis it does not have";
    }
    return NULL;
}

/* The state of a check of a tree. */
typedef struct tree_check {
    const rd_tree *tree;
    int            seen;  /* values found so far */
    const char    *wrong; /* the sentence; NULL: nothing is wrong */
} tree_check;

/* Checks a loop body recursively: each loop's parent, and that each value stands in the body where
 * its storage says, inside all loops that it needs. w->seen counts values, w->wrong is the first
 * fault. An item is a loop or a value; scope->single_index_axes has the axes of all loops around.
 * */
static void check_scope(tree_check *w, const rd_loop_scope *scope)
{
    for (const rd_item *item = scope->first; item && !w->wrong; item = item->next) {
        if (item->loop) {
            if (item->loop->parent != scope)
                w->wrong = "a loop with the wrong parent";
            check_scope(w, item->loop);
            if (item->loop->epilogue)
                check_scope(w, item->loop->epilogue);
            continue;
        }
        w->seen++;
        if (rd_space(&w->tree->graph->value[item->value]) & ~scope->single_index_axes)
            w->wrong = "a value stands outside a loop it needs";
        else if (w->tree->storage[item->value].where != scope)
            w->wrong = "a value's place is not where it stands";
    }
}

/* Checks that each stored value of a tree stands once, inside all loops that it needs. Returns a
 * sentence about what is wrong; NULL: nothing. */
const char *rd_check_tree(const rd_tree *tree)
{
    tree_check w = { .tree = tree };

    check_scope(&w, tree->root);
    if (!w.wrong && w.seen != tree->n_materialised)
        return "a kept value is missing, or stands twice";
    return w.wrong;
}

/* ---- Programs -------------------------------------------------------------------------------- */
/* True if the register exists, or the field is unused: 0 or -1. */
static bool register_ok(const rd_program *p, int32_t reg)
{
    return reg == 0 || (reg >= -1 && reg < p->n_reg);
}

/* True if all registers of the instruction exist. */
static bool registers_ok(const rd_program *p, const rd_inst *i)
{
    if (i->kind == RD_I_EXIT)
        return true; /* its operand is a fold */
    return register_ok(p, i->dst) && register_ok(p, i->a) && register_ok(p, i->b) &&
           register_ok(p, i->c);
}

/* True if what the instruction's argument names (a loop, an address, a fold ...) exists. there[]
 * is how many there are of each. RD_I_EXIT has a fold in `a`, too. */
static bool argument_ok(const rd_program *p, const rd_inst *i)
{
    const int32_t there[] = {
        [RD_NAMES_NONE] = INT32_MAX, [RD_NAMES_LOOP] = p->n_loop, [RD_NAMES_ADDRESS] = p->n_address,
        [RD_NAMES_CALL] = p->n_call, [RD_NAMES_FOLD] = p->n_fold, [RD_NAMES_SORTING] = p->n_sorting
    };
    const rd_inst_names names = rd_inst_table[i->kind].names;

    return (names == RD_NAMES_NONE || i->arg >= 0) && i->arg < there[names] &&
           (i->kind != RD_I_EXIT || (i->a >= 0 && i->a < p->n_fold));
}

/* True if the slot of a LOAD or STORE exists: one of the graph's, or scratch memory of the
 * program. */
static bool slot_ok(const rd_program *p, const rd_inst *i)
{
    int32_t slot = p->address[i->arg].slot;

    return slot >= 0 && slot < p->first_scratch + p->n_scratch;
}

/* Checks a program: names that exist, addresses in slots, and loops that nest. No loop may reach
 * from one part of the code (head, body, tail) into the next. Returns what is wrong; NULL:
 * nothing. `open` is the stack of loops that have begun; body and tail are the first
 * instructions of the second and third part. */
const char *rd_check_program(const rd_program *p)
{
    int32_t open[2 * RD_MAX_AXES + 2], depth = 0;

    for (int32_t k = 0; k < p->n_inst; k++) {
        const rd_inst *i = &p->inst[k];

        if (!argument_ok(p, i) || !registers_ok(p, i))
            return "an instruction names something that is not there";
        if ((i->kind == RD_I_LOAD || i->kind == RD_I_STORE) && !slot_ok(p, i))
            return "an address in a slot that is not there";
        if (i->kind == RD_I_LOOP)
            open[depth++] = i->arg;
        else if (i->kind == RD_I_END &&
                 (depth == 0 || open[--depth] != i->arg || p->loop[i->arg].end != k))
            return "loops that do not nest";
        if (depth && (k + 1 == p->body || k + 1 == p->tail))
            return "a loop across the parts of a program";
    }
    return depth ? "a loop without an end" : NULL;
}
