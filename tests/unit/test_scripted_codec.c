//  What a body may look like (EUREKA.md 2)
#include <sys/socket.h>
#include <zlib.h>
#include "scripted_case.h"
#include "banned.h"

TestSuite (scripted_codec, .init = s_setup, .fini = s_teardown, .timeout = 60);

static bool
s_held (void)
{
    return speer_lease (s_peer, "A", "a1", NULL);
}

//  Registers one with these members; returns the HTTP status of the batch
static int
s_register (const char *members)
{
    char *item = NULL;
    speer_apply (s_peer, "{\"replicationList\":[{\"appName\":\"A\",\"id\":"
                         "\"a1\",\"action\":\"Cancel\"}]}");
    cr_assert (asprintf (&item,
                         ITEM ("Register", "'instanceInfo':" INFO ("%s") ","),
                         members) > 0);
    int status = s_post (item);
    free (item);
    return status;
}

static json_t *
s_instance (void)
{
    char *text = speer_instance (s_peer, "A", "a1");
    json_t *root = json_loads (text ? text : "{}", 0, NULL);
    json_t *instance = json_incref (json_object_get (root, "instance"));
    json_decref (root);
    free (text);
    cr_assert (instance);
    return instance;
}

//  The instance's member is, as JSON
static void
s_expect (const char *member, const char *json)
{
    json_t *instance = s_instance ();
    char *quoted = s_quoted (json);
    char *text = json_dumps (json_object_get (instance, member),
                             JSON_ENCODE_ANY | JSON_COMPACT);
    cr_assert_str_eq (text ? text : "", quoted, "%s: %s instead of %s", member,
                      text, quoted);
    free (text);
    free (quoted);
    json_decref (instance);
}

//  ---- The list

Test (scripted_codec, the_whole_list_is_400_for_one_unknown_member)
{
    cr_assert_eq (s_post (REGISTER_AT ("5") ",{'appName':'A','x':1}"), 400);
    cr_assert_str_eq (s_response.body,
                      "{\"error\":\"cannot parse request body\"}");
    cr_assert_not (s_held ());
    cr_assert_eq (s_post (ITEM ("Heartbeat", "'overriddenstatus':'UP',")), 400);
    cr_assert_eq (
        s_call ("POST", BATCH, NULL, "{'replicationList':[],'other':1}"), 400);
}

Test (scripted_codec, an_action_is_an_exact_name_or_an_ordinal)
{
    cr_assert_eq (s_post (ITEM ("heartbeat", "")), 400);
    cr_assert_eq (s_post (ITEM ("Evict", "")), 400);
    cr_assert_eq (s_post ("{'appName':'A','id':'a1','action':5}"), 400);
    cr_assert_eq (s_item ("{'appName':'A','id':'a1','action':2}"), 404);
    cr_assert_eq (s_item ("{'appName':'A','id':'a1','action':null}"), 500);
}

Test (scripted_codec, a_list_that_is_missing_or_null_is_500)
{
    cr_assert_eq (s_call ("POST", BATCH, NULL, "{}"), 500);
    cr_assert_eq (s_call ("POST", BATCH, NULL, "{'replicationList':null}"),
                  500);
    cr_assert_eq (s_call ("POST", BATCH, NULL, "null"), 500);
}

Test (scripted_codec, an_empty_list_is_200)
{
    cr_assert_eq (s_post (""), 200);
    cr_assert_str_eq (s_response.body, "{\"responseList\":[]}");
}

Test (scripted_codec, a_null_item_is_500_after_those_before_it)
{
    cr_assert_eq (s_post (REGISTER_AT ("5") ",null," CANCEL), 500);
    cr_assert (s_held ());
}

Test (scripted_codec, what_is_no_list_is_400)
{
    cr_assert_eq (s_call ("POST", BATCH, NULL, "[]"), 400);
    cr_assert_eq (s_call ("POST", BATCH, NULL, ""), 400);
    cr_assert_eq (s_call ("POST", BATCH, NULL, "{'replicationList':{}}"), 400);
    cr_assert_eq (s_call ("POST", BATCH, NULL, "{'replicationList':["), 400);
}

Test (scripted_codec, text_behind_the_list_is_ignored)
{
    cr_assert_eq (s_call ("POST", BATCH, NULL, "{'replicationList':[]} x"),
                  200);
}

Test (scripted_codec, a_timestamp_is_a_number_or_the_text_of_one)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item (HEARTBEAT ("'5'")), 200);
    cr_assert_eq (s_item (HEARTBEAT ("5.9")), 200);
    cr_assert_eq (s_item (HEARTBEAT ("6")), 404);
    cr_assert_eq (s_item (HEARTBEAT ("''")), 200);
    cr_assert_eq (s_item (HEARTBEAT ("null")), 200);
    cr_assert_eq (s_item (HEARTBEAT ("' 5 '")), 200);
    cr_assert_eq (s_post (HEARTBEAT ("'five'")), 400);
    cr_assert_eq (s_post (HEARTBEAT ("true")), 400);
}

Test (scripted_codec, a_wrapped_info_makes_one_entry_too_many)
{
    cr_assert_eq (s_post (ITEM ("Register", "'instanceInfo':{'instance':" INFO (
                                                "'sid':'na'") "},")),
                  200);
    cr_assert_eq (s_code (0), 500);
    cr_assert_eq (s_code (1), 500);
    cr_assert_not (s_held ());
}

Test (scripted_codec, the_media_type_must_be_json)
{
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        {"Content-Type: application/json\r\n", 200},
        {"Content-Type: application/json;charset=UTF-8\r\n", 200},
        {"Content-Type: application/json;charset=utf-16\r\n", 415},
        {"Content-Type: text/plain\r\n", 415},
        {"Content-Type:\r\n", 415},
        {"Content-Type: application/xml\r\n", 400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq (
            s_call ("POST", BATCH, cases[i].headers, "{'replicationList':[]}"),
            cases[i].status, "%s", cases[i].headers);
}

Test (scripted_codec, the_answer_is_xml_unless_json_is_accepted)
{
    s_call ("POST", BATCH, "Accept: */*\r\n", "{'replicationList':[]}");
    cr_assert (strstr (s_response.text, "Content-Type: application/xml"));
}

//  Posts an empty list as gzip; returns the HTTP status
static int
s_post_gzip (void)
{
    char packed[256];
    char head[256];
    z_stream stream = {.next_in = (Bytef *) "{\"replicationList\":[]}",
                       .avail_in = sizeof "{\"replicationList\":[]}" - 1,
                       .next_out = (Bytef *) packed,
                       .avail_out = sizeof packed};
    cr_assert_eq (deflateInit2 (&stream, 1, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
    cr_assert_eq (deflate (&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd (&stream);
    int size = snprintf (head, sizeof head,
                         "POST " BATCH " HTTP/1.1\r\nContent-Length: %lu\r\n"
                         "Content-Type: application/json\r\n"
                         "Content-Encoding: gzip\r\n\r\n",
                         stream.total_out);
    int fd = speer_client_connect (speer_port (s_peer));
    cr_assert_eq (send (fd, head, (size_t) size, 0), size);
    cr_assert_gt (send (fd, packed, stream.total_out, 0), 0);
    speer_response_free (&s_response);
    speer_client_read (fd, LIMIT_MS, &s_response);
    close (fd);
    return s_response.status;
}

Test (scripted_codec, a_gzipped_list_is_400_unless_the_peer_inflates)
{
    cr_assert_eq (s_post_gzip (), 400);
    speer_set (s_peer, SPEER_SET_GUNZIP, 1);
    cr_assert_eq (s_post_gzip (), 200);
}

//  ---- InstanceInfo

Test (scripted_codec, absent_members_have_their_defaults)
{
    cr_assert_eq (s_register ("'sid':'na','lastDirtyTimestamp':5"), 200);
    s_expect ("status", "'UP'");
    s_expect ("overriddenStatus", "'UNKNOWN'");
    s_expect ("port", "{'$':7001,'@enabled':'true'}");
    s_expect ("securePort", "{'$':7002,'@enabled':'false'}");
    s_expect ("countryId", "1");
    s_expect ("metadata", "{'@class':'java.util.Collections$EmptyMap'}");
    s_expect ("lastDirtyTimestamp", "'5'");
    s_expect ("actionType", "'ADDED'");
}

Test (scripted_codec, an_absent_timestamp_is_the_receivers_clock)
{
    s_register ("'sid':'na'");
    cr_assert_gt (s_lease ().dirty, 1600000000000);
    s_register ("'lastDirtyTimestamp':'soon'");
    cr_assert_eq (s_lease ().dirty, 0);
}

Test (scripted_codec, values_are_read_as_the_codec_reads_them)
{
    s_register ("'status':'up','port':{'$':'80','@enabled':true},"
                "'securePort':{'@enabled':'TRUE'},'countryId':'7',"
                "'metadata':{'a':1,'b':null,'c':true,'@class':'x'},"
                "'appGroupName':'grp','unknown':3,'identifyingAttribute':[1]");
    s_expect ("status", "'UNKNOWN'");
    s_expect ("port", "{'$':80,'@enabled':'true'}");
    s_expect ("securePort", "{'@enabled':'false','$':7002}");
    s_expect ("countryId", "7");
    s_expect ("metadata", "{'a':'1','b':'null','c':'true'}");
    s_expect ("appGroupName", "'GRP'");
    s_expect ("unknown", "");
}

Test (scripted_codec, what_is_no_number_is_0)
{
    s_register ("'port':{'$':'x','@enabled':1},'countryId':'','securePort':"
                "{'$':null,'@enabled':' true '},'lastDirtyTimestamp':' 7.9 ',"
                "'leaseInfo':{'durationInSecs':'x'}");
    s_expect ("port", "{'$':0,'@enabled':'true'}");
    s_expect ("securePort", "{'$':0,'@enabled':'true'}");
    s_expect ("countryId", "0");
    s_expect ("lastDirtyTimestamp", "'7'");
    cr_assert_eq (s_lease ().duration_ms, 90000);
}

Test (scripted_codec, an_id_in_metadata_stands_in_for_an_absent_one)
{
    s_item (ITEM ("Register", "'instanceInfo':{'hostName':'h','app':'A',"
                              "'ipAddr':'i','dataCenterInfo':{'@class':"
                              "'com.netflix.appinfo.MyDataCenterInfo','name':"
                              "'MyOwn'},'metadata':{'instanceId':'9'}},"));
    cr_assert (speer_lease (s_peer, "A", "h:9", NULL));
}

Test (scripted_codec, an_item_without_id_fails_where_the_application_is_known)
{
    cr_assert_eq (s_item ("{'appName':'A','action':'Cancel'}"), 404);
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_item ("{'appName':'A','action':'Cancel'}"), 500);
}

Test (scripted_codec, a_copy_shows_what_later_items_made_of_it)
{
    s_item (REGISTER_AT ("5"));
    cr_assert_eq (s_post (HEARTBEAT ("4") "," CANCEL), 200);
    cr_assert (strstr (s_response.body, "\"actionType\":\"DELETED\""));
}

Test (scripted_codec, the_later_spelling_of_the_override_wins)
{
    s_register ("'overriddenStatus':'DOWN','overriddenstatus':'UP'");
    cr_assert_str_eq (s_lease ().overridden, "UP");
}

Test (scripted_codec, what_breaks_the_codec_is_400_for_all)
{
    static const char *const members[] = {
        "'port':8080",
        "'port':{'$':80,'other':1}",
        "'port':{'$':2147483648}",
        "'metadata':{'a':{}}",
        "'metadata':[]",
        "'leaseInfo':5",
        "'leaseInfo':{'durationInSecs':{}}",
        "'unknown':{}",
        "'unknown':[]",
        "'vipAddress':{}",
        "'countryId':2147483648",
        "'app':null",
        "'dataCenterInfo':{'name':'MyOwn'}",
        "'dataCenterInfo':{'@class':'other','name':'MyOwn'}",
        "'dataCenterInfo':{'@class':'com.netflix.appinfo.MyDataCenterInfo',"
        "'name':'Mine'}",
        "'dataCenterInfo':{'@class':'com.netflix.appinfo.MyDataCenterInfo',"
        "'name':'MyOwn','metadata':{}}",
        "'dataCenterInfo':{'@class':'com.netflix.appinfo.AmazonInfo',"
        "'metadata':{},'name':'Amazon'}",
        "'dataCenterInfo':{'@class':'com.netflix.appinfo.AmazonInfo',"
        "'name':'Amazon','metadata':{},'other':1}",
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        cr_assert_eq (s_register (members[i]), 400, "%s", members[i]);
    cr_assert_not (s_held ());
}

Test (scripted_codec, an_amazon_data_centre_gets_the_id_of_the_instance)
{
    s_register ("'dataCenterInfo':{'name':'Amazon','@class':"
                "'com.netflix.appinfo.AmazonInfo','metadata':{}}");
    s_expect ("dataCenterInfo", "{'@class':'com.netflix.appinfo.AmazonInfo',"
                                "'name':'Amazon','metadata':{'instance-id':"
                                "'a1'}}");
}

Test (scripted_codec, an_amazon_data_centre_without_metadata_swallows_a_member)
{
    cr_assert_eq (
        s_item (ITEM ("Register",
                      "'instanceInfo':{'app':'A','instanceId':'a1','hostName':"
                      "'h','ipAddr':'i','dataCenterInfo':{'@class':"
                      "'com.netflix.appinfo.AmazonInfo','name':'Amazon'},"
                      "'status':'DOWN','sid':'s'},")),
        200);
    cr_assert_str_eq (s_lease ().status, "UP");
}

Test (scripted_codec, a_batch_answers_200_to_what_it_does_not_store)
{
    static const char *const members[] = {
        "'hostName':''",
        "'hostName':null",
        "'ipAddr':''",
        "'app':'B'",
        "'dataCenterInfo':null",
        "'app':''",
        "'dataCenterInfo':{'@class':'com.netflix.appinfo.MyDataCenterInfo'}",
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        cr_assert_eq (s_register (members[i]), 200, "%s", members[i]);
        cr_assert_eq (s_code (0), 200, "%s", members[i]);
    }
    cr_assert_eq (speer_get (s_peer, SPEER_INSTANCES), 0);
}
