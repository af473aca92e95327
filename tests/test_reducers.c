/* test_reducers.c - what the columns of reducers.def say of a reducer holds for its code. */
#include "kernels/cpu/reference/reducer_functions.h"
#include "suite.h"
#include <math.h>

enum { FEW = 5 };

/* A reducer, and a type of elements that it takes: all kinds have one here. */
typedef struct subject {
    rd_reducer_id          reducer;
    rd_dtype               type;
    const rd_reducer_code *code;
    double                 weight;
} subject;

/* Elements that products and sums of f64 do not round. */
static const double elements[FEW] = { 3, -1, 2, 5, 2 }, bools[FEW] = { 0, 1, 1, 0, 1 };

/* Weights of twins say that a scan begins anew: here it never does. */
static bool is_twin(rd_reducer_id reducer)
{
    bool twin = false;

    for (int r = 0; r < RD_RED_user; r++)
        twin |= rd_reducer_table[r].anew == reducer;
    return twin;
}

static subject subject_of(int reducer, bool ints)
{
    const rd_kinds kinds = rd_reducer_table[reducer].kinds;
    subject        s     = { .reducer = (rd_reducer_id)reducer };

    s.type   = kinds == RD_KINDS_BOOL                                     ? RD_BOOL
               : kinds == RD_KINDS_INT || (ints && kinds == RD_KINDS_ANY) ? RD_I64
                                                                          : RD_F64;
    s.code   = rd_reducer_code_of(s.reducer, rd_dtype_class(s.type));
    s.weight = is_twin(s.reducer) ? 0 : 1;
    ck_assert_ptr_nonnull(s.code);
    return s;
}

static double element(const subject *s, int k)
{
    return s->type == RD_BOOL ? bools[k] : elements[k];
}

/* Takes an element, as the first one if there is none yet. */
static void take(const subject *s, rd_word *state, int place, double x, double weight)
{
    const rd_word x_word = rd_word_from_double(x, s->type),
                  w_word = rd_word_from_double(weight, s->type);

    if (place == 0)
        s->code->first(state, x_word, w_word, 0);
    else
        s->code->step(state, x_word, w_word, place);
}

static void take_some(const subject *s, rd_word *state, int from, int to)
{
    memset(state, 0, RD_MAX_STATE * sizeof *state);
    for (int k = from; k < to; k++)
        take(s, state, k - from, element(s, k), s->weight);
}

/* The first result of a state; of places, as a number. */
static double result(const subject *s, const rd_word *state, int whole)
{
    rd_word y[RD_MAX_STATE] = { 0 }, copy[RD_MAX_STATE];

    memcpy(copy, state, sizeof copy);
    s->code->block(copy);
    s->code->finish(copy, 0, whole, y);
    return rd_word_to_double(y[0], rd_reducer_places(s->reducer) ? RD_I64 : s->type);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* ---- Columns --------------------------------------------------------------------------------- */
START_TEST(neutral_changes_nothing)
{
    const subject s       = subject_of(_i / 2, _i % 2);
    const double  neutral = rd_reducer_table[s.reducer].neutral;
    rd_word       with[RD_MAX_STATE], without[RD_MAX_STATE], y[RD_MAX_STATE] = { 0 };

    if (isnan(neutral))
        return;
    ck_assert(rd_reducer_ignores(s.reducer, neutral) && !rd_reducer_ignores(s.reducer, 7));
    take_some(&s, without, 0, FEW);
    take_some(&s, with, 0, FEW);
    take(&s, with, FEW, neutral, 1);
    ck_assert(same(result(&s, with, FEW + 1), result(&s, without, FEW)));
    memset(with, 0, sizeof with);
    take(&s, with, 0, neutral, 1);
    s.code->identity(without, s.type);
    s.code->finish(without, 0, 0, y);
    if (rd_reducer_table[s.reducer].empty)
        s.code->empty(y);
    ck_assert(same(result(&s, with, 1), rd_word_to_double(y[0], s.type)));
}
END_TEST

START_TEST(lanes_without_elements_change_no_bit)
{
    const subject s = subject_of(_i / 2, _i % 2);
    rd_word       with[RD_MAX_STATE], without[RD_MAX_STATE], identity[RD_MAX_STATE];

    if (!rd_reducer_pads(s.reducer))
        return;
    for (int n = 1; n <= FEW; n++) {
        take_some(&s, without, 0, n);
        take_some(&s, with, 0, n);
        s.code->identity(identity, s.type);
        s.code->merge(with, identity);
        ck_assert(!memcmp(with, without, sizeof with));
    }
}
END_TEST

START_TEST(idempotent_reducers_ignore_repeats)
{
    const subject s = subject_of(_i / 2, _i % 2);
    rd_word       once[RD_MAX_STATE], again[RD_MAX_STATE];

    if (!rd_reducer_is_idempotent(s.reducer))
        return;
    take_some(&s, once, 0, FEW);
    take_some(&s, again, 0, FEW);
    for (int k = 0; k < FEW; k++)
        take(&s, again, FEW + k, element(&s, k), s.weight);
    ck_assert(same(result(&s, once, FEW), result(&s, again, 2 * FEW)));
}
END_TEST

START_TEST(extremes_are_elements)
{
    const subject s = subject_of(_i / 2, _i % 2);
    rd_word       state[RD_MAX_STATE];
    double        y;

    if (!rd_reducer_is_extreme(s.reducer))
        return;
    take_some(&s, state, 0, FEW);
    y = result(&s, state, FEW);
    ck_assert(y == -1 || y == 5);
    ck_assert(rd_reducer_any_grouping(s.reducer, s.type));
}
END_TEST

START_TEST(sums_add_up)
{
    const subject s = subject_of(_i / 2, _i % 2);
    rd_word       state[RD_MAX_STATE];

    if (!rd_reducer_is_sum(s.reducer))
        return;
    take_some(&s, state, 0, FEW);
    ck_assert(result(&s, state, FEW) == 11);
    take(&s, state, FEW, 4, rd_reducer_multiplies(s.reducer) ? 3 : s.weight);
    ck_assert(result(&s, state, FEW) == (rd_reducer_multiplies(s.reducer) ? 23 : 15));
}
END_TEST

START_TEST(twins_do_the_same)
{
    const subject       s    = subject_of(_i / 2, _i % 2);
    const rd_reducer_id anew = rd_reducer_table[s.reducer].anew;
    rd_word             own[RD_MAX_STATE], other[RD_MAX_STATE];
    subject             twin;

    if (anew == RD_RED_none)
        return;
    twin = subject_of((int)anew, _i % 2);
    take_some(&s, own, 0, FEW);
    take_some(&twin, other, 0, FEW);
    ck_assert(result(&s, own, FEW) == result(&twin, other, FEW));
    take(&twin, other, FEW, 9, 1);
    ck_assert(result(&twin, other, FEW) == 9);
}
END_TEST

START_TEST(ints_may_be_grouped)
{
    const subject s = subject_of(_i / 2, _i % 2);
    rd_word       whole[RD_MAX_STATE], part[RD_MAX_STATE], rest[RD_MAX_STATE];

    if (!rd_reducer_any_grouping(s.reducer, s.type) || rd_reducer_places(s.reducer))
        return;
    take_some(&s, whole, 0, FEW);
    for (int n = 1; n < FEW; n++) {
        take_some(&s, part, 0, n);
        take_some(&s, rest, n, FEW);
        s.code->block(part);
        s.code->block(rest);
        s.code->merge(part, rest);
        ck_assert(result(&s, part, FEW) == result(&s, whole, FEW));
    }
}
END_TEST

START_TEST(exponentials_align_lanes)
{
    const bool aligns = rd_lanes_code_of((rd_reducer_id)_i, RD_CLASS_f64) != NULL;

    ck_assert(rd_reducer_takes_exponential((rd_reducer_id)_i) == aligns);
}
END_TEST

/* ---- Names ----------------------------------------------------------------------------------- */
START_TEST(reducers_have_names)
{
    for (int r = 0; r < RD_RED_user; r++)
        ck_assert_int_eq(rd_reducer_named(rd_reducer_table[r].name), r);
    ck_assert_int_eq(rd_reducer_named("user"), RD_RED_none);
    ck_assert_int_eq(rd_reducer_named("su"), RD_RED_none);
    ck_assert_str_eq(rd_reducer_shown(RD_RED_dot), "sum of products");
    ck_assert_str_eq(rd_reducer_shown(RD_RED_sum), "sum");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reducers");
    TCase *facts = tcase_create("facts");

    tcase_add_loop_test(facts, neutral_changes_nothing, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, lanes_without_elements_change_no_bit, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, idempotent_reducers_ignore_repeats, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, extremes_are_elements, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, sums_add_up, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, twins_do_the_same, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, ints_may_be_grouped, 0, 2 * RD_RED_user);
    tcase_add_loop_test(facts, exponentials_align_lanes, 0, RD_RED_user);
    tcase_add_test(facts, reducers_have_names);
    suite_add_tcase(suite, facts);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
