/* program.h - a loop program: all that a backend sees of a stage.
 *
 * The evaluator lowers each stage (one pass over memory) to a program: loops over axes, values in
 * virtual registers, accesses to slots of memory, folds (reductions and scans).  A program knows no
 * graph and holds no pointers to data: slot addresses come with each run, so one program serves any
 * number of threads and any data of its shape.
 *
 * Text form, one instruction a line, by rd_program_text(). */
#ifndef RD_KERNELS_PROGRAM_H
#define RD_KERNELS_PROGRAM_H
#include "core/ops.h"
#include "core/reducers.h"
#include "core/sort_facts.h"
#include "core/text_buffer.h"

/* Stages with less work than this many operations stay on one thread.  A parallel region costs
 * about a microsecond, a disturbed one several.  It should not be a tenth of the stage: about 20
 * microseconds at 10 operations a nanosecond. */
#define RD_SMALL_WORK 200e3
/* Making the text of a program's code takes as long as so many operations. */
#define RD_BRIEF_WORK 1e6

/* The cost of sorting a row, in operations for each element; and of comparing an element with the
 * last one that is kept. */
#define RD_SORT_OPS  16.F
#define RD_STRIP_OPS 1.F

enum { RD_MAX_TERMS = RD_MAX_RANK, RD_MAX_CALL = 8 };

/* One addend of an address or position: coef times the index of an axis, or times the value of a
 * register (gather). */
typedef struct rd_addend {
    int32_t axis;  /* -1: reg counts               */
    int32_t reg;   /* i64 register holding an index */
    bool    local; /* index counted from the start of the axis' current range: rows and tiles in
                    * scratch */
    int64_t coef;
} rd_addend;

/* offset + sum of addends: elements from the slot's base. */
typedef struct rd_address {
    int32_t   slot; /* the buffer; unused in positions */
    rd_dtype  type; /* of the element in memory        */
    int64_t   offset;
    int32_t   n_add;
    rd_addend add[RD_MAX_TERMS];
} rd_address;

/* True if the address has an index from a register in it (axis < 0): the access is a gather or a
 * scatter. */
static inline bool rd_has_registers(const rd_address *at)
{
    bool found = false;

    for (int32_t k = 0; k < at->n_add; k++)
        found |= at->add[k].axis < 0;
    return found;
}

typedef enum rd_loop_kind {
    RD_LOOP_EACH, /* visits each index of the axis' current range                          */
    RD_LOOP_TILE  /* visits ranges of `step` indices; loops over the axis inside visit one  */
} rd_loop_kind;

/* A bound of a mask that compares indices.  The mask is true where the bound is not negative:
 * offset + sum of coef times the index of an axis, or times a register that is made before the
 * loop. */
enum { RD_BOUND_AXES = 6, RD_BOUND_REGS = 2 };
typedef struct rd_bound {
    int64_t offset;
    int32_t n_add; /* 0: there is no such bound */
    int32_t axis[RD_BOUND_AXES];
    int64_t coef[RD_BOUND_AXES];
    int32_t n_reg, reg[RD_BOUND_REGS];
    int64_t reg_coef[RD_BOUND_REGS]; /* coefficient of each register */
} rd_bound;

/* Bounds of a loop by a mask.  Where a bound is negative for all indices of the loops inside,
 * the body does nothing but take masked-out elements, so the loop can skip the index.  `low` has
 * coef 1 of the loop's own axis, `high` -1.  Whoever skips indices still visits one more index,
 * if there is one: a sum of -0 that adds a masked-out 0 is 0. */
typedef struct rd_bounds {
    rd_bound low, high;
    int32_t  mask; /* a register that is true exactly where both hold, -1: none is */
    /* Or a list of ranges, -1: none.  At `list` bytes behind the slot's base lie i64s: first the
     * starts of all lists, lists + 1 numbers, then the first index and the end of each range.
     * The address list_at, along another axis, has ascending clusters.  List c + d belongs to
     * indices in clusters c to d, of two at most.  Each list has at least one range, and ranges
     * ascend. */
    int32_t list_at, list_slot;
    int64_t list, lists;
    double  share; /* of all indices those that are left, about: above 0, at most 1 */
} rd_bounds;

/* A loop of the program.  rd_program_tree() fills the fields from `begin` to `next`. */
typedef struct rd_loop {
    rd_loop_kind     kind;
    int32_t          axis;         /* its index is that of this axis */
    int64_t          extent, step; /* of the axis; of TILE, indices of a tile */
    bool             backwards;    /* a reverse scan runs along it                     */
    int32_t          begin, end;   /* its LOOP and its END; its body is between them   */
    int32_t          parent;       /* the loop that holds it, -1                       */
    int32_t          first;        /* the first loop in its body, -1                   */
    int32_t          next;         /* the next loop in the same body, -1               */
    const rd_bounds *bounds;       /* bounds by a mask; NULL: none                     */
    /* a row of places (nest/sparse_rows.c): addresses of its first index and of the one behind its
     * last; else 0 and 0 */
    int32_t row_from, row_to;
} rd_loop;

/* True if the loop visits the stored elements of one row of a sparse array: its bounds are read
 * from memory (row_from, row_to). */
static inline bool rd_is_sparse_row(const rd_loop *loop)
{
    return loop->row_from != loop->row_to;
}

/* A reduction or scan: everything that decides its bits.
 *
 * The combine tree.  Element p of the lane position belongs to lane p mod lanes, at step line *
 * ceil(lane_extent / lanes) + p / lanes.  A block is `steps` consecutive steps; each lane folds
 * its block from the left.  Blocks combine as an aligned binary tree over their numbers: node
 * (level, k) merges (level-1, 2k) and (level-1, 2k+1); absent nodes are skipped.  At the end
 * lane l merges lane l + h for h = lanes/2 .. 1.  Reducers with a row of RD_LANES_ROW
 * (core/reducers.def) instead align all lanes to one of them and add.  Nodes depend on element
 * positions only, so threads, tasks and tiles cannot change a bit.
 *
 * Sums of f32 add in f32 within a block; nodes and lanes are f64.  But a fold of one step, in
 * which no lane adds anything, has six roundings at most, and adds its lanes in f32.
 *
 * Groups.  With n_group > 0, an element goes to cell + label * apart.  Its label is register d
 * of its STEP; an element with a label outside [0, n_group) goes nowhere.  CLOSE is in a loop
 * over the groups, and the axis of that loop is in `cell`.  Around the STEP is no such loop, and
 * the index is 0.  All cells of the groups share a block, whichever elements come: a block
 * without elements of a group is a node of nothing.  Blocks are long, so their ends, which go
 * through all groups, cost little.
 *
 * A scan has one lane.  Its result at step i of a block is the blocks before, folded from the
 * left, merged with the block's prefix [0, i].  Sums of floats add the blocks before by the
 * tree, as kernels/math/prefix_sums.h says.  RD_PREFIX_LEFT: elements of a prefix fold from the
 * left. RD_PREFIX_TREE: elements combine as blocks do, as an aligned binary tree over their
 * numbers, and the nodes of a prefix combine from the right: 7 elements are merge(0..3,
 * merge(4..5, 6)). The block is its last prefix.  Vectors compute it in log2(steps) passes
 * (Sklansky, 1960, "Conditional-sum addition logic"); only for reducers with a step that is a
 * merge. */
typedef enum rd_prefix { RD_PREFIX_LEFT, RD_PREFIX_TREE } rd_prefix;

typedef struct rd_fold {
    rd_reducer_id     reducer;
    rd_law            law;  /* which orders of elements are allowed */
    rd_dtype          type; /* of x, the accumulator's                                    */
    rd_dtype          out;  /* of the results                                             */
    bool              scan, exclusive, reverse;
    rd_prefix         prefix;      /* of a scan                                              */
    bool              identity;    /* min, max of nothing: the extreme of the type, not NaN  */
    double            ddof;        /* var and std divide by the number of elements less this */
    const rd_reducer *user;        /* a copy in the plan, or NULL: a built-in reducer            */
    int32_t           n_out;       /* results of a cell */
    int32_t           lanes;       /* 64, 32 or 1                                         */
    int64_t           steps;       /* 64; INT64_MAX: one block, a serial fold             */
    int64_t           lane_extent; /* elements along the lane position                    */
    int64_t           n_block;     /* blocks in all                                       */
    rd_address lane, lane_line;    /* positions (slot unused); which line of lane_extent elements */
    rd_address index;              /* flat C-order index over the reduced axes            */
    rd_address cell;               /* the number of the accumulator, within the current tile */
    int64_t    n_cell;             /* accumulators at a time                              */
    int64_t    n_group;            /* groups; 0: no group-by, every element goes to `cell` */
    int64_t    group_stride;       /* the stride of groups, in cells                      */
    /* labels of neighbours are equal or close; no neighbours have equal labels.  For speed only */
    bool of_pattern, no_equal_neighbours;
    /* byte offset behind the first label: where the elements of each group begin, and the end,
     * if labels lie in memory and ascend; else 0.  For speed only */
    int64_t begins;
    bool    by_rows; /* its elements are a row of one such group (nest/sparse_rows.c)             */
    bool    split;   /* tasks may share its reduced axis: they combine partials            */
    bool    loose;   /* shares may begin within a block: any grouping has the same bits    */
    bool    first; /* argmax or argmin of bools that come by rising place: the first best decides */
} rd_fold;

/* True if there is an absorbing element, after which no other changes the result, as `true` for
 * any(); *end gets it. terminal says which: 0 or 1 for bools, the least or the greatest int of
 * the type, or none. Floats have no such end, as a NaN may follow. An argmax or argmin of bools
 * that come in order (`first`) ends at the first best element. */
static inline bool rd_fold_end(const rd_fold *f, rd_word *end)
{
    const bool later_is_better = rd_reducer_places(f->reducer) && !f->first;
    const int  terminal = later_is_better ? RD_ENDS_NEVER : rd_reducer_table[f->reducer].terminal;

    *end = (rd_word){ .u64 = terminal == 1 };
    if (terminal != RD_ENDS_LEAST && terminal != RD_ENDS_MOST)
        return terminal != RD_ENDS_NEVER;
    *end = rd_word_end(f->type, terminal == RD_ENDS_MOST);
    return rd_dtype_kind(f->type) != RD_KIND_FLOAT;
}

/* True if a loop over the fold may end before its last element, because those so far decide the
 * result (early exit). A user's reducer says so by its function `done`; scans and group-bys need
 * all elements. */
static inline bool rd_fold_decides(const rd_fold *f)
{
    rd_word end;

    return f->user ? f->user->done && !f->scan && !f->n_group : rd_fold_end(f, &end);
}

/* True if the nodes of the combine tree, results of finished blocks, are wider than elements:
 * f64 for sums of f32. Scans have other words. In a fold of one step each lane (partial
 * accumulator) takes one element and adds nothing, so the few additions of lanes stay in f32. */
static inline bool rd_fold_widens(const rd_fold *f)
{
    const bool one_step = f->lanes > 1 && f->lane_line.n_add == 0 && f->lane_extent <= f->lanes;

    return rd_reducer_adds(f->reducer) && rd_dtype_class(f->type) == RD_CLASS_f32 && !one_step &&
           !f->scan;
}

/* True if a float sum over an empty group of a group-by, or an empty sparse row, is +0, and not
 * the identity -0. Then sums of -0s are +0, too, and code that adds into accumulators need not
 * know which of them have met an element. */
static inline bool rd_fold_begins_with_0(const rd_fold *f)
{
    return (f->n_group || f->by_rows) && rd_reducer_is_sum(f->reducer) &&
           rd_dtype_kind(f->type) == RD_KIND_FLOAT;
}

/* True for running sums of floats: they keep the sum of all blocks before as a pair hi + lo, so
 * that errors do not grow with the number of blocks (kernels/math/prefix_sums.h). */
static inline bool rd_fold_has_pairs(const rd_fold *f)
{
    return f->scan && rd_reducer_adds_elements(f->reducer) &&
           rd_dtype_kind(f->type) == RD_KIND_FLOAT;
}

/* True if the result has the same bits however elements are grouped; scans count, too. */
bool rd_fold_any_grouping(const rd_fold *f);

/* A sort of a row: n elements side by side, from an address on; n_out results likewise, in other
 * memory.
 *
 * The row may come in strips: then at `from` lie the elements in the current range of an axis, at
 * most `most`.  In `state` (kernels/first_few.h) are the first few of the elements so far, and
 * behind the last strip the results are written. */
typedef struct rd_sorting {
    const rd_sort_facts *facts;
    rd_dtype             type, out; /* of elements, of results */
    int64_t              n, n_out;  /* elements of the row; results */
    int32_t              from, to;  /* addresses */
    int64_t              most;      /* 0: the row is whole, and the fields behind mean nothing */
    int32_t              state;     /* address, in words of 64 bits                            */
    int32_t              axis;      /* the axis along the row                                  */
    int64_t              kept;      /* results that the state holds                            */
    bool reads_earlier_state;       /* the state is an earlier sort's, which takes the strips  */
} rd_sorting;

/* Returns how many elements of the row come at a time: a strip of at most `most`, or the whole
 * row. */
static inline int64_t rd_sorting_length(const rd_sorting *s)
{
    return s->most ? s->most : s->n;
}

/* Returns the estimated operations for the elements that come at a time: comparing them with
 * those that a strip's state keeps, or sorting a whole row. */
static inline double rd_sorting_ops(const rd_sorting *s)
{
    return (double)rd_sorting_length(s) * (s->most ? RD_STRIP_OPS : RD_SORT_OPS);
}

/* A user's function on registers. */
typedef struct rd_call {
    /* a function of one element, with one or two operands; or of n elements; NULL: not this one */
    float (*f32_1)(float);
    float (*f32_2)(float, float);
    double (*f64_1)(double);
    double (*f64_2)(double, double);
    void (*f32)(int64_t n, const float *const *in, float *out);
    void (*f64)(int64_t n, const double *const *in, double *out);
    rd_block_fn *block;                 /* ... of any types, which may fail       */
    void        *user;                  /* the first argument of `block`          */
    const char  *name;                  /* for people; NULL: it has none          */
    const char  *names, *body;          /* of f32 or f64, as text: see rd_fn; or NULL */
    int32_t      n_in, in[RD_MAX_CALL]; /* operands: their number, their registers */
    rd_dtype     in_type;               /* type of the operands                   */
} rd_call;

typedef enum rd_inst_kind {
#define RD_INST(name, names, makes, reads) RD_I_##name,
#include "kernels/insts.def"
    RD_N_INST
} rd_inst_kind;

/* An instruction.  Registers that it does not use are -1. */
typedef struct rd_inst {
    rd_inst_kind kind;
    rd_dtype     type, from; /* of dst; of the operands of MAP tests, CAST, INDEX             */
    rd_op        op;
    int32_t      dst, a, b, c; /* registers: the result, the operands                         */
    int32_t      arg;          /* number of what insts.def names: a loop, an address, a fold ... */
    int32_t      d;            /* STEP of a fold with groups: the register of the label       */
    int32_t      loop; /* the loop that holds it, -1; of LOOP and END the loop around theirs */
    rd_word      value;
} rd_inst;

/* Tuning parameters of a device's kernels, a row of its table each: only speed depends on them.
 * 0: the device chooses by its rule. */
enum { RD_MOST_TUNING = 16 };
typedef struct rd_tuning {
    int16_t at[RD_MOST_TUNING];
} rd_tuning;

/* A loop program.  The evaluator fills all up to `exact`; prepare() of the backend fills the rest.
 */
typedef struct rd_program {
    int32_t n_inst, n_loop, n_address, n_fold, n_call, n_sorting, n_reg, n_axis;
    /* inst[0..body) runs once per task, [body..tail) on each task's share, [tail..) once at the
     * end */
    int32_t     body, tail;
    rd_inst    *inst;
    rd_loop    *loop;
    rd_address *address;
    rd_fold    *fold;
    rd_call    *call;
    rd_sorting *sorting;
    int64_t    *axis_extent; /* n_axis of them                                                */
    int32_t     root;        /* the axis that tasks share, -1: none                           */
    int64_t     grain;       /* shares begin at multiples of it                               */
    int64_t     most;        /* most tasks; 0: any number                                     */
    bool        serial;      /* only one task: order forbids more, or tasks would read twice  */
    /* some indices of the root axis take longer, as masks bound loops inside, and tasks combine
     * nothing. Masks of blocks do not count: they want long tasks for their clusters */
    bool        uneven;
    int64_t     step;          /* indices of the root axis that a body runs on at a time; 0: all  */
    int32_t     n_scratch;     /* scratch slots, private to a task: first_scratch and following   */
    int32_t     first_scratch; /* before: leaves, results, arrays between stages */
    int64_t    *scratch_bytes; /* of each scratch slot */
    int8_t      tile;    /* tiles have buffers of 2^tile times the usual bytes                */
    double      work;    /* points times operations: decides whether a second thread pays     */
    bool        brief;   /* in: it may run without compiled code; after prepare(): it does    */
    int32_t     device;  /* the device that runs it, of a backend with several ...            */
    int32_t     devices; /* ... and how many from that one on may share the work; 0, 1: none  */
    rd_tuning   tuning;  /* device: parameters that were asked for, or measured               */
    uint64_t    key;     /* device: equal for programs that share measurements                */
    bool        fast;    /* f32 functions may be those of a GPU's units (fast.cuh)            */
    bool        exact;   /* no library may add in an order of its own                         */
    const void *code;    /* what the backend made of it; never changed after prepare()        */
    const void *product; /* or this, if it is a matrix product that a library computes        */
    const void *nest;    /* the compiled loop nest, which may still be compiling              */
    bool        by_rows; /* the nest runs by rows, and shares combine nothing ...             */
    int64_t     by_rows_bytes; /* ... and needs so many bytes of a task's state               */
    bool        one_by_one; /* the rows of each index of the root axis are known at run time only */
    bool        timed;      /* the backend learns from the times of runs, by ran()         */
    int64_t     state_bytes; /* bytes of a task's state                                     */
    const void *whole;       /* a compiled nest for a run as one task                       */
    int64_t     whole_bytes; /* bytes of a task's state that whole() needs                  */
} rd_program;

/* Returns the most tasks that begin at multiples of a grain. */
int64_t rd_program_shares(const rd_program *p, int64_t grain);

/* Returns how often all tasks together run an instruction, if no loop is left early. */
double rd_program_times(const rd_program *p, int32_t inst);
/* True if it is a STEP or SCAN that computes an exponential of each element. */
bool rd_takes_exponential(const rd_program *p, const rd_inst *inst);

/* True as rd_program.uneven says. */
bool rd_program_is_uneven(const rd_program *p);

/* True if it is a transcendental function: exp, sin, pow ... */
bool rd_inst_is_function(const rd_inst *inst);

/* The work of a program, counted: all rounds of all loops, without early exits. */
typedef struct rd_work {
    double elements;      /* that its innermost loops visit                            */
    double operations;    /* maps, conversions, steps of folds                         */
    double functions;     /* of these, transcendental ones: exp, sin, pow ...          */
    double calls;         /* of users' functions                                       */
    double read, written; /* bytes of memory; what comes again from a cache but once   */
    double additions;     /* operations and functions, as so many additions            */
    double scanned;       /* steps of scans                                            */
    double instructions;  /* all                                                       */
} rd_work;
/* Counts the work.  `bounded`: loops skip what their bounds say, as compiled nests do. */
rd_work rd_program_work(const rd_program *p, bool bounded);

/* Zeroed, 16-aligned memory that lives as long as the program; NULL without memory. */
typedef void *rd_get_fn(void *pool, size_t bytes);

/* A task of a run: its private memory, its share, and its report. */
typedef struct rd_task {
    void *const *slot;     /* base addresses; scratch slots are the task's own                */
    char        *state;    /* rd_program.state_bytes of them: registers, the folds' cells         */
    int64_t      lo, hi;   /* its share of the root axis                                      */
    const void  *strategy; /* the backend's way to run the stage this time                    */
    uint32_t     warnings; /* RD_WARN_...                                                     */
    rd_status    status;   /* RD_OK, or why it stopped                                        */
    char         sentence[256]; /* the error for people */
    int64_t      loads; /* elements read from slots that are not scratch                   */
} rd_task;

/* The form in which a prepared program runs. */
typedef enum rd_form_kind {
    RD_FORM_PRODUCT,  /* a matrix product                                         */
    RD_FORM_TOTAL,    /* one call of a kernel                                     */
    RD_FORM_TILES,    /* instruction by instruction on rows of elements           */
    RD_FORM_NEST,     /* compiled loops                                           */
    RD_FORM_REFERENCE /* instruction by instruction on one element after another  */
} rd_form_kind;

/* The state of the compiled loops. */
typedef enum rd_form_state {
    RD_LOOPS_NONE, /* there will be none                                         */
    RD_LOOPS_HERE,
    RD_LOOPS_COMING, /* they are being loaded or compiled                          */
    RD_LOOPS_LATER,  /* once runs have done `left` operations without              */
    RD_LOOPS_STORED, /* only if some process has compiled them                     */
    RD_LOOPS_SLOWER  /* they were measured, and took longer than tiles             */
} rd_form_state;

/* The part of a program that runs element by element.  It is a slow form if each element takes
 * many times as long as by vectors. */
enum { RD_SLOW_NAME = 112 };
typedef struct rd_slow {
    char        what[RD_SLOW_NAME]; /* "argmin with a mask"; "": nothing                         */
    const char *how;                /* "runs element by element, by the reference"               */
    const char *why, *remedy;
    double      elements; /* how many                                                  */
    double      each;     /* nanoseconds of one, about                                 */
} rd_slow;

/* How a prepared program runs, and what of it is slow. */
typedef struct rd_form {
    rd_form_kind  kind;      /* in the end                                                 */
    rd_form_kind  meanwhile; /* until the loops are compiled; else the same                */
    rd_form_state loops;
    double        left; /* operations, if `loops` is RD_LOOPS_LATER */
    const char   *why;  /* not otherwise; NULL: nothing faster is known               */
    rd_slow       slow, slow_meanwhile;
} rd_form;

/* Fewer elements than these are never slow. */
#define RD_SLOW_ELEMENTS    1e5
/* Fewer nanoseconds for each are a dependency chain in a compiled loop, or a kernel: a note, no
 * slow form. */
#define RD_SLOW_NANOSECONDS 5

/* True if a part of the program runs element by element (`what` is not empty) and takes so long
 * for each element that users are told. */
static inline bool rd_is_slow(const rd_slow *slow)
{
    return slow->what[0] && slow->each >= RD_SLOW_NANOSECONDS;
}

/* Functions of a backend with memory of its own (a device).  Calls that can fail write a
 * sentence to `why`, of RD_DEVICE_TEXT bytes.  A backend without such a feature has NULL for:
 * keeps_folds_together, windows, records, count_equal, measure and tuning_read, with the functions
 * that belong to each.  It also has NULL for get, put, put_late and across, if no data of callers
 * lie there. */
enum { RD_DEVICE_TEXT = 256 };
typedef struct rd_queue      rd_queue;      /* what is asked of a device, in order */
typedef struct rd_submission rd_submission; /* what one run asks of it             */
typedef struct rd_recording  rd_recording;  /* of stages, to be asked again      */

/* Data of a run that stay in the host's memory: the device has a part at a time. */
typedef struct rd_device_host {
    char *const *at; /* by slot: its base; NULL: it is on the device */
    /* called now and then with the share of the stage that is done; false: the run is cancelled */
    bool (*tell)(void *user, double done);
    void *user;
} rd_device_host;

/* The result of a measurement of a stage: the fastest parameters, the seconds with them, and
 * with the rule's. */
typedef struct rd_measured {
    rd_tuning tuning;
    double    seconds, by_rule;
} rd_measured;

/* Rates of a device for each second: bytes to it, from it, and of its memory; operations of 4
 * and of 8 bytes.  `room`: the bytes of its memory. */
typedef struct rd_device_rates {
    double up, down, memory, floats, doubles, room;
} rd_device_rates;

typedef enum rd_device_end { RD_DEVICE_FAILED, RD_DEVICE_FULL, RD_DEVICE_CANCELLED } rd_device_end;

typedef struct rd_device_table {
    int32_t (*count)(const char **why);              /* devices; 0: none, and why              */
    void (*describe)(rd_text *text, int32_t device); /* its name, memory, driver               */
    const char *(*refuses)(const rd_program *p); /* a prepared program: why it cannot run; NULL */
    /* True if the folds of a program that is not prepared may share a stage.  Where one fold
     * reduces an axis of the same loops that another keeps, a backend may want each in loops of
     * its own. */
    bool (*keeps_folds_together)(const rd_program *p, rd_get_fn *get, void *pool);
    /* opens a queue; stream: the caller's, or NULL.  NULL: none, *full: for lack of memory */
    rd_queue *(*open)(int32_t device, void *stream, bool *full, char *why);
    void (*close)(rd_queue *queue);
    /* waits until all is done; reports what detached runs have found */
    bool (*wait)(rd_queue *queue, rd_task *report, char *why);
    /* allocates memory; NULL: none, *full: the device has no more.  Detached runs may still use
     * memory that put() gives back */
    void *(*get)(rd_queue *queue, int64_t bytes, bool *full, char *why);
    void (*put)(rd_queue *queue, void *at);
    /* frees memory that has outlived its queue: nobody uses it */
    void (*put_late)(int32_t device, void *at);
    /* copies to the device, from it, and within it.  A copy from it is complete after the next
     * synchronise(), end() or wait() */
    bool (*up)(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
    bool (*down)(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
    bool (*across)(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
    bool (*synchronise)(rd_queue *queue, char *why);  /* all that was asked is done */
    int64_t (*room)(rd_queue *queue, int64_t wanted); /* bytes it has, where so many are wanted */
    /* true if these slots of a stage may stay in the host's memory (zero-copy windows) */
    bool (*windows)(const rd_program *p, rd_queue *queue, const bool *slots);
    /* A run. borrow() gives it memory of its own; run() submits a stage (host: NULL if all data
     * are on the device). end() waits and reports a status with its sentence, and warnings.
     * detach() returns at once: the run goes on by itself. */
    rd_submission *(*begin)(rd_queue *queue, bool *full, char *why);
    void *(*borrow)(rd_submission *s, int64_t bytes, bool *full, char *why);
    bool (*run)(const rd_program *p, rd_submission *s, void *const *slot,
                const rd_device_host *host, rd_device_end *end, char *why);
    bool (*end)(rd_submission *s, rd_task *report, char *why);
    bool (*detach)(rd_submission *s, rd_task *report, char *why);
    /* Recordings (CUDA graphs): stages of a run that one call submits again. records() returns
     * how many calls make one recording; 0: it cannot be recorded; 2: two or more. record()
     * records what the submission is asked from now on, without running it; NULL: it cannot.
     * recorded() ends it; false: forget it. replay() submits it to the queue; the queue is
     * waited for before the next replay, and before forget(). */
    int32_t (*records)(const rd_program *p);
    rd_recording *(*record)(rd_queue *queue, rd_submission **s, char *why);
    bool (*recorded)(rd_recording *r, char *why);
    bool (*replay)(rd_recording *r, rd_queue *queue, char *why);
    void (*forget)(rd_recording *r); /* NULL is allowed */
    /* the number of equal devices from this one on */
    int32_t (*count_equal)(int32_t device);
    /* how many devices share the work of a prepared program whose data are all in the host's
     * memory; *why it is one: part of a sentence */
    int32_t (*shares)(const rd_program *p, const char **why);
    /* runs all of a stage on so many queues, waits and reports */
    bool (*partition)(const rd_program *p, rd_queue *const *queue, int32_t n,
                      const rd_device_host *host, rd_task *report, rd_device_end *end, char *why);
    /* Measures the fastest tuning of a stage by runs on its data, which store their results.
     * Parameters that the program sets stay.  False: it cannot be measured now; why.  Programs
     * with equal keys share the result. */
    bool (*measure)(const rd_program *p, rd_queue *queue, void *const *slot, rd_get_fn *get,
                    void *pool, rd_measured *found, char *why);
    uint64_t (*key)(const rd_program *p);
    /* measures the rates in some tenths of a second; a key that devices of one name share; 0:
     * there is none */
    bool (*rates)(rd_queue *queue, rd_device_rates *rates, char *why);
    uint64_t (*name_key)(int32_t device);
    /* writes a tuning as "vector=8,ahead=4"; reads it, with a sentence for a word that is
     * unknown */
    void (*tuning_text)(rd_text *text, const rd_tuning *tuning);
    bool (*tuning_read)(const char *text, rd_tuning *tuning, char *why);
} rd_device_table;

struct rd_residue;

/* Texts of a prepared program: its form, its loop tree (kernels/loop), the C text that is
 * compiled, or what runs element by element. */
typedef enum rd_description {
    RD_DESCRIBE_FORM,
    RD_DESCRIBE_LOOPS,
    RD_DESCRIBE_CODE,
    RD_DESCRIBE_SCALAR
} rd_description;

/* Functions of a backend.  Backends are chosen by probing, so the evaluator has no #ifdef. */
typedef struct rd_backend_table {
    const char *name;
    bool (*probe)(void);                                        /* can it run here? */
    bool (*prepare)(rd_program *p, rd_get_fn *get, void *pool); /* once, before any run */
    /* the strategy of a run, the same for all its tasks; NULL: there is one strategy */
    const void *(*strategy)(const rd_program *p);
    /* reports the time of a whole run of a program that is `timed`; NULL: the backend learns
     * nothing */
    void (*ran)(const rd_program *p, const void *strategy, int threads, double seconds);
    void (*head)(const rd_program *p, rd_task *task); /* inst[0..body) */
    /* inst[body..tail) on [lo, hi): the task's share, or its next step */
    void (*body)(const rd_program *p, rd_task *task);
    /* combines the trees of the following share */
    void (*join)(const rd_program *p, rd_task *into, const rd_task *next);
    void (*tail)(const rd_program *p, rd_task *task); /* inst[tail..) */
    const char *(*kernels)(void);                     /* what programs prepared now run on */
    void (*tiers)(rd_text *text, const rd_program *p, int32_t n); /* how n programs run, in words */
    /* writes a text of a prepared program, as lines */
    void (*describe)(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool);
    const char *(*library)(const rd_program *p); /* what else than loops computes it; NULL:
                                                  * nothing */
    /* true if there is a library for matrix products; false: *why, or NULL if it never has one */
    bool (*multiplies)(const char **why);
    /* runs a stage that is one task; false: head, body and tail run it, and find the error in
     * the task */
    bool (*whole)(const rd_program *p, rd_task *task);
    bool (*is_here)(const rd_program *p); /* will whole() be true now, but for an error? */
    /* the form of a prepared program, and which of it is slow: nothing else decides that.
     * False: no memory */
    bool (*form)(const rd_program *p, rd_get_fn *get, void *pool, rd_form *form);
    /* estimated seconds of a run in that form, with what is slow or NULL, on so many threads */
    double (*seconds)(const rd_program *p, const rd_work *cost, rd_form_kind kind,
                      const rd_slow *slow, int threads);
    /* estimated nanoseconds of a program that is not prepared, at its best on one thread, to
     * compare plans.  False: no memory.  NULL: nobody asks this backend */
    bool (*estimate)(const rd_program *p, rd_get_fn *get, void *pool, double *ns);
    const char *(*speeds)(void); /* what estimates are made of, in words */
    /* counts what a prepared program does in that form, and what of it element by element
     * (scalar_residue.h); NULL: unknown.  False: no memory */
    bool (*residue)(const rd_program *p, rd_form_kind kind, rd_get_fn *get, void *pool,
                    struct rd_residue *residue);
    const rd_device_table *device; /* NULL: programs run in this process's memory, by tasks */
} rd_backend_table;

#define RD_BACKEND(NAME, name, title) extern const rd_backend_table rd_backend_##name;
#include "core/backends.def"

void rd_program_text(rd_text *text, const rd_program *p);
/* A row of insts.def. */
typedef enum rd_inst_names {
    RD_NAMES_NONE,
    RD_NAMES_LOOP,
    RD_NAMES_ADDRESS,
    RD_NAMES_CALL,
    RD_NAMES_FOLD,
    RD_NAMES_SORTING
} rd_inst_names;

typedef struct rd_inst_row {
    rd_inst_names names;
    int           makes, reads;
} rd_inst_row;

extern const rd_inst_row rd_inst_table[RD_N_INST];

/* The number of registers that an instruction makes, from dst on; the registers that it reads,
 * each once, and how many. */
int32_t rd_inst_makes(const rd_program *p, const rd_inst *inst);
enum { RD_MOST_READ = 4 + RD_MAX_CALL + RD_MAX_TERMS };
int32_t rd_inst_reads(const rd_program *p, const rd_inst *inst, int32_t *reg);

/* The coefficient of an axis in a position; the number of positions: the last one, and 1. */
int64_t rd_coef(const rd_address *at, int32_t axis);
int64_t rd_positions(const rd_program *p, const rd_address *at);
/* True if further rounds of each loop around an instruction bring greater positions. */
bool rd_rises(const rd_program *p, int32_t inst, const rd_address *at);

/* True if an instruction of that kind, a LOAD or a STORE, names the slot. */
bool rd_program_accesses(const rd_program *p, rd_inst_kind kind, int32_t slot);

/* The most indices of an axis that its loops visit at a time; the rounds of a loop; the axis of
 * the rows whose places a loop visits. */
int64_t rd_most_indices(const rd_program *p, int32_t axis);
int64_t rd_trips(const rd_program *p, int32_t loop);
int32_t rd_axis_of_rows(const rd_program *p, const rd_loop *row);

/* Sets the tree of loops from the LOOP and END instructions. */
void rd_program_tree(rd_program *p);
#endif
