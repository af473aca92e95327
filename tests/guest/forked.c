/* forked.c - a program that has used OpenMP itself forks, and the child evaluates.
 *
 * GNU's OpenMP waits for ever in a child for threads of the parent's team.  usage: forked */
#include <omp.h>
#include <rdim.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 4000, COLUMNS = 1000 };
static float x[ROWS * COLUMNS], y[ROWS];

static int evaluate(int threads)
{
    rd_ctx *ctx  = rd_ctx_new(&(rd_ctx_opts){ .size = sizeof(rd_ctx_opts), .threads = threads });
    int     done = rd_eval(ctx, rd_sum(rd_wrap(ctx, x, RD_SHAPE(ROWS, COLUMNS)), RD_DIMS(1)),
                           RD_INTO(y, RD_SHAPE(ROWS))) == RD_OK;

    for (int i = 0; i < ROWS; i++)
        done &= y[i] == COLUMNS;
    rd_ctx_free(ctx);
    return done;
}

static int team(void)
{
    int n = 0;

#pragma omp parallel num_threads(4) reduction(+ : n)
    n += 1;
    return n;
}

/* The child, and its own child, have to end. */
static int child_evaluates(const char *what)
{
    const pid_t pid = fork();
    int         status;

    if (pid == 0) {
        alarm(120);
        int done = evaluate(2);

        const pid_t next = fork();
        if (next == 0) {
            alarm(120);
            _exit(!evaluate(2));
        }
        done &= waitpid(next, &status, 0) == next && status == 0;
        _exit(!done);
    }
    if (waitpid(pid, &status, 0) == pid && status == 0)
        return 1;
    printf("%s: the child's status is %d\n", what, status);
    return 0;
}

int main(void)
{
    int done = 1;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = 1;
    done &= child_evaluates("before any team");
    if (team() < 1)
        return 2;
    done &= child_evaluates("behind the program's team");
    done &= evaluate(2);
    done &= child_evaluates("behind the library's team");
    return !done;
}
