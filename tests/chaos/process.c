#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "process.h"
#include "banned.h"

#define KILL_MS 10000  //  A process that is killed is gone within that

//  The child: nothing but what is safe behind a fork
static void
s_exec (const char *const *argv, const char *log, int out)
{
    int in = open ("/dev/null", O_RDWR | O_CLOEXEC);
    int err = open (log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    sigset_t none;
    sigemptyset (&none);
    sigprocmask (SIG_SETMASK, &none, NULL);
    prctl (PR_SET_PDEATHSIG, SIGKILL);
    if (dup2 (in, STDIN_FILENO) >= 0 && dup2 (err, STDERR_FILENO) >= 0 &&
        dup2 (out < 0 ? err : out, STDOUT_FILENO) >= 0)
        execv (argv[0], (char *const *) argv);
    _exit (127);
}

static int64_t
s_now_ms (void)
{
    struct timespec now;
    clock_gettime (CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

//  Reads up to a line's end. Returns whether one came.
static bool
s_read_line (int fd, char line[PROCESS_LINE_MAX], int limit_ms)
{
    size_t size = 0;
    int64_t deadline = s_now_ms () + limit_ms;
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    while (size < PROCESS_LINE_MAX - 1) {
        int64_t left = deadline - s_now_ms ();
        if (left <= 0 || poll (&waits, 1, (int) left) <= 0 ||
            read (fd, line + size, 1) != 1)
            return false;
        if (line[size] == '\n') {
            line[size] = 0;
            return true;
        }
        size++;
    }
    return false;
}

pid_t
process_start (const char *const *argv, const char *log,
               char line[PROCESS_LINE_MAX], int limit_ms)
{
    int ends[2] = {-1, -1};
    if (line && pipe2 (ends, O_CLOEXEC) < 0)
        return 0;
    pid_t pid = fork ();
    if (pid == 0)
        s_exec (argv, log, ends[1]);
    if (line) {
        close (ends[1]);
        bool ready = pid > 0 && s_read_line (ends[0], line, limit_ms);
        close (ends[0]);
        if (!ready && pid > 0) {
            process_kill (pid);
            pid = 0;
        }
    }
    return pid < 0 ? 0 : pid;
}

int
process_wait (pid_t pid, int limit_ms)
{
    struct pollfd waits = {.fd = pidfd_open (pid, 0), .events = POLLIN};
    int status = 0;
    assert (waits.fd >= 0);
    int ended = poll (&waits, 1, limit_ms);
    close (waits.fd);
    if (ended <= 0 || waitpid (pid, &status, WNOHANG) != pid)
        return PROCESS_RUNNING;
    return WIFEXITED (status) ? WEXITSTATUS (status) : PROCESS_KILLED;
}

void
process_kill (pid_t pid)
{
    kill (pid, SIGKILL);
    process_wait (pid, KILL_MS);
}

bool
process_any_left (void)
{
    pid_t pid;
    while ((pid = waitpid (-1, NULL, WNOHANG)) > 0)
        ;
    return pid == 0 || errno != ECHILD;
}
