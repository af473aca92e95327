/* tile_loops.c - the loops of a program, run tile by tile.
 *
 * The levels of tile.h follow from the loops around: outside of rows the task's level, within a
 * loop over rows the row level, within a loop over columns the tile level.  A run ends early if a
 * fold is decided (`leave` is the loop to leave) or an instruction fails.
 *
 * Fields. The root axis (p->root) is the one that tasks share, -1: none. An instruction is skipped
 * (`skip`) if another one's kernel does its work.
 *
 * Words. Scratch is temporary memory of a task. */
#include "core/bytes.h"
#include "kernels/cpu/sort/row_sort.h"
#include "kernels/cpu/tile/run/tile_task.h"
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

/* ---- A task's memory ------------------------------------------------------------------------- */
/* Returns the bytes of temporary memory that the largest row to be sorted needs; 0 if none is
 * sorted. */
static int64_t sort_bytes(const rd_program *p)
{
    int64_t most = 0;

    for (int32_t k = 0; k < p->n_sorting; k++) {
        const int64_t bytes = rd_sort_row_bytes(&p->sorting[k]);

        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Places the arrays of a task in its memory `state`, or counts their bytes if it is NULL: views of
 * registers, ranges of axes, states of folds, elements of registers, buffers of tiles, spare
 * buffers. Returns the bytes. rd_piece_of() reserves n items of some bytes at `used`, and returns
 * their address, or NULL while bytes are counted. Registers of task and row level have 8 bytes an
 * element; where tiles have one row (code->rows is 1), both levels share an array. `work` is for
 * sorting rows. */
static int64_t lay_out(rd_tiles *m, const rd_program *p, char *state)
{
    const rd_tile_code *code = p->code;
    int64_t             used = 0;

    rd_piece(&used, /*n=*/1, sizeof *m);
    m->p          = p;
    m->code       = code;
    m->reg        = rd_piece_of(state, &used, p->n_reg, sizeof *m->reg);
    m->axis       = rd_piece_of(state, &used, p->n_axis, sizeof *m->axis);
    m->fold       = rd_piece_of(state, &used, p->n_fold, sizeof *m->fold);
    m->task_words = rd_piece_of(state, &used, p->n_reg + 1, /*each=*/8);
    m->row_words =
        code->rows > 1 ? rd_piece_of(state, &used, p->n_reg + 1, 8 * code->rows) : m->task_words;
    m->buffers = rd_piece_of(state, &used, code->n_buffer, code->buffer_bytes);
    m->spare   = rd_piece_of(state, &used,
                           code->buffer_elements > code->rows ? code->buffer_elements : code->rows,
                             8 * code->spares);
    m->work    = rd_piece_of(state, &used, /*n=*/1, sort_bytes(p));
    for (int32_t k = 0; k < p->n_fold; k++) {
        char *memory = rd_piece_of(state, &used, /*n=*/1, code->fold[k].bytes);
        if (state)
            m->fold[k] = memory;
    }
    return used;
}

/* Returns the bytes of a task's state for a program. */
int64_t rd_tiles_bytes(const rd_program *p)
{
    rd_tiles m = { 0 };
    return lay_out(&m, p, /*state=*/NULL);
}

/* Makes a task's state in the memory `state`. Registers of task and row level get their place, 8
 * bytes an element; those of tiles get theirs as they are computed. Nobody frees the result: it
 * lies in the caller's memory. */
rd_tiles *rd_tiles_new(const rd_program *p, char *state)
{
    rd_tiles           *m    = (rd_tiles *)(void *)state;
    const rd_tile_code *code = p->code;

    lay_out(m, p, state);
    for (int32_t k = 0; k < p->n_reg; k++) {
        char *words = code->reg[k].level == RD_AT_TASK ? m->task_words + 8 * k
                                                       : m->row_words + 8 * code->rows * k;
        m->reg[k]   = (rd_reg_view){ .at = words, .elem = code->reg[k].elem };
    }
    return m;
}

/* ---- Loops ----------------------------------------------------------------------------------- */
static bool run(rd_tiles *m, int32_t from, int32_t to);

/* True if a loop ends early (m->leave is the loop that an early exit leaves), or the task has
 * failed. */
static bool is_left(const rd_tiles *m, int32_t loop)
{
    return m->leave == loop || m->task->status != RD_OK;
}

/* After a loop over columns in which an instruction failed, keeps only the rows before the one that
 * failed, as later instructions may still fail for these; the error to report is the first in the
 * order of rows. At row level m->cols is the number of rows. fault.row is the first row that
 * failed, INT64_MAX: none. If no row is left, the task fails. */
static void keep_rows_before_fault(rd_tiles *m)
{
    if (m->fault.row < m->cols)
        m->cols = m->fault.row;
    if (m->cols == 0)
        m->task->status = m->fault.status;
}

/* Runs the body of a loop over columns on one tile after the other, of at most `most` columns.
 * Before and after it, at row level, m->cols is the number of rows. Columns end at an early exit
 * (is_left) or at a failure (fault.row, the first row that failed, is below `rows`). A backward
 * loop, of a reverse scan, begins at the last index. With `cuts`, tiles end at seams, where a moved
 * index changes. */
static void run_columns(rd_tiles *m, int32_t number, int32_t pc)
{
    const rd_loop      *loop  = &m->p->loop[number];
    rd_tile_axis       *axis  = &m->axis[loop->axis];
    const rd_tile_axis  range = *axis;
    const rd_tile_level level = m->level;
    const int64_t       rows = m->cols, most = m->code->loop[number].most;

    /* A row ends before the next one begins, unless nothing in it can fail. */
    assert(rows == 1 || m->code->loop[number].square || m->code->loop[number].cuts ||
           range.hi - range.lo <= most);
    m->level = RD_AT_TILE;
    m->rows  = rows;
    for (int64_t done = 0, n = range.hi - range.lo;
         done < n && !is_left(m, number) && m->fault.row >= rows; done += m->cols) {
        m->cols     = n - done < most ? n - done : most;
        axis->index = loop->backwards ? range.hi - 1 - done : range.lo + done;
        if (m->code->loop[number].cuts)
            m->cols = rd_tiles_columns_to_seam(m, pc, m->cols);
        run(m, pc + 1, loop->end);
    }
    m->level = level;
    m->rows  = 1;
    m->cols  = rows;
    *axis    = range;
    keep_rows_before_fault(m);
}

/* Runs a loop over columns on some rows of the tile at a time, as many as its buffers hold.
 * m->first_row is where these rows begin among the tile's rows; views of registers of row level
 * begin there, too. */
static void run_some_rows(rd_tiles *m, int32_t number, int32_t pc)
{
    const int64_t rows = m->cols, most = m->code->loop[number].rows;

    if (rows <= most) {
        run_columns(m, number, pc);
        return;
    }
    const int64_t begin = m->row_axis->index;
    for (m->first_row = 0; m->first_row < rows; m->first_row += most) {
        m->row_axis->index = begin + m->first_row;
        m->cols            = rows - m->first_row < most ? rows - m->first_row : most;
        run_columns(m, number, pc);
    }
    m->first_row       = 0;
    m->row_axis->index = begin;
    m->cols            = rows;
}

/* Runs the body of a loop over rows, at most `most` rows at a time (m->cols at row level). Tiles
 * end at seams (where a moved index changes) and, if tiles do not have all columns of the loop
 * (`square`, `cuts`), at the ends of blocks (64 steps of a fold). After a failure (fault.row) the
 * task ends with its status. */
static void run_rows(rd_tiles *m, int32_t number, int32_t pc)
{
    const rd_loop     *loop  = &m->p->loop[number];
    rd_tile_axis      *axis  = &m->axis[loop->axis];
    const rd_tile_axis range = *axis;
    const int64_t      most  = m->code->loop[number].most;

    m->level    = RD_AT_ROW;
    m->row_axis = axis;
    for (axis->index = range.lo; axis->index < range.hi && !is_left(m, number);
         axis->index += m->cols) {
        m->cols = range.hi - axis->index < most ? range.hi - axis->index : most;
        if (m->code->loop[number].cuts) /* and where tiles would end otherwise */
            m->cols = rd_tiles_rows_to_seam(
                m, loop->axis, rd_least(m->cols, most - (axis->index - range.lo) % most));
        if (m->code->loop[number].square || m->code->loop[number].cuts)
            m->cols = rd_tiles_rows_of_block(m, m->cols);
        run(m, pc + 1, loop->end);
        if (m->fault.row < INT64_MAX) /* an element failed */
            m->task->status = m->fault.status;
    }
    m->level = RD_AT_TASK;
    m->cols  = 1;
    *axis    = range;
}

/* Runs the body of any other loop, for one index or one panel (range of indices) at a time; unless
 * it only sorts rows, which go together. Backwards, for a reverse scan, the last panel comes first,
 * and it may be the shorter one. Loops inside visit the range from axis->lo to axis->hi. */
static void run_outer(rd_tiles *m, int32_t number, int32_t pc)
{
    const rd_loop *loop = &m->p->loop[number];

    if (rd_tiles_sort_interleaved(m, loop))
        return;
    rd_tile_axis      *axis  = &m->axis[loop->axis];
    const rd_tile_axis range = *axis;
    /* indices at a time */
    const int64_t width = loop->kind == RD_LOOP_TILE ? loop->step : 1, n = range.hi - range.lo;

    for (int64_t done = 0; done < n && !is_left(m, number); done += width) {
        const int64_t at =
            loop->backwards ? range.lo + (n - 1) / width * width - done : range.lo + done;

        axis->index = at;
        if (loop->kind == RD_LOOP_TILE) {
            axis->lo = at;
            axis->hi = range.hi - at > width ? at + width : range.hi;
        }
        run(m, pc + 1, loop->end);
    }
    *axis = range;
}

/* Runs a loop by its role: columns, rows, or one index at a time.  An early exit that leads to it
 * ends here. */
static void run_loop(rd_tiles *m, int32_t number, int32_t pc)
{
    const rd_tile_axis *axis = &m->axis[m->p->loop[number].axis];

    if (axis->hi <= axis->lo)
        return;
    switch (m->code->loop[number].role) {
    case RD_LOOP_COLS: run_some_rows(m, number, pc); break;
    case RD_LOOP_ROWS: run_rows(m, number, pc); break;
    case RD_LOOP_OUTER: run_outer(m, number, pc); break;
    }
    if (m->leave == number)
        m->leave = -1;
}

/* Prefetches the next 16 cache lines of what load() has noted, no more at once than a core can wait
 * for. The arguments 0 and 2 ask for reading, into the second-level cache. */
static void prefetch_some(rd_tiles *m)
{
    for (int k = 0; k < 16 && m->prefetch_at < m->prefetch_end; k++, m->prefetch_at += 64)
        __builtin_prefetch(m->prefetch_at, 0, 2);
}

/* Interprets instructions [from, to): each runs on the whole tile before the next one. False once a
 * loop exits early or the task fails. An instruction is passed over if the kernel of another one
 * does its work (`skip`), or if its value is for SELECTs only (`wanted_by_select`) that do not
 * choose it in this tile. A loop runs its body itself, so pc goes on behind its END. EXIT leaves
 * loop `arg` once fold `a` is decided. */
static bool run(rd_tiles *m, int32_t from, int32_t to)
{
    for (int32_t pc = from; pc < to; pc++) {
        const rd_inst      *inst = &m->p->inst[pc];
        const rd_tile_inst *t    = &m->code->inst[pc];

        if (t->skip || (t->wanted_by_select >= 0 && !rd_tiles_is_chosen(m, pc)))
            continue;
        if (m->prefetch_at < m->prefetch_end)
            prefetch_some(m);
        switch (inst->kind) {
        case RD_I_LOOP:
            run_loop(m, inst->arg, pc);
            pc = m->p->loop[inst->arg].end;
            break;
        case RD_I_END: break;
        case RD_I_START: rd_tiles_start(m, pc); break;
        case RD_I_STEP: rd_tiles_step(m, pc); break;
        case RD_I_SCAN: rd_tiles_scan(m, pc); break;
        case RD_I_CLOSE: rd_tiles_store_results(m, pc); break;
        case RD_I_SORT: rd_tiles_sort(m, inst->arg); break;
        case RD_I_EXIT: m->leave = rd_tiles_is_decided(m, inst->a) ? inst->arg : m->leave; break;
        default: rd_tiles_value(m, pc); break;
        }
        if (m->leave >= 0 || m->task->status != RD_OK)
            return false;
    }
    return true;
}

/* Interprets instructions [from, to) of a task, with its range of the root axis (the one that tasks
 * share).  False if a loop exits early or the task fails. */
bool rd_tiles_run(rd_tiles *m, rd_task *task, int32_t from, int32_t to)
{
    const rd_program *p = m->p;

    m->task        = task;
    m->level       = RD_AT_TASK;
    m->rows        = 1;
    m->cols        = 1;
    m->leave       = -1; /* no loop exits early */
    m->first_row   = 0;
    m->fault       = (rd_fault){ .row = INT64_MAX };
    m->prefetch_at = m->prefetch_end = NULL;
    for (int32_t k = 0; k < p->n_axis; k++)
        m->axis[k] = (rd_tile_axis){ 0, 0, p->axis_extent[k] };
    if (p->root >= 0)
        m->axis[p->root] = (rd_tile_axis){ task->lo, task->lo, task->hi };
    const bool whole = run(m, from, to);
    /* Non-temporal stores wait in buffers that no release by the caller would empty. */
    if (m->code->nontemporal)
        atomic_thread_fence(memory_order_seq_cst);
    return whole;
}
