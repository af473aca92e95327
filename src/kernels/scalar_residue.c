/* scalar_residue.c - adds up the operations that run element by element, and says it in words.
 *
 * A fold is a reduction or scan.  A reason, a row of scalar_residue.def, says why operations are
 * not vectorised. */
#include "kernels/scalar_residue.h"
#include <stdio.h>
#include <string.h>

const rd_residue_row rd_residue_table[RD_N_RESIDUE] = {
#define RD_RESIDUE(name, kept, sentence) { #name, kept, sentence },
#include "kernels/scalar_residue.def"
};

/* Counts an operation that is done `times` times in `ns` nanoseconds altogether, in the sums of the
 * stage and of the reason `why` it is not vectorised; RD_N_RESIDUE: it is vectorised.  The reason
 * keeps the name of its most expensive operation.  An operation that never runs leaves no name. */
void rd_residue_add(rd_residue *r, rd_residue_why why, const char *what, double times, double ns)
{
    rd_residue_part *part;

    r->operations += times;
    r->ns += ns;
    if (why == RD_N_RESIDUE)
        return;
    part = &r->part[why];
    part->operations += times;
    part->ns += ns;
    if (ns < part->most || times <= 0)
        return;
    part->most = ns;
    snprintf(part->what, sizeof part->what, "%s", what);
}

/* Returns how many operations of the stage run element by element, not by vectors, for any
 * reason. */
double rd_residue_operations(const rd_residue *r)
{
    double sum = 0;

    for (int k = 0; k < RD_N_RESIDUE; k++)
        sum += r->part[k].operations;
    return sum;
}

/* Returns the predicted nanoseconds of all operations of the stage that run element by element,
 * not by vectors. */
double rd_residue_ns(const rd_residue *r)
{
    double sum = 0;

    for (int k = 0; k < RD_N_RESIDUE; k++)
        sum += r->part[k].ns;
    return sum;
}

/* Returns the predicted nanoseconds of operations that run element by element for a reason that
 * the library could mend; `kept` in the table marks the reasons that it cannot change. */
double rd_residue_ours(const rd_residue *r)
{
    double sum = 0;

    for (int k = 0; k < RD_N_RESIDUE; k++)
        sum += rd_residue_table[k].kept ? 0 : r->part[k].ns;
    return sum;
}

/* Writes the name of a reduction or scan in reports: "argmin", "sum so far" for a scan, or the
 * name of a user's reducer. */
void rd_residue_fold(const rd_fold *f, char name[RD_RESIDUE_NAME])
{
    const char *of = f->user ? f->user->name : rd_reducer_shown(f->reducer);

    snprintf(name, RD_RESIDUE_NAME, "%.32s%s", of, f->scan ? " so far" : "");
}

/* Writes the name of an instruction in reports, as users know it: "exp", "cast of i8 to f32",
 * "take" for a gather. */
void rd_residue_inst(const rd_program *p, const rd_inst *inst, char name[RD_RESIDUE_NAME])
{
    switch (inst->kind) {
    case RD_I_STEP:
    case RD_I_SCAN: rd_residue_fold(&p->fold[inst->arg], name); break;
    case RD_I_MAP: snprintf(name, RD_RESIDUE_NAME, "%s", rd_op_table[inst->op].name); break;
    case RD_I_CAST:
        snprintf(name, RD_RESIDUE_NAME, "cast of %s to %s", rd_dtype_name(inst->from),
                 rd_dtype_name(inst->type));
        break;
    case RD_I_CALL: snprintf(name, RD_RESIDUE_NAME, "%.40s()", p->call[inst->arg].name); break;
    case RD_I_SELECT: snprintf(name, RD_RESIDUE_NAME, "where"); break;
    case RD_I_SORT: snprintf(name, RD_RESIDUE_NAME, "sort"); break;
    case RD_I_LOAD:
    case RD_I_INDEX: snprintf(name, RD_RESIDUE_NAME, "take"); break;
    default: snprintf(name, RD_RESIDUE_NAME, "a map"); break;
    }
}

/* Adds a time: "48 us" or "1.5 ms". */
static void time_text(rd_text *text, double ns)
{
    rd_text_add(text, ns < 1e6 ? "%.3g us" : "%.3g ms", ns < 1e6 ? ns / 1e3 : ns / 1e6);
}

/* Adds the text of reason number `why`, for which operations run element by element. Its part names
 * the most expensive of them.
 *
 *     sum (60000 of 60000 operations, 48 us): which cell takes .. */
static void part_text(rd_text *text, const rd_residue *r, int why)
{
    const rd_residue_part *part = &r->part[why];

    rd_text_add(text, "%s (%.0f of %.0f operations, ", part->what, part->operations, r->operations);
    time_text(text, part->ns);
    rd_text_add(text, "): %s", rd_residue_table[why].sentence);
}

/* Returns the reason that follows reason `before` when all are ordered by time, the most
 * expensive first; -1: there is none behind it. before -1 asks for the first. Equal times follow
 * the reasons' numbers. */
static int next_reason(const rd_residue *r, int before)
{
    int found = -1;

    for (int k = 0; k < RD_N_RESIDUE; k++) {
        const double ns = r->part[k].ns;
        const bool   less =
            before < 0 || ns < r->part[before].ns || (ns == r->part[before].ns && k > before);

        if (r->part[k].operations > 0 && less && (found < 0 || ns > r->part[found].ns))
            found = k;
    }
    return found;
}

/* Adds all reasons with their operations, "exp (4000 of 12000 operations, 16 us): its steps ..;
 * ..", the most expensive first. */
void rd_residue_text(rd_text *text, const rd_residue *r)
{
    for (int k = next_reason(r, -1), n = 0; k >= 0; k = next_reason(r, k)) {
        rd_text_add(text, n++ ? "; " : "");
        part_text(text, r, k);
    }
}

/* Adds a line for each reason, the most expensive first: its name, ", ours" if the library could
 * mend it, and its operations. */
void rd_residue_lines(rd_text *text, const rd_residue *r)
{
    for (int k = next_reason(r, -1); k >= 0; k = next_reason(r, k)) {
        rd_text_add(text, "  %s%s: ", rd_residue_table[k].name,
                    rd_residue_table[k].kept ? "" : ", ours");
        part_text(text, r, k);
        rd_text_add(text, "\n");
    }
}
