/*  test_secrets.c - what is left of an argument for everybody to read
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include "secrets.h"
#include "banned.h"

static void
s_expect (const char *argument, const char *left)
{
    char text[128];
    snprintf (text, sizeof text, "%s", argument);
    secrets_hide (text);
    cr_expect_str_eq (text, left);
}

Test (secrets, a_url_keeps_its_host)
{
    s_expect ("http://u:pw@host:8761/eureka/", "http://****@host:8761/eureka/");
    s_expect ("http://u:p@w@host/", "http://*****@host/");
    s_expect ("http://host:8761/eureka/", "http://host:8761/eureka/");
    s_expect ("u:pw@host", "****@host");
    s_expect ("", "");
}

Test (secrets, so_do_urls_in_a_list)
{
    s_expect ("zone=http://u:a@h/,http://i/", "zone=http://***@h/,http://i/");
    s_expect ("zone=http://u:a@h/,http://v:b@i/",
              "zone=http://*****************@i/");
    s_expect ("zpeer.events.endpoint=ipc://@name",
              "zpeer.events.endpoint=ipc://@name");
}

Test (secrets, an_option_that_is_a_password_keeps_its_name)
{
    s_expect ("apiml.discovery.password=geheim",
              "apiml.discovery.password=******");
    s_expect ("x=password", "x=password");
    s_expect ("password", "password");
}
