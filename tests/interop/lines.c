#include <stdlib.h>
#include <string.h>
#include <criterion/criterion.h>
#include "lines.h"
#include "remote.h"
#include "banned.h"

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

FILE *
lines_program (const char *variable, const char *arguments, const char *mode)
{
    const char *command = getenv (variable);
    char *line = NULL;
    cr_assert (command, "no %s: run by tests/interop/run.sh", variable);
    cr_assert (asprintf (&line, "exec setpriv --pdeathsig KILL %s %s", command,
                         arguments) > 0);
    FILE *program = popen (line, mode);
    cr_assert (program, "%s", line);
    free (line);
    return program;
}
