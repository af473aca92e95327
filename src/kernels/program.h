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

/* Stages with less work than this many operations stay on one thread.
 * A parallel region costs about a microsecond, a disturbed one several, and should not be a tenth
 * of what it divides: about 20 microseconds at 10 operations each nanosecond. */
#define RD_SMALL_WORK 200e3
/* The text of a program's code takes as long as so many operations. */
#define RD_BRIEF_WORK 1e6

/* What an element of a row that is put in order costs, in operations. */
#define RD_SORT_OPS 16.F

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
    int32_t   slot;
    rd_dtype  type;
    int64_t   offset;
    int32_t   n_add;
    rd_addend add[RD_MAX_TERMS];
} rd_address;

/* Do registers count in it? */
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

/* Where a mask of places is true: offset + sum of coef times the index of an axis, or times a
 * register that is made before the loop, is not negative. */
enum { RD_BOUND_AXES = 6, RD_BOUND_REGS = 2 };
typedef struct rd_bound {
    int64_t offset;
    int32_t n_add; /* 0: there is no such bound */
    int32_t axis[RD_BOUND_AXES];
    int64_t coef[RD_BOUND_AXES];
    int32_t n_reg, reg[RD_BOUND_REGS];
    int64_t reg_coef[RD_BOUND_REGS];
} rd_bound;

/* Indices of a loop at which its body changes nothing but what a masked-out element would: where a
 * bound is negative for all indices of the loops inside.  `low` has coef 1 of the loop's own axis,
 * `high` -1.  Who leaves them out visits one index beyond, if there is one: a sum of -0 that adds a
 * masked-out 0 is 0. */
typedef struct rd_bounds {
    rd_bound low, high;
    int32_t  mask; /* a register that is true exactly where both hold, -1: none is */
    /* Or ranges of a list.  `list` bytes behind the slot's base, i64, are so many + 1 numbers as
     * there are lists, and from these on first indices and ends of all ranges.  The address
     * list_at, along another axis, has ascending clusters: list c + d is of what stands in clusters
     * c to d, of two at most.  Each list has a range at least, and these ascend.  -1: no list */
    int32_t list_at, list_slot;
    int64_t list, lists;
    double  share; /* of all indices those that are left, about: above 0, at most 1 */
} rd_bounds;

typedef struct rd_loop {
    rd_loop_kind     kind;
    int32_t          axis;
    int64_t          extent, step;
    bool             backwards;  /* a reverse scan runs along it */
    int32_t          begin, end; /* instructions: its LOOP, its END; between them its body */
    int32_t          parent;     /* the loop that holds it, -1 */
    int32_t          first;      /* the first loop in its body, -1 */
    int32_t          next;       /* the next one in the same body, -1 */
    const rd_bounds *bounds;     /* that a mask sets; NULL: none */
    /* Of a row (nest/rows.c): addresses of its first index and of the one behind its last, else
     * 0 and 0 */
    int32_t row_from, row_to;
} rd_loop;

static inline bool rd_is_row(const rd_loop *loop)
{
    return loop->row_from != loop->row_to;
}

/* A reduction or scan: everything that decides its bits.
 *
 * The combine tree.  Element p of the lane position belongs to lane p mod lanes, at step outer *
 * ceil(lane_extent / lanes) + p / lanes.  A block is `steps` consecutive steps; each lane folds its
 * block from the left.  Blocks combine as an aligned binary tree over their numbers: node (level,
 * k) merges (level-1, 2k) and (level-1, 2k+1), absent ones are skipped.  At the very end lane l
 * merges lane l + h for h = lanes/2 .. 1, but for reducers that have a row of RD_LANES_ROW
 * (core/reducers.def), whose lanes go by one of them and add up.  Tree nodes depend on element
 * positions only, so neither threads nor tasks nor tiles can change a bit.
 *
 * Sums of f32 add in f32 within a block; what it comes to is f64 up the tree and across the lanes.
 * But a fold of one step, in which no lane adds anything, has six roundings at most, and adds its
 * lanes in f32.
 *
 * Groups.  Of n_group > 0 an element goes to cell + label * apart, its label being register d of
 * its STEP, and nowhere if that is not in [0, n_group).  CLOSE is in a loop over the groups, whose
 * axis is in `cell`; around the STEP is no such loop, and the index 0.  All cells of the groups are
 * at the same block, whichever elements come: a block without elements of a group is a node of
 * nothing.  Blocks are long, so that ends of blocks, which go through all groups, cost little
 * beside them.
 *
 * A scan has one lane.  Its result at step i of a block is what the blocks before come to, folded
 * from the left, merged with the block's prefix [0, i].  Sums of floats add the blocks before by
 * the tree, as kernels/math/so_far.h says.  RD_PREFIX_LEFT: elements of a prefix fold from the
 * left. RD_PREFIX_TREE: elements combine as blocks do, as an aligned binary tree over their
 * numbers, and the nodes of a prefix from the right: 7 elements are merge(0..3, merge(4..5, 6)).
 * The block is its last prefix.  Vectors compute it in log2(steps) passes (Sklansky, 1960,
 * "Conditional-sum addition logic"); only for reducers whose step on an element is merge. */
typedef enum rd_prefix { RD_PREFIX_LEFT, RD_PREFIX_TREE } rd_prefix;

typedef struct rd_fold {
    rd_reducer_id     reducer;
    rd_law            law;
    rd_dtype          type; /* of x, the accumulator's                                   */
    rd_dtype          out;  /* of the results                                            */
    bool              scan, exclusive, reverse;
    rd_prefix         prefix;   /* of a scan                                                  */
    bool              identity; /* min, max of nothing: the extreme of the type, not NaN      */
    double            ddof;
    const rd_reducer *user; /* copied into the plan; RD_RED_user only                     */
    int32_t           n_out;
    int32_t           lanes;       /* 64, 32 or 1                                               */
    int64_t           steps;       /* 64; INT64_MAX: one block, a serial fold                   */
    int64_t           lane_extent; /* elements along the lane position                          */
    int64_t           n_block;     /* blocks in all                                             */
    rd_address        lane, outer; /* positions (slot unused)                                   */
    rd_address        index;       /* flat C-order index over the reduced axes                  */
    rd_address        cell;        /* which of the accumulators, from the open tile             */
    int64_t           n_cell;      /* accumulators held at once                                 */
    int64_t           n_group;     /* 0: every element goes to `cell`; else to that of its label */
    int64_t           apart;       /* cells of one group and the next                          */
    /* labels of neighbours are one, or near; and none are one: of speed alone */
    bool of_pattern, differ;
    /* labels lie in memory and ascend; so far behind the first is where the elements of each group
     * begin, and the end; 0: not so.  Of speed alone */
    int64_t begins;
    bool    by_rows; /* elements are those of one group of such (nest/rows.c) */
    bool    split;   /* tasks may share its reduced axis: partial trees are joined */
    bool    loose;   /* and begin within a block, as any grouping has the same bits */
    bool    first; /* argmax or argmin of bools that come by rising place: the first best decides */
} rd_fold;

/* Is there an element after which no other changes the result?  Then it in *end: a bool, or the
 * least or the greatest int.  Not of floats, as a NaN may come behind it. */
static inline bool rd_fold_end(const rd_fold *f, rd_word *end)
{
    const int terminal =
        f->first ? f->reducer == RD_RED_argmax : rd_reducer_table[f->reducer].terminal;

    *end = (rd_word){ .u64 = terminal == 1 };
    if (terminal != RD_ENDS_LEAST && terminal != RD_ENDS_MOST)
        return terminal != RD_ENDS_NEVER;
    *end = rd_word_end(f->type, terminal == RD_ENDS_MOST);
    return rd_dtype_kind(f->type) != RD_KIND_FLOAT;
}

/* May some elements decide, so that those behind them need not come? */
static inline bool rd_fold_decides(const rd_fold *f)
{
    rd_word end;

    return f->user ? f->user->done && !f->scan && !f->n_group : rd_fold_end(f, &end);
}

/* Is what a block comes to wider than its elements? */
static inline bool rd_fold_widens(const rd_fold *f)
{
    const bool one_step = f->lanes > 1 && f->outer.n_add == 0 && f->lane_extent <= f->lanes;

    return rd_reducer_adds(f->reducer) && rd_dtype_class(f->type) == RD_CLASS_f32 && !one_step &&
           !f->scan;
}

/* Does nothing make a sum of groups?  It is +0, and so is then the sum of -0s: whoever adds into
 * cells need not know which have begun. */
static inline bool rd_fold_begins_with_0(const rd_fold *f)
{
    return (f->n_group || f->by_rows) &&
           (rd_reducer_adds(f->reducer) || f->reducer == RD_RED_sum2) &&
           rd_dtype_kind(f->type) == RD_KIND_FLOAT;
}

/* However elements are grouped, has what comes out the same bits?  Those of a scan, too. */
bool rd_reducer_any_grouping(rd_reducer_id reducer, rd_dtype type);
bool rd_fold_any_grouping(const rd_fold *f);

/* A row put in order: n elements side by side, from the address on; n_out results likewise, in
 * other memory. */
typedef struct rd_sorting {
    const rd_sort_facts *facts;
    rd_dtype             type, out; /* of elements, of results */
    int64_t              n, n_out;
    int32_t              from, to; /* addresses */
} rd_sorting;

/* A user's function on registers. */
typedef struct rd_call {
    float (*f32_1)(float);
    float (*f32_2)(float, float);
    double (*f64_1)(double);
    double (*f64_2)(double, double);
    void (*f32)(int64_t n, const float *const *in, float *out);
    void (*f64)(int64_t n, const double *const *in, double *out);
    rd_block_fn *block;
    void        *user;
    const char  *name;
    const char  *names, *body; /* of f32 or f64, as text: see rd_fn; or NULL */
    int32_t      n_in, in[RD_MAX_CALL];
    rd_dtype     in_type;
} rd_call;

typedef enum rd_inst_kind {
#define RD_INST(name, names, makes, reads) RD_I_##name,
#include "kernels/insts.def"
    RD_N_INST
} rd_inst_kind;

typedef struct rd_inst {
    rd_inst_kind kind;
    rd_dtype     type, from; /* of dst; of the operands of MAP tests, CAST, INDEX */
    rd_op        op;
    int32_t      dst, a, b, c, arg;
    int32_t      d; /* of a STEP whose fold has groups: the label */
    int32_t loop;   /* whose body holds it; of a LOOP and its END what holds the loop; -1: none */
    rd_word value;
} rd_inst;

/* Numbers by which a device makes kernels and on which nothing but their speed depends, a row of
 * its table each; 0: by its rule. */
enum { RD_MOST_TUNING = 16 };
typedef struct rd_tuning {
    int16_t at[RD_MOST_TUNING];
} rd_tuning;

typedef struct rd_program {
    int32_t     n_inst, n_loop, n_address, n_fold, n_call, n_sorting, n_reg, n_axis;
    int32_t     body, tail; /* inst[0..body) once per task; [body..tail) the tasks' share; [tail..)
                             * once at the end */
    rd_inst    *inst;
    rd_loop    *loop;
    rd_address *address;
    rd_fold    *fold;
    rd_call    *call;
    rd_sorting *sorting;
    int64_t    *axis_extent; /* n_axis of them                                                  */
    int32_t     root;        /* the axis tasks split, -1: nothing to split                      */
    int64_t     grain;       /* tasks start at multiples of it                                  */
    int64_t     most;        /* so many tasks at most; 0: any number                            */
    bool        serial;    /* one task: order, or what tasks would read twice, lets it be no more */
    bool        uneven;    /* some indices of the root axis take longer than others: comparisons of
                            * places bound loops inside, and nothing is handed on to the next one.
                            * Blocks are not so, and want long tasks for their clusters */
    int64_t     step;      /* a task's body runs on so many indices of the root axis at a time; 0:
                              * on all */
    int32_t     n_scratch; /* scratch slots, private to a task: slots first_scratch ...       */
    int32_t     first_scratch;
    int64_t    *scratch_bytes;
    int8_t      tile;  /* buffers of 2^tile times as many bytes                           */
    double      work;  /* points times operations: is a second thread worth it?           */
    bool        brief; /* asked: it may do without code; then: it does, though it could have some */
    int32_t     device;  /* of a backend that has several: which ...                       */
    int32_t     devices; /* ... and how many from that one on may share the work; 0, 1: none */
    rd_tuning   tuning;  /* of such a one: numbers that are asked for, or were measured    */
    uint64_t    key;     /* of such a one: of programs that are alike                      */
    bool        fast;    /* of f32 functions may be those of a GPU's units (fast.cuh)       */
    bool        exact; /* bits must be those of this program: no library may add in its own order */
    const void *code;  /* what the backend made of it, never changed after prepare()      */
    const void *product; /* or this, if it is a matrix product that a library computes      */
    const void *nest;    /* all of it as one compiled nest of loops, which may not be here yet */
    bool        by_rows; /* which hands nothing on from share to share: any will do ...  */
    int64_t     by_rows_bytes; /* ... and of a task's state it needs so many */
    bool        one_by_one;    /* memory says where each index of the root axis has its rows */
    bool        timed; /* by prepare(): its backend wants to hear how long runs take, by ran()  */
    int64_t     state_bytes; /* of a task, by prepare()                                         */
    const void *whole;       /* such a nest for a run as one task                               */
    int64_t     whole_bytes; /* of a task's state, of those that whole() needs                  */
} rd_program;

/* Into how many tasks can it be cut, that begin at multiples of a grain? */
int64_t rd_program_shares(const rd_program *p, int64_t grain);

/* How often an instruction is run by all tasks together, if no loop is left early. */
double rd_program_times(const rd_program *p, int32_t inst);
/* Is it a step or scan that takes an exponential of each element? */
bool rd_takes_exponential(const rd_program *p, const rd_inst *inst);

/* As rd_program.uneven says. */
bool rd_program_is_uneven(const rd_program *p);

/* A transcendental one: exp, sin, pow ... */
bool rd_inst_is_function(const rd_inst *inst);

/* What a program does, if no loop is left early. */
typedef struct rd_cost {
    double elements;      /* that its innermost loops visit                            */
    double operations;    /* maps, conversions, steps of folds                         */
    double functions;     /* of these, transcendental ones: exp, sin, pow ...          */
    double calls;         /* of users' functions                                       */
    double read, written; /* bytes of memory; what comes again from a cache but once   */
    double additions;     /* operations and functions, as so many additions            */
    double scanned;       /* steps of scans                                            */
    double instructions;  /* all                                                       */
} rd_cost;
/* `bounded`: loops leave out what their bounds say, as compiled nests do. */
rd_cost rd_program_cost(const rd_program *p, bool bounded);

/* Zeroed, 16-aligned memory that lives as long as the program; NULL without memory. */
typedef void *rd_get_fn(void *pool, size_t bytes);

/* One task's private memory and what it reports. */
typedef struct rd_task {
    void *const *slot;     /* base addresses; scratch slots are the task's own                */
    char        *state;    /* rd_program.state_bytes of them: registers, the folds' cells         */
    int64_t      lo, hi;   /* its share of the root axis                                      */
    const void  *way;      /* the backend's way to run the stage this time                    */
    uint32_t     warnings; /* RD_WARN_...                                                     */
    rd_status    status;   /* RD_OK, or why it stopped                                        */
    char         sentence[256];
    int64_t      loads; /* elements read from slots that are not scratch                   */
} rd_task;

/* What a prepared program runs as. */
typedef enum rd_form_kind {
    RD_FORM_PRODUCT,  /* a matrix product                                         */
    RD_FORM_TOTAL,    /* one call of a kernel                                     */
    RD_FORM_TILES,    /* instruction by instruction on rows of elements           */
    RD_FORM_NEST,     /* compiled loops                                           */
    RD_FORM_REFERENCE /* instruction by instruction on one element after another  */
} rd_form_kind;

/* Where the compiled loops are. */
typedef enum rd_form_state {
    RD_LOOPS_NONE, /* there will be none                                         */
    RD_LOOPS_HERE,
    RD_LOOPS_COMING, /* they are being loaded or compiled                          */
    RD_LOOPS_LATER,  /* once runs have done `left` operations without              */
    RD_LOOPS_STORED, /* only if some process has compiled them                     */
    RD_LOOPS_SLOWER  /* they were measured, and took longer than tiles             */
} rd_form_state;

/* What goes element by element; a slow form, if each takes many times as long as by vectors. */
enum { RD_SLOW_NAME = 112 };
typedef struct rd_slow {
    char        what[RD_SLOW_NAME]; /* "argmin with a mask"; "": nothing                         */
    const char *how;                /* "runs element by element, by the reference"               */
    const char *why, *remedy;
    double      elements; /* how many                                                  */
    double      each;     /* nanoseconds of one, about                                 */
} rd_slow;

typedef struct rd_form {
    rd_form_kind  kind;      /* in the end                                                 */
    rd_form_kind  meanwhile; /* until the loops are compiled; else the same                */
    rd_form_state loops;
    double        left;
    const char   *why; /* not otherwise; NULL: nothing faster is known               */
    rd_slow       slow, slow_meanwhile;
} rd_form;

/* Of fewer elements it is no matter. */
#define RD_SLOW_ELEMENTS    1e5
/* Less for each is a chain in a compiled loop, or a kernel: worth a note, no slow form. */
#define RD_SLOW_NANOSECONDS 5

static inline bool rd_is_slow(const rd_slow *slow)
{
    return slow->what[0] && slow->each >= RD_SLOW_NANOSECONDS;
}

/* What a backend adds whose memory is its own.  Calls that can fail give a sentence in `why`, of
 * RD_DEVICE_TEXT bytes.  NULL, where it has no such thing: suits, windows, records, alike, measure and
 * tuning_read with what belongs to each; where no data of callers lie there get, put, put_late and
 * across. */
enum { RD_DEVICE_TEXT = 256 };
typedef struct rd_queue      rd_queue;      /* what is asked of a device, in order */
typedef struct rd_submission rd_submission; /* what one run asks of it             */
typedef struct rd_recording  rd_recording;  /* of stages, to be asked again      */

/* Data of a run that stay in this process's memory, of which the device has a part at a time. */
typedef struct rd_device_host {
    char *const *at; /* by slot: its base; NULL: it is on the device */
    /* now and then: how much of the stage is done; false: it is cancelled */
    bool (*tell)(void *user, double done);
    void *user;
} rd_device_host;

/* Of a stage's runs: the fastest numbers, seconds with them, and without. */
typedef struct rd_measured {
    rd_tuning tuning;
    double    seconds, by_rule;
} rd_measured;

/* What a device does in a second: bytes to it, from it, and of its memory; operations of 4 and of 8
 * bytes.  And bytes of its memory. */
typedef struct rd_device_rates {
    double up, down, memory, floats, doubles, room;
} rd_device_rates;

typedef enum rd_device_end { RD_DEVICE_FAILED, RD_DEVICE_FULL, RD_DEVICE_CANCELLED } rd_device_end;

typedef struct rd_device_table {
    int32_t (*count)(const char **why);              /* devices; 0: none, and why              */
    void (*describe)(rd_text *text, int32_t device); /* its name, memory, driver               */
    const char *(*refuses)(const rd_program *p); /* a prepared program: why it cannot run; NULL */
    /* one that is not: are its folds better off in one stage?  Of such as reduce an axis that
     * others of the same loops keep, a backend may want each in loops of its own. */
    bool (*suits)(const rd_program *p, rd_get_fn *get, void *pool);
    /* stream: the caller's, or NULL.  NULL: none, *full: for want of memory */
    rd_queue *(*open)(int32_t device, void *stream, bool *full, char *why);
    void (*close)(rd_queue *queue);
    /* until all is done; reports what runs that were left have found */
    bool (*wait)(rd_queue *queue, rd_task *report, char *why);
    /* memory; NULL: none, *full: as the device has no more.  Runs that were left may still use what
     * is given back. */
    void *(*get)(rd_queue *queue, int64_t bytes, bool *full, char *why);
    void (*put)(rd_queue *queue, void *at);
    /* the same of memory that has outlived its queue: nobody uses it */
    void (*put_late)(int32_t device, void *at);
    /* copies; what comes down is there after the next settle(), end() or wait() */
    bool (*up)(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
    bool (*down)(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
    bool (*across)(rd_queue *queue, void *to, const void *from, int64_t bytes, char *why);
    bool (*settle)(rd_queue *queue, char *why);       /* all that was asked is done */
    int64_t (*room)(rd_queue *queue, int64_t wanted); /* bytes it has, where so many are wanted */
    /* may these slots of a stage stay in this process's memory? */
    bool (*windows)(const rd_program *p, rd_queue *queue, const bool *slots);
    /* a run: memory of its own; all of a stage (host: NULL if all is there); then end(), which
     * waits and reports a status with its sentence, and warnings, or leave(), after which it goes
     * on by itself */
    rd_submission *(*begin)(rd_queue *queue, bool *full, char *why);
    void *(*borrow)(rd_submission *s, int64_t bytes, bool *full, char *why);
    bool (*run)(const rd_program *p, rd_submission *s, void *const *slot,
                const rd_device_host *host, rd_device_end *end, char *why);
    bool (*end)(rd_submission *s, rd_task *report, char *why);
    bool (*leave)(rd_submission *s, rd_task *report, char *why);
    /* Stages of a run that are asked again by one call.  records(): so many calls are one that is
     * (0: it cannot be recorded; 2: two or more); record(): what that submission is asked is
     * recorded from now on, and not done (NULL: it cannot be); recorded(): that was all (false: it
     * is to be forgotten); replay() asks the queue for it, which is waited for before the next, and
     * before forget(). */
    int32_t (*records)(const rd_program *p);
    rd_recording *(*record)(rd_queue *queue, rd_submission **s, char *why);
    bool (*recorded)(rd_recording *r, char *why);
    bool (*replay)(rd_recording *r, rd_queue *queue, char *why);
    void (*forget)(rd_recording *r); /* NULL is allowed */
    /* Several devices.  So many from this one on are alike; */
    int32_t (*alike)(int32_t device);
    /* so many of a prepared program's devices share its work, whose data are all in this process's
     * memory; *why it is one, a part of a sentence; */
    int32_t (*shares)(const rd_program *p, const char **why);
    /* all of it, by the queues of so many, which waits and reports. */
    bool (*deal)(const rd_program *p, rd_queue *const *queue, int32_t n, const rd_device_host *host,
                 rd_task *report, rd_device_end *end, char *why);
    /* The fastest numbers for a stage, by runs on its data, which store what they would; those that
     * its program has stay.  False: it cannot be measured now, with a sentence.  Programs with one
     * key share what is found. */
    bool (*measure)(const rd_program *p, rd_queue *queue, void *const *slot, rd_get_fn *get,
                    void *pool, rd_measured *found, char *why);
    uint64_t (*key)(const rd_program *p);
    /* measured, in some tenths of a second; what devices of one name share; 0: there is none */
    bool (*rates)(rd_queue *queue, rd_device_rates *rates, char *why);
    uint64_t (*name_key)(int32_t device);
    /* "vector=8,ahead=4" of a tuning's numbers; and back, where a word that is none has a
     * sentence */
    void (*tuning_text)(rd_text *text, const rd_tuning *tuning);
    bool (*tuning_read)(const char *text, rd_tuning *tuning, char *why);
} rd_device_table;

struct rd_residue;

/* What is printed of a prepared program: the form that it runs as, its loop tree (kernels/loop), the
 * text that is compiled of it, or what runs element by element. */
typedef enum rd_description {
    RD_DESCRIBE_FORM,
    RD_DESCRIBE_LOOPS,
    RD_DESCRIBE_CODE,
    RD_DESCRIBE_SCALAR
} rd_description;

/* What runs programs.  A backend is chosen by probing, so the evaluator has no #ifdef. */
typedef struct rd_backend_table {
    const char *name;
    bool (*probe)(void);                                        /* can it run here? */
    bool (*prepare)(rd_program *p, rd_get_fn *get, void *pool); /* once, before any run */
    /* how a run begins, the same for all its tasks; NULL: there is one way */
    const void *(*way)(const rd_program *p);
    /* a whole run of a program that is `timed` began that way; NULL: nothing is learned of it */
    void (*ran)(const rd_program *p, const void *way, int threads, double seconds);
    void (*head)(const rd_program *p, rd_task *task); /* inst[0..body) */
    /* inst[body..tail) on [lo, hi), its share or the next step of it */
    void (*body)(const rd_program *p, rd_task *task);
    /* trees of the following share */
    void (*join)(const rd_program *p, rd_task *into, const rd_task *next);
    void (*tail)(const rd_program *p, rd_task *task); /* inst[tail..) */
    const char *(*kernels)(void);                     /* what programs prepared now run on */
    void (*tiers)(rd_text *text, const rd_program *p, int32_t n); /* how n programs run, in words */
    /* for people, as lines: what a prepared program runs as */
    void (*describe)(rd_text *text, const rd_program *p, rd_description what, rd_get_fn *get,
                     void *pool);
    const char *(*library)(const rd_program *p); /* what else than loops computes it; NULL:
                                                  * nothing */
    /* is there a library for matrix products?  Not, and there might be: why.  NULL: there is none */
    bool (*multiplies)(const char **why);
    /* all of a stage that is one task; false: head, body and tail do it, which find the error in
     * the task */
    bool (*whole)(const rd_program *p, rd_task *task);
    bool (*is_here)(const rd_program *p); /* will whole() be true now, but for an error? */
    /* what a prepared program runs as; the one place that says which forms are slow.  False: no
     * memory */
    bool (*form)(const rd_program *p, rd_get_fn *get, void *pool, rd_form *form);
    /* an estimate: of a run as that form, of what it finds slow or NULL, on so many threads */
    double (*seconds)(const rd_program *p, const rd_cost *cost, rd_form_kind kind,
                      const rd_slow *slow, int threads);
    /* nanoseconds of a program that is not prepared, at its best and on one thread; for comparing plans.
     * False: no memory.  NULL: nobody asks this backend */
    bool (*estimate)(const rd_program *p, rd_get_fn *get, void *pool, double *ns);
    const char *(*speeds)(void); /* what estimates are made of, in words */
    /* what a prepared program does as that form, and which of it element by element (residue.h);
     * NULL: nobody knows.  False: no memory */
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

/* How many registers it makes, from dst on; which it reads, each once: how many. */
int32_t rd_inst_makes(const rd_program *p, const rd_inst *inst);
enum { RD_MOST_READ = 4 + RD_MAX_CALL + RD_MAX_TERMS };
int32_t rd_inst_reads(const rd_program *p, const rd_inst *inst, int32_t *reg);

/* By how much a position moves with the index of an axis; how many there are: the last one, and
 * 1. */
int64_t rd_coef(const rd_address *at, int32_t axis);
int64_t rd_positions(const rd_program *p, const rd_address *at);
/* Do further rounds of each loop around an instruction, from the innermost out, bring greater
 * positions? */
bool rd_rises(const rd_program *p, int32_t inst, const rd_address *at);

/* Does one of its loads, or stores, name the slot? */
bool rd_program_accesses(const rd_program *p, rd_inst_kind kind, int32_t slot);

/* How many indices of an axis its loops visit at a time, at most; how many rounds a loop has; the
 * axis of the rows whose places a loop visits. */
int64_t rd_reach(const rd_program *p, int32_t axis);
int64_t rd_trips(const rd_program *p, int32_t loop);
int32_t rd_axis_of_rows(const rd_program *p, const rd_loop *row);

/* From the LOOPs and ENDs: which loop holds what. */
void rd_program_tree(rd_program *p);
#endif
