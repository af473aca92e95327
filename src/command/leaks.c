/* leaks.c - settings of the leak checker, in a program built with the address sanitizer. */

const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

#ifdef __SANITIZE_ADDRESS__
/* Suppresses the list of ignored leaks, which would be printed among messages of the program. */
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

/* Ignores leaks of libraries. fontconfig keeps facts about fonts, and libnetcdf, libhdf5 and
 * ecCodes keep texts that they gave away, as long as the program runs. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\nleak:libhdf5\nleak:libnetcdf\nleak:libeccodes\n";
}
#endif
