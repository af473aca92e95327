/* user_reducers.h - the facts of a user's reducer, shared by user_reducers.c and user_facts.c. */
#ifndef RD_KERNELS_EMIT_USER_REDUCERS_H
#define RD_KERNELS_EMIT_USER_REDUCERS_H
#include "kernels/emit/emit.h"

enum { RD_USER_MEMBERS = 16, RD_USER_NAME = 40, RD_USER_PLACE = 48 };

typedef enum rd_user_form {
    RD_USER_MEMBER_WISE, /* each member of its struct is an array of states */
    RD_USER_STRUCT,      /* states are structs                              */
    RD_USER_POINTERS     /* ... and the reducer is called by its addresses   */
} rd_user_form;

typedef struct rd_user_member {
    const char *type;
    int         size;
    char        place[RD_USER_PLACE]; /* mean, v[3] */
} rd_user_member;

struct rd_user {
    rd_user_form   form;
    int            n; /* arrays of states, without `seen` */
    rd_user_member member[RD_USER_MEMBERS];
    char           type[24];
};

/* user_facts.c: true if the text is one word, as a name of C. */
bool rd_is_word(const char *text);
#endif
