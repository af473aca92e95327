/* words.c - names of functions in NumPy, SciPy, xarray and PyTorch: the name here, or advice.
 * The rows are in words.def. */
#include "formula/formula.h"

/* Names of other libraries, and the name of the same function here. */
static const struct {
    const char *word, *name;
} words[] = {
#define RD_WORD(word, name) { #word, #name },
#include "formula/words.def"
};

/* Names of functions that are not here, and what to write instead. */
static const struct {
    const char *word, *sentence;
} instead[] = {
#define RD_INSTEAD(word, sentence) { #word, sentence },
#include "formula/words.def"
};

/* Translates a name of NumPy, SciPy or PyTorch to the name here. NULL: the names are the same, or
 * the function is not here. */
const char *rd_formula_word(const rd_formula_reader *r, size_t at, size_t length)
{
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (rd_formula_is(r, at, length, words[k].word))
            return words[k].name;
    return NULL;
}

/* Returns advice for a function that is not here: what to write, or who has it. NULL: none. */
const char *rd_formula_instead(const rd_formula_reader *r, size_t at, size_t length)
{
    for (size_t k = 0; k < sizeof instead / sizeof *instead; k++)
        if (rd_formula_is(r, at, length, instead[k].word))
            return instead[k].sentence;
    return NULL;
}

/* True if the name is that of a Python module, as np in np.mean(x). */
bool rd_formula_is_module(const rd_formula_reader *r, size_t at, size_t length)
{
    static const char *const modules[] = { "np",  "numpy", "xp",    "scipy", "math",
                                           "jnp", "xr",    "torch", "pd" };

    for (size_t k = 0; k < sizeof modules / sizeof *modules; k++)
        if (rd_formula_is(r, at, length, modules[k]))
            return true;
    return false;
}
