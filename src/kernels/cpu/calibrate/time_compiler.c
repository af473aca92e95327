/* time_compiler.c - measures how long the compiler takes. */
#include "core/clock.h"
#include "kernels/cpu/calibrate/meter.h"
#include "kernels/cpu/jit/compiler.h"
#include "kernels/cpu/jit/object.h"

/* Measures the compiler on a text of 300 operations, then how long the object that the store has
 * now takes to load.  Patience is the seconds a compiler may take; 0: only the store is asked.  The
 * time of day in the text makes it one that no store has yet. */
void rd_meter_compiler(rd_meter *m)
{
    enum { VALUES = 300 };
    const rd_env_snapshot *const here  = rd_env_snapshot_now();
    const char *const *const     flags = rd_compiler_flags(m->s->vector, /*rounds=*/false);
    rd_text                      text  = { 0 };
    void                        *found;

    rd_text_add(&text,
                "/* %.9f */ __attribute__((visibility(\"default\"))) void rd_micro(long n, const "
                "double *restrict x, double *restrict y)\n"
                "{ for (long i = 0; i < n; i++) { double a = x[i], b = a;\n",
                rd_seconds());
    for (int k = 0; k < VALUES; k += 3)
        rd_text_add(&text, "a = a + b; b = a > %d.5 ? a : b; b = b * a;\n", k);
    rd_text_add(&text, "y[i] = b; } }\n");
    double       begun = rd_seconds();
    const bool   done  = !text.failed && rd_object_make(text.at, flags, "rd_micro", here,
                                                        RD_SHORT_PATIENCE, /*key=*/NULL, &found);
    const double took  = rd_seconds() - begun;

    if (done) {
        rd_meter_set(m, RD_SPEED_compiled, took * 1000 / VALUES);
        begun = rd_seconds();
        if (rd_object_make(text.at, flags, "rd_micro", here, /*patience=*/0, /*key=*/NULL, &found))
            rd_meter_set(m, RD_SPEED_loaded, 1e6 * (rd_seconds() - begun));
    }
    rd_text_free(&text);
}
