/* leaks.c - what the search for leaks leaves out, in a program built with the address sanitizer. */

const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

#ifdef __SANITIZE_ADDRESS__
/* The list of what was left out would be printed among the program's own messages. */
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

/* fontconfig keeps what it knows about fonts, and libnetcdf, libhdf5 and ecCodes keep texts that they gave away, as long
 * as the program runs. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig\nleak:libhdf5\nleak:libnetcdf\nleak:libeccodes\n";
}
#endif
