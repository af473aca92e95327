/* text.c - lines, numbers and positions of a nest's text. */
#include "kernels/cpu/codegen/parts.h"
#include <inttypes.h>
#include <stdarg.h>

enum { SPELLED = 128 };

void rd_line(rd_codegen *n, const char *format, ...)
{
    va_list list;

    if (n->dry)
        return;
    va_start(list, format);
    rd_text_add(n->to, "%*s", 4 * n->indent, "");
    rd_text_add_list(n->to, format, list);
    rd_text_add(n->to, "\n");
    va_end(list);
}

/* Small ones are spelled out, so that compilers know them; others come with the call, so that one
 * text serves many shapes. */
void rd_number_text(rd_codegen *n, rd_text *to, int64_t value)
{
    int32_t k = 0;

    if (value >= -SPELLED && value <= SPELLED) {
        rd_text_add(to, "%" PRId64, value);
        return;
    }
    while (k < n->n_number && n->number[k] != value)
        k++;
    if (k == RD_CODEGEN_NUMBERS) {
        n->why = "too many numbers";
        return;
    }
    if (k == n->n_number)
        n->number[n->n_number++] = value;
    rd_text_add(to, "N%" PRId32, k);
}

static void add_index(rd_codegen *n, rd_text *to, const rd_addend *add, bool of_strip)
{
    const rd_bind *b = &n->bind[add->axis < 0 ? 0 : add->axis];

    if (add->axis < 0) {
        rd_operand_text(n, to, add->reg);
        return;
    }
    if (add->local)
        rd_text_add(to, "(");
    switch (b->kind) {
    case RD_BIND_INDEX: rd_text_add(to, "i%" PRId32, add->axis); break;
    case RD_BIND_LATER:
        rd_text_add(to, "(i%" PRId32 " + %" PRId64 ")", add->axis, b->number);
        break;
    case RD_BIND_NUMBER: rd_text_add(to, "%" PRId64, b->number); break;
    case RD_BIND_STRIP:
        rd_text_add(to, of_strip ? "v%" PRId32 : "(v%" PRId32 " + i)", add->axis);
        break;
    case RD_BIND_NONE: rd_text_add(to, "lo%" PRId32 "_%" PRId32, add->axis, b->range); break;
    }
    if (add->local)
        rd_text_add(to, " - lo%" PRId32 "_%" PRId32 ")", add->axis, b->range);
}

static void add_position(rd_codegen *n, rd_text *to, const rd_address *at, bool of_strip)
{
    int64_t known = at->offset;
    bool    any   = false;

    for (int32_t k = 0; k < at->n_add; k++)
        if (at->add[k].axis >= 0 && !at->add[k].local &&
            n->bind[at->add[k].axis].kind == RD_BIND_NUMBER)
            known += at->add[k].coef * n->bind[at->add[k].axis].number;
    for (int32_t k = 0; k < at->n_add; k++) {
        const rd_addend *add = &at->add[k];

        if (add->axis >= 0 && !add->local && n->bind[add->axis].kind == RD_BIND_NUMBER)
            continue;
        rd_text_add(to, any ? " + " : "");
        add_index(n, to, add, of_strip);
        if (add->coef != 1) {
            rd_text_add(to, " * ");
            rd_number_text(n, to, add->coef);
        }
        any = true;
    }
    if (known || !any) {
        rd_text_add(to, any ? " + " : "");
        rd_number_text(n, to, known);
    }
}

void rd_position(rd_codegen *n, rd_text *to, const rd_address *at)
{
    add_position(n, to, at, false);
}

void rd_position_of_strip(rd_codegen *n, rd_text *to, const rd_address *at)
{
    add_position(n, to, at, true);
}
