// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@Suite("URLs without secrets")
struct ShownURLTests {
    @Test(arguments: [
        ("https://directory.example.com", "https://directory.example.com"),
        ("https://directory.example.com:8443/", "https://directory.example.com:8443/"),
        ("http://127.0.0.1:8088/api", "http://127.0.0.1:8088/api"),
        ("https://directory.example.com/api//", "https://directory.example.com/api//"),
        ("https://directory.example.com/tenant/s3cret", "https://directory.example.com/tenant/<redacted>"),
        ("https://directory.example.com//s3cret", "https://directory.example.com//<redacted>"),
        ("https://directory.example.com/a/s3cret?s3cret", "https://directory.example.com/a/<redacted>?<redacted>"),
        ("https://user:s3cret@[2001:db8::1]:8443/api", "https://<redacted>@[2001:db8::1]:8443/api"),
        ("https://s3cret@directory.example.com", "https://<redacted>@directory.example.com"),
        ("https://user:s3c@ret@directory.example.com", "https://<redacted>@directory.example.com"),
        (
            "https://directory.example.com/?token=s3cret&a=b",
            "https://directory.example.com/?token=<redacted>&a=<redacted>"
        ),
        ("https://directory.example.com?token=s3cret#a", "https://directory.example.com?<redacted>"),
        ("https://directory.example.com#s3cret", "https://directory.example.com#<redacted>"),
        (
            "postgres://herald@db1,db2:5433/herald?sslmode=require",
            "postgres://herald@db1,db2:5433/herald?sslmode=require"
        ),
        ("postgres://herald:s3cret@db/herald", "postgres://herald:<redacted>@db/herald"),
        (
            "postgresql://db/herald?sslmode=require&sslpassword=s3cret&p%61ssword=s3cret",
            "postgresql://db/herald?sslmode=require&sslpassword=<redacted>&p%61ssword=<redacted>"
        ),
        ("sip:user@host", "sip:user@host"), ("", ""), ("://", "://"),
    ])
    func `a URL keeps host and the first part of its path`(url: String, shown: String) {
        #expect(ShownURL.text(url) == shown)
        #expect(!ShownURL.text(url).contains("s3cret"))
    }

    @Test(arguments: [
        ("https://hooks.slack.com/services/T0/B0/s3cret", "https://hooks.slack.com/<redacted>"),
        ("https://webhook.site/s3cret", "https://webhook.site/<redacted>"),
        ("https://user:s3cret@crm.example.com?token=s3cret", "https://<redacted>@crm.example.com/<redacted>"),
        ("https://crm.example.com/", "https://crm.example.com/"),
        ("https://crm.example.com", "https://crm.example.com"),
    ])
    func `the URL of a webhook keeps no path`(url: String, shown: String) {
        #expect(ShownURL.withoutPath(url) == shown)
    }
}
