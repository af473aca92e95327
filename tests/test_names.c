/* test_names.c - names that people type: each works, or is refused with what to write instead.  None is
 * unknown. */
#include "values.h"

#include <string.h>

typedef struct name {
    const char *text, *sentence;
} name;

static const name names[] = {
#define NAME(text, sentence) { text, sentence },
#include "names.def"
};

static double x_data[6][5][4], v_data[120], m_data[5][5];

static rd_expr *formula(const char *text)
{
    double *x = &x_data[0][0][0], *m = &m_data[0][0];

    for (int k = 0; k < 120; k++)
        v_data[k] = x[k] = (k * 37 % 120) / 60.0 - 1;
    for (int k = 0; k < 25; k++)
        m[k] = (k * 7 % 25) / 5.0;
    return rd_formula(ctx, text,
                      RD_NAMES({ "x", rd_wrap(ctx, x, RD_SHAPE(6, 5, 4)) },
                               { "v", rd_wrap(ctx, (double *)v_data, RD_SHAPE(120)) },
                               { "m", rd_wrap(ctx, m, RD_SHAPE(5, 5)) }));
}

/* It can also be evaluated. */
static void works(const char *text, rd_expr *y)
{
    rd_array out = { 0 };

    ck_assert_msg(y != NULL, "%s: %s", text, rd_error_text(ctx));
    ck_assert_msg(rd_eval(ctx, y, &out) == RD_OK, "%s: %s", text, rd_error_text(ctx));
    rd_array_free(&out);
}

START_TEST(names_work_or_say_what_to_write)
{
    for (size_t k = 0; k < COUNT(names); k++) {
        rd_expr *const y = formula(names[k].text);

        if (names[k].sentence)
            ck_assert_msg(!y && strstr(rd_error_text(ctx), names[k].sentence), "%s: %s",
                          names[k].text, y ? "works" : rd_error_text(ctx));
        else
            works(names[k].text, y);
        rd_error_clear(ctx);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = { names_work_or_say_what_to_write };

    return run_suite("names", tests, COUNT(tests));
}
