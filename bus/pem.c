#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "pem.h"
#include "banned.h"

//  How each certificate and each key begins, at the beginning of a line
#define BEGIN "-----BEGIN "

static bool
s_has_pem (FILE *in)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    while (!found && getline (&line, &size, in) >= 0)
        found = !strncmp (line, BEGIN, strlen (BEGIN));
    free (line);
    return found;
}

const char *
zpeer_pem_wrong (const char *file)
{
    struct stat status;
    if (stat (file, &status))
        return strerror (errno);
    if (!S_ISREG (status.st_mode))
        return "it is no file";
    FILE *in = fopen (file, "re");
    if (!in)
        return strerror (errno);
    bool found = s_has_pem (in);
    fclose (in);
    return found ? NULL : "nothing in it is PEM";
}
