#include <criterion/criterion.h>
#include "dispatch_log.h"
#include "banned.h"

#define URL "http://peer1/eureka/"

typedef struct {
    zpeer_dispatch_log_t log;
    unsigned lines;
    char id[8];
    char text[ZPEER_LOG_TEXT_MAX];
} fixture_t;

static void
s_log (void *arg, zpeer_log_level_t level, const char *id, const char *text)
{
    fixture_t *self = (fixture_t *) arg;
    (void) level;
    self->lines++;
    snprintf (self->id, sizeof self->id, "%s", id);
    snprintf (self->text, sizeof self->text, "%s", text);
}

static void
s_setup (fixture_t *self)
{
    *self = (fixture_t){.log = {
                            .lines = {.log = {s_log, self}, .about = URL},
                            .read_timeout_ms = 30000,
                        }};
}

static void
s_fail (fixture_t *self, uint64_t now, zpeer_end_t end, uint32_t count)
{
    zpeer_result_t result = {
        .end = end,
        .count = count,
        .max = 10,
        .items = 250,
        .detail = "what the library said",
    };
    zpeer_dispatch_log_failed (&self->log, now, &result);
}

Test (dispatch_log, each_cause_has_a_line_of_its_own)
{
    static const struct {
        zpeer_end_t end;
        const char *id;
        const char *part;
    } rows[] = {
        {ZPEER_END_UNSENT, "ZPR031", "(failure 3/10): what the library said"},
        {ZPEER_END_READ_TIMEOUT, "ZPR032", "(failure 3/10)"},
        {ZPEER_END_TLS, "ZPR033", "250 tasks dropped: what the library said"},
        {ZPEER_END_UNUSABLE, "ZPR034", "(failure 3/10): what the library"},
        {ZPEER_END_INTERNAL, "ZPR038", "250 tasks dropped: what the library"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_t self;
        s_setup (&self);
        s_fail (&self, 0, rows[i].end, 3);
        cr_assert_eq (self.lines, 1);
        cr_assert_str_eq (self.id, rows[i].id);
        cr_assert (strstr (self.text, rows[i].part), "%s", self.text);
        cr_assert (strstr (self.text, URL), "%s", self.text);
    }
}

Test (dispatch_log, what_the_batcher_tells_has_no_line_here)
{
    fixture_t self;
    s_setup (&self);
    s_fail (&self, 0, ZPEER_END_BUSY, 1);
    s_fail (&self, 0, ZPEER_END_STATUS, 1);
    s_fail (&self, 0, ZPEER_END_STATUS_5XX, 1);
    cr_assert_eq (self.lines, 0);
}

Test (dispatch_log, one_line_of_a_kind_in_ten_seconds_says_how_many_were_held)
{
    fixture_t self;
    s_setup (&self);
    s_fail (&self, 1000, ZPEER_END_UNSENT, 1);
    s_fail (&self, 1100, ZPEER_END_RESET, 2);
    s_fail (&self, 10999, ZPEER_END_UNSENT, 3);
    cr_assert_eq (self.lines, 1, "reset and refused are one kind");
    cr_assert_null (strstr (self.text, "held back"), "%s", self.text);
    s_fail (&self, 1100, ZPEER_END_READ_TIMEOUT, 4);
    cr_assert_eq (self.lines, 2, "a timeout is another");
    s_fail (&self, 11000, ZPEER_END_UNSENT, 10);
    cr_assert_eq (self.lines, 3);
    cr_assert (strstr (self.text, "failure 10+/10"), "%s", self.text);
    cr_assert (strstr (self.text, "2 more held back"), "%s", self.text);
}

Test (dispatch_log, an_old_connection_that_cannot_be_replaced_is_told)
{
    fixture_t self;
    s_setup (&self);
    zpeer_dispatch_log_renewal (&self.log, 1000, "no such name");
    zpeer_dispatch_log_renewal (&self.log, 1001, "no such name");
    cr_assert_eq (self.lines, 1);
    cr_assert_str_eq (self.id, "ZPR053");
    cr_assert (strstr (self.text, URL) && strstr (self.text, "no such name"),
               "%s", self.text);
}

Test (dispatch_log, a_count_that_health_did_not_give_is_not_made_up)
{
    fixture_t self;
    s_setup (&self);
    zpeer_result_t result = {.end = ZPEER_END_READ_TIMEOUT, .detail = ""};
    zpeer_dispatch_log_unheard (&self.log, 0, 1000);
    cr_assert_str_eq (self.id, "ZPR052");
    zpeer_dispatch_log_failed (&self.log, 0, &result);
    cr_assert (strstr (self.text, "(failure ?)"), "%s", self.text);
}

Test (dispatch_log, a_batcher_that_is_gone_is_always_told)
{
    fixture_t self;
    s_setup (&self);
    zpeer_dispatch_log_gone (&self.log, 3000, 6);
    zpeer_dispatch_log_gone (&self.log, 3000, 6);
    cr_assert_eq (self.lines, 2);
    cr_assert (strstr (self.text, "3000 ms, 6 requests"), "%s", self.text);
}
