/* user_reducers.h - the facts of a user's reducer, shared by user_reducers.c and user_facts.c. */
#ifndef RD_KERNELS_EMIT_USER_REDUCERS_H
#define RD_KERNELS_EMIT_USER_REDUCERS_H
#include "kernels/emit/emit.h"

/* Members of a struct, at most, that are single numbers of states; characters of a member's name or
 * type, and of a place such as v[3]. */
enum { RD_USER_MEMBERS = 16, RD_USER_NAME = 40, RD_USER_PLACE = 48 };

typedef enum rd_user_form {
    RD_USER_MEMBER_WISE, /* each member of its struct is an array of states */
    RD_USER_STRUCT,      /* states are structs                              */
    RD_USER_POINTERS     /* ... and the reducer is called by its addresses   */
} rd_user_form;

/* A number of the user's struct. */
typedef struct rd_user_member {
    const char *type;                 /* its C type                        */
    int         size;                 /* bytes                             */
    char        place[RD_USER_PLACE]; /* its name in the struct: mean, v[3] */
} rd_user_member;

/* The form of a user's reducer in the text.  rd_user_facts() fills it. */
struct rd_user {
    rd_user_form   form;                    /* how the text keeps states, and calls it */
    int            n;                       /* arrays of states, without `seen` */
    rd_user_member member[RD_USER_MEMBERS]; /* MEMBER_WISE: n of them */
    char           type[24];                /* the struct's name in the text: U0 */
};

/* user_facts.c: true if the text is one word, as a name of C. */
bool rd_is_word(const char *text);
#endif
