#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "cores.h"
#include "event.h"
#include "result.h"
#include "verdict.h"
#include "banned.h"

#define WORDS_MAX 64

//  A command is refused: the model and this program do not agree
static void
s_die (const char *why, const char *word)
{
    fprintf (stderr, "cores: %s: %s\n", why, word);
    exit (2);
}

//  Numbers, and lists of them ------------------------------------------------

static uint64_t
s_number (const char *word)
{
    char *end;
    uint64_t number = strtoull (word, &end, 10);
    if (end == word)
        s_die ("no number", word);
    return number;
}

//  Numbers with a comma between them; "-": none. Returns how many.
static size_t
s_numbers (const char *word, uint64_t *numbers, size_t most)
{
    size_t count = 0;
    if (*word == '-')
        return 0;
    while (count < most) {
        numbers[count++] = s_number (word);
        word = strchr (word, ',');
        if (!word)
            return count;
        word++;
    }
    s_die ("too many numbers", "list");
    return 0;
}

static zpeer_action_t
s_action (const char *word)
{
    zpeer_action_t action;
    if (zpeer_action_parse (word, strlen (word), &action))
        s_die ("no action", word);
    return action;
}

static zpeer_status_t
s_status (const char *word)
{
    zpeer_status_t status = ZPEER_UNKNOWN;
    if (*word != '-' && zpeer_status_parse (word, strlen (word), &status))
        s_die ("no status", word);
    return status;
}

static row_t *
s_row (cores_t *self, const char *word)
{
    uint64_t number = s_number (word);
    if (number >= self->count || !self->rows[number].lane)
        s_die ("no lane", word);
    return &self->rows[number];
}

static bool
s_is_asg_row (const row_t *row)
{
    return row->number % 2;
}

//  Life -----------------------------------------------------------------------

static void
s_report (void *arg, const zpeer_lane_report_t *report)
{
    show_report ((const row_t *) arg, report);
}

static void
s_close_row (row_t *row)
{
    zpeer_lane_destroy (&row->lane);
    free (row->shown);
    row->shown = NULL;
}

static void
s_open_row (cores_t *self, row_t *row, bool inherits)
{
    zpeer_lane_options_t options = self->options;
    unsigned number = (unsigned) (row - self->rows);
    *row = (row_t){.number = number};
    options.report = s_report;
    options.arg = row;
    options.origin = (uint8_t) (number / 2 + 1);
    options.inherits = inherits;
    if (s_is_asg_row (row)) {
        options.max_items = 1;
        options.linger_ms = 0;
        options.max_in_flight = 1;
    }
    else
        options.asg_life_ms = 0;
    row->lane = zpeer_lane_new (&options);
    row->shown = (shown_t *) calloc (HANDLES_MAX, sizeof *row->shown);
    if (!row->shown)
        s_die ("no memory", "new");
    if (!s_is_asg_row (row))
        zpeer_view_add_lane (self->view, number / 2);
}

static void
s_clear (cores_t *self)
{
    for (unsigned i = 0; i < self->count; i++)
        s_close_row (&self->rows[i]);
    self->count = 0;
    zpeer_view_destroy (&self->view);
}

//  new PEERS max-items first-items max-bytes linger read-timeout pool asg-life
//  single delivered seed max-retries tombstone age-out outlive most-bytes
static void
s_new (cores_t *self, char **word)
{
    s_clear (self);
    self->options = (zpeer_lane_options_t){
        .max_items = (uint32_t) s_number (word[2]),
        .first_items = (uint32_t) s_number (word[3]),
        .max_bytes = (uint32_t) s_number (word[4]),
        .linger_ms = (uint32_t) s_number (word[5]),
        .read_timeout_ms = (uint32_t) s_number (word[6]),
        .pool = (uint32_t) s_number (word[7]),
        .asg_life_ms = (uint32_t) s_number (word[8]),
        .single = s_number (word[9]),
        .delivered = s_number (word[10]),
        .seed = s_number (word[11]),
    };
    zpeer_view_options_t options = {
        .tombstone_ms = (uint32_t) s_number (word[13]),
        .age_out = s_number (word[14]),
        .outlive_ms = (uint32_t) s_number (word[15]),
        .cancels_max_bytes = s_number (word[16]),
        .seed = s_number (word[11]),
    };
    self->view = zpeer_view_new (&options);
    self->count = 2 * (unsigned) s_number (word[1]);
    if (self->count > LANES_MAX)
        s_die ("too many peers", word[1]);
    for (unsigned i = 0; i < self->count; i++)
        s_open_row (self, &self->rows[i], false);
    for (unsigned i = 0; i < PEERS_MAX; i++)
        zpeer_counter_init (&self->counters[i], (uint32_t) s_number (word[12]));
}

//  join LANE inherits
static void
s_join (cores_t *self, char **word)
{
    unsigned number = (unsigned) s_number (word[1]);
    if (number >= self->count || number % 2 || self->rows[number].lane)
        s_die ("no lane to join", word[1]);
    s_open_row (self, &self->rows[number], s_number (word[2]));
    s_open_row (self, &self->rows[number + 1], false);
}

static void
s_drop (cores_t *self, char **word)
{
    row_t *row = s_row (self, word[1]);
    printf ("unsettled %d\n", zpeer_lane_unsettled (row->lane));
    s_close_row (row);
    s_close_row (row + 1);
    zpeer_view_remove_lane (self->view, row->number / 2);
}

//  What the source says --------------------------------------------------------

static void
s_change (row_t *row, uint64_t now, const zpeer_change_t *change)
{
    if (row->behind) {
        row->noted[change->handle] = true;
        return;
    }
    zpeer_lane_change (row->lane, now, change);
    show_lane (row);
}

//  The changes are for the lanes of instances, or for those of ASGs
static void
s_spread (cores_t *self, uint64_t now, const zpeer_change_t *change, bool asg)
{
    if (change->handle >= HANDLES_MAX)
        s_die ("too many instances", "event");
    for (unsigned i = 0; i < self->count; i++)
        if (self->rows[i].lane && s_is_asg_row (&self->rows[i]) == asg)
            s_change (&self->rows[i], now, change);
}

//  event now action key timestamp status override version replicated renewal
//  duration snapshot as-of origin
static void
s_event (cores_t *self, char **word)
{
    char info[TEXT_MAX];
    version_write ((unsigned) s_number (word[7]), info);
    uint64_t now = s_number (word[1]);
    zpeer_applied_t applied;
    zpeer_parsed_t event = {
        .action = s_action (word[2]),
        .app = ZPEER_SLICE ("APP"),
        .id = zpeer_slice_str (word[3]),
        .has_timestamp = *word[4] != '-',
        .timestamp = *word[4] != '-' ? s_number (word[4]) : 0,
        .has_status = *word[5] != '-',
        .status = s_status (word[5]),
        .override = s_status (word[6]),
        .info = zpeer_slice_str (info),
        .replicated = s_number (word[8]),
        .renewal_ms = (uint32_t) s_number (word[9]),
        .duration_ms = (uint32_t) s_number (word[10]),
        .snapshot = s_number (word[11]),
        .as_of = s_number (word[12]),
        .from = (uint8_t) s_number (word[13]),
    };
    bool asg = event.action == ZPEER_ASG_STATUS_UPDATE;
    if (asg)
        event.app = (zpeer_slice_t){0};
    zpeer_view_apply (self->view, now, &event, &applied);
    const zpeer_change_t *change = &applied.change;
    if (applied.tell)
        printf ("told %s %" PRIu64 " %u %d %u\n",
                zpeer_action_name ((zpeer_action_t) change->action),
                change->given, change->flags, applied.need_register,
                change->origin);
    else
        printf ("told - 0 0 %d 0\n", applied.need_register);
    show_state (applied.state);
    if (applied.state && !asg)
        snprintf (self->names[applied.state->handle], TEXT_MAX, "%s", word[3]);
    printf ("wake %" PRIu64 "\n", zpeer_view_wake (self->view));
    if (applied.tell)
        s_spread (self, now, change, asg);
}

static void
s_expire (cores_t *self, char **word)
{
    uint64_t now = s_number (word[1]);
    zpeer_change_t change;
    while (zpeer_view_expire (self->view, now, &change)) {
        printf ("gone %s %s %u\n", self->names[change.handle],
                zpeer_action_name ((zpeer_action_t) change.action),
                change.flags);
        s_spread (self, now, &change, false);
    }
    printf ("wake %" PRIu64 "\n", zpeer_view_wake (self->view));
}

static void
s_released (cores_t *self, char **word)
{
    zpeer_view_released (self->view, (unsigned) s_number (word[1]) / 2,
                         (uint32_t) s_number (word[2]), s_number (word[3]));
}

//  missing LANE: from now on it is told nothing, and what it misses is noted
static void
s_missing (cores_t *self, char **word)
{
    s_row (self, word[1])->behind = true;
}

static void
s_catch_up (cores_t *self, char **word)
{
    row_t *row = s_row (self, word[1]);
    uint64_t now = s_number (word[2]);
    row->behind = false;
    for (uint32_t handle = 0; handle < HANDLES_MAX; handle++) {
        zpeer_change_t changes[2];
        if (!row->noted[handle])
            continue;
        row->noted[handle] = false;
        unsigned count =
            s_is_asg_row (row)
                ? zpeer_view_catch_up_asg (self->view, handle, changes)
                : zpeer_view_catch_up (self->view, handle, changes);
        for (unsigned i = 0; i < count; i++)
            s_change (row, now, &changes[i]);
    }
}

//  walk LANE now resync|verify: what the walker tells a lane, all at once
static void
s_walk (cores_t *self, char **word)
{
    row_t *row = s_row (self, word[1]);
    uint64_t now = s_number (word[2]);
    bool resync = !strcmp (word[3], "resync");
    zpeer_lane_walk_begin (row->lane);
    for (uint32_t handle = 0; handle < zpeer_view_limit (self->view);
         handle++) {
        zpeer_change_t changes[2];
        if (zpeer_view_catch_up (self->view, handle, changes) != 1 ||
            !(changes[0].flags & ZPEER_CHANGE_OWE))
            continue;
        changes[0].flags = ZPEER_CHANGE_WALK |
                           (resync ? ZPEER_CHANGE_OWE : ZPEER_CHANGE_VERIFY);
        s_change (row, now, &changes[0]);
    }
    zpeer_lane_walk_complete (row->lane);
    for (uint32_t i = 0; resync && i < zpeer_view_limit_asgs (self->view);
         i++) {
        zpeer_change_t changes[2];
        if (zpeer_view_catch_up_asg (self->view, i, changes))
            s_change (row + 1, now, &changes[0]);
    }
    show_lane (row);
}

//  What peers say ---------------------------------------------------------------

//  next LANE now credit id
static void
s_next (cores_t *self, char **word)
{
    row_t *row = s_row (self, word[1]);
    uint64_t now = s_number (word[2]);
    unsigned credit = (unsigned) s_number (word[3]);
    zpeer_lane_batch_t batch;
    if (zpeer_lane_next (row->lane, now, credit, s_number (word[4]), &batch))
        show_batch (row, &batch);
    else
        show_none (row, now, credit);
    show_lane (row);
}

//  What the dispatcher and the health actor make of an end
static void
s_judge (cores_t *self, const row_t *row, zpeer_end_t end,
         zpeer_result_t *result)
{
    const zpeer_verdict_row_t *rule = zpeer_verdict_row (end);
    zpeer_counter_t *counter = &self->counters[row->number / 2];
    bool reached = zpeer_counter_reached (counter);
    bool announce = false;
    if (rule->resets)
        zpeer_counter_reset (counter);
    if (rule->counts)
        reached = zpeer_counter_fail (counter, rule->gated, &announce);
    zpeer_verdict_judge (end, reached, announce, result);
    printf ("verdict %s %d %d %d %d %" PRIu32 "\n",
            zpeer_verdict_name (result->verdict), result->reached,
            result->ambiguous, result->announce, result->escalated,
            counter->count);
}

static size_t
s_codes (const char *word, uint16_t *codes)
{
    static uint64_t numbers[ITEMS_MAX];
    size_t count = s_numbers (word, numbers, ITEMS_MAX);
    for (size_t i = 0; i < count; i++)
        codes[i] = (uint16_t) numbers[i];
    return count;
}

//  What a peer says of how long it has had an instance; 0: nothing
static zpeer_slice_t
s_copy_json (uint64_t age, char text[TEXT_MAX])
{
    if (!age)
        return (zpeer_slice_t){0};
    snprintf (text, TEXT_MAX,
              "{\"leaseInfo\":{\"registrationTimestamp\":1,"
              "\"lastRenewalTimestamp\":%" PRIu64 ",\"durationInSecs\":0}}",
              age);
    return zpeer_slice_str (text);
}

//  By turns: index, timestamp, for how long the peer has had it, and 1
static size_t
s_copies (const char *word, zpeer_copy_t *copies)
{
    static uint64_t numbers[3 * ITEMS_MAX];
    static char texts[ITEMS_MAX][TEXT_MAX];
    size_t count = s_numbers (word, numbers, 3 * ITEMS_MAX) / 3;
    for (size_t i = 0; i < count; i++)
        copies[i] = (zpeer_copy_t){
            .index = (uint32_t) numbers[3 * i],
            .timestamp = numbers[3 * i + 1],
            .json = s_copy_json (numbers[3 * i + 2], texts[i]),
        };
    return count;
}

//  The pause of one lane is its peer's, as in the batcher
static void
s_share_pause (cores_t *self, row_t *row)
{
    row_t *other = &self->rows[row->number ^ 1];
    zpeer_lane_hold (other->lane, zpeer_lane_pause (row->lane));
    zpeer_lane_hold (row->lane, zpeer_lane_pause (other->lane));
}

//  done LANE now id end status retry-after codes copies half repeated; half: a
//  part of its requests had been made
static void
s_done (cores_t *self, char **word)
{
    static uint16_t codes[ITEMS_MAX];
    static zpeer_copy_t copies[ITEMS_MAX];
    row_t *row = s_row (self, word[1]);
    zpeer_result_t result = {
        .id = s_number (word[3]),
        .status = (uint16_t) s_number (word[5]),
        .retry_after_ms = (uint32_t) s_number (word[6]),
        .copies = copies,
        .detail = "",
    };
    unsigned end = 0;
    static const char *const ends[] = {
#define X(name, text, sentence) #name,
        ZPEER_ENDS (X)
#undef X
    };
    while (end < ZPEER_END_COUNT && strcmp (ends[end], word[4]) != 0)
        end++;
    if (end == ZPEER_END_COUNT)
        s_die ("no end", word[4]);
    if (s_codes (word[7], codes))
        result.codes = codes;
    result.copy_count = s_copies (word[8], copies);
    s_judge (self, row, (zpeer_end_t) end, &result);
    result.ambiguous |= s_number (word[9]) != 0;
    result.repeated = s_number (word[10]);
    bool known = zpeer_lane_done (row->lane, s_number (word[2]), &result);
    zpeer_lane_evidence_t evidence;
    zpeer_lane_evidence (row->lane, &evidence);
    printf ("evidence %d %u\n", evidence.taken, evidence.trouble);
    if (!known)
        printf ("unknown\n");
    s_share_pause (self, row);
    show_lane (row);
}

static void
s_hold (cores_t *self, char **word)
{
    zpeer_lane_hold (s_row (self, word[1])->lane, s_number (word[2]));
}

static void
s_retry (cores_t *self, char **word)
{
    zpeer_lane_retry_now (s_row (self, word[1])->lane);
}

static void
s_over (cores_t *self, char **word)
{
    row_t *row = s_row (self, word[1]);
    zpeer_lane_walk_end (row->lane);
    show_lane (row);
}

static void
s_shut (cores_t *self, char **word)
{
    row_t *row = s_row (self, word[1]);
    printf ("left %" PRIu64 "\n",
            zpeer_lane_close (row->lane, ZPEER_ENDED_SHUTDOWN));
    show_lane (row);
}

//  Commands ---------------------------------------------------------------------

static const struct {
    const char *name;
    int words;
    void (*run) (cores_t *self, char **word);
} s_commands[] = {
    {"new", 17, s_new},        {"event", 14, s_event},
    {"expire", 2, s_expire},   {"released", 4, s_released},
    {"missing", 2, s_missing}, {"catch-up", 3, s_catch_up},
    {"walk", 4, s_walk},       {"over", 2, s_over},
    {"next", 5, s_next},       {"done", 11, s_done},
    {"hold", 3, s_hold},       {"retry", 2, s_retry},
    {"join", 3, s_join},       {"drop", 2, s_drop},
    {"shut", 2, s_shut},
};

static void
s_run (cores_t *self, char **word, int count)
{
    for (size_t i = 0; i < sizeof s_commands / sizeof *s_commands; i++) {
        if (strcmp (s_commands[i].name, word[0]) != 0)
            continue;
        if (s_commands[i].words != count)
            s_die ("wrong number of words", word[0]);
        s_commands[i].run (self, word);
        printf (".\n");
        fflush (stdout);
        return;
    }
    s_die ("no command", word[0]);
}

int
main (void)
{
    static cores_t cores;
    char *line = NULL;
    size_t room = 0;
    while (getline (&line, &room, stdin) > 0) {
        char *words[WORDS_MAX];
        char *rest = line;
        char *word;
        int count = 0;
        while ((word = strsep (&rest, " \n")) != NULL && count < WORDS_MAX)
            if (*word)
                words[count++] = word;
        if (count)
            s_run (&cores, words, count);
    }
    s_clear (&cores);
    free (line);
    return 0;
}
