#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <criterion/criterion.h>
#include "lines.h"
#include "remote.h"
#include "banned.h"

//  Ends a program with this process
#define GUARD "setpriv"

//  Words of a command line
#define WORDS_MAX 32

//  Lines of a server's log that are no GET and have text in them
static unsigned
s_count (const char *server, const char *text)
{
    FILE *file = fopen (remote_variable (server, "LOG"), "r");
    cr_assert (file, "no log of %s", server);
    char *line = NULL;
    size_t capacity = 0;
    unsigned count = 0;
    while (getline (&line, &capacity, file) > 0)
        count += strncmp (line, "GET ", 4) != 0 && strstr (line, text) != NULL;
    free (line);
    fclose (file);
    return count;
}

unsigned
lines_changes (const char *server)
{
    return s_count (server, "");
}

unsigned
lines_with (const char *server, const char *text)
{
    return s_count (server, text);
}

//  Splits a line at its blanks, in place
static void
s_split (char *line, char *words[WORDS_MAX])
{
    char *rest = NULL;
    size_t count = 0;
    for (char *word = strtok_r (line, " ", &rest); word;
         word = strtok_r (NULL, " ", &rest)) {
        cr_assert_lt (count, WORDS_MAX - 1);
        words[count++] = word;
    }
    words[count] = NULL;
}

//  Starts it with one end of the pipe as its standard input (0), or output (1)
static pid_t
s_spawn (char **words, const int ends[2], bool writes)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    posix_spawn_file_actions_init (&actions);
    posix_spawn_file_actions_adddup2 (&actions, ends[!writes], !writes);
    posix_spawn_file_actions_addclose (&actions, ends[writes]);
    if (writes)
        posix_spawn_file_actions_addopen (&actions, STDOUT_FILENO, "/dev/null",
                                          O_WRONLY, 0);
    cr_assert_eq (posix_spawnp (&pid, GUARD, &actions, NULL, words, environ),
                  0);
    posix_spawn_file_actions_destroy (&actions);
    return pid;
}

void
lines_start (lines_program_t *self, const char *variable, const char *arguments,
             const char *mode)
{
    const char *command = getenv (variable);
    char *words[WORDS_MAX];
    char *line = NULL;
    int ends[2];
    bool writes = *mode == 'w';
    cr_assert (command, "no %s: run by tests/interop/run.sh", variable);
    cr_assert (asprintf (&line, GUARD " --pdeathsig KILL %s %s", command,
                         arguments) > 0);
    s_split (line, words);
    cr_assert_eq (pipe2 (ends, O_CLOEXEC), 0);
    self->pid = s_spawn (words, ends, writes);
    close (ends[!writes]);
    self->file = fdopen (ends[writes], mode);
    cr_assert (self->file);
    free (line);
}

int
lines_end (lines_program_t *self)
{
    int status = 0;
    if (!self->file)
        return 0;
    fclose (self->file);
    self->file = NULL;
    pid_t pid = waitpid (self->pid, &status, 0);
    return pid == self->pid && WIFEXITED (status) ? WEXITSTATUS (status) : -1;
}
