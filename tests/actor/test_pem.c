#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "pem.h"
#include "banned.h"

//  What is wrong with a file that holds this; NULL: nothing
static const char *
s_wrong (const char *text)
{
    char name[] = "/tmp/zpeer-pem-XXXXXX";
    int fd = mkstemp (name);
    cr_assert_geq (fd, 0);
    cr_assert_eq (write (fd, text, strlen (text)), (ssize_t) strlen (text));
    close (fd);
    const char *wrong = zpeer_pem_wrong (name);
    unlink (name);
    return wrong;
}

Test (pem, a_certificate_and_a_key_are_found_behind_other_lines)
{
    cr_assert_null (s_wrong ("-----BEGIN CERTIFICATE-----\nMIIB\n"));
    cr_assert_null (s_wrong ("# of the test\n\n-----BEGIN PRIVATE KEY-----"));
}

Test (pem, a_file_without_one_is_wrong)
{
    cr_assert_str_eq (s_wrong (""), "nothing in it is PEM");
    cr_assert_str_eq (s_wrong ("0\x82\n -----BEGIN "), "nothing in it is PEM");
}

Test (pem, what_is_no_file_is_wrong)
{
    cr_assert_str_eq (zpeer_pem_wrong ("/"), "it is no file");
    cr_assert_str_eq (zpeer_pem_wrong ("/nonexistent/a"),
                      "No such file or directory");
}

//  root reads whatever there is
Test (pem, a_file_that_must_not_be_read_is_wrong)
{
    char name[] = "/tmp/zpeer-pem-XXXXXX";
    int fd = mkstemp (name);
    cr_assert_geq (fd, 0);
    fchmod (fd, 0);
    close (fd);
    const char *wrong = zpeer_pem_wrong (name);
    cr_expect_str_eq (wrong, geteuid () ? "Permission denied"
                                        : "nothing in it is PEM");
    unlink (name);
}
