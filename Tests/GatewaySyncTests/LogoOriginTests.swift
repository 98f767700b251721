// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import CheckedHTTP
import GatewaySync
import Testing

@testable import GatewaySync

@Suite("Hosts of logos")
struct LogoOriginTests {
    private static var settings: LogoSettings {
        LogoSettings(hosts: ["assets.example", "own.example:8443", "[::1]:9"], forms: .asItCame, version: "1")
    }

    @Test(arguments: [
        ("https://assets.example/a.png", "assets.example"), ("https://ASSETS.example/a.png", "assets.example"),
        ("https://assets.example:443/a.png", "assets.example"), ("https://own.example:8443/a", "own.example"),
        ("https://[::1]:9/a", "::1"),
    ]) func `hosts on the list are asked, whatever their letters`(url: String, host: String) throws {
        let origin = try LogoOrigin(url, Self.settings)
        #expect(origin.host == host)
        #expect(!origin.url.text.contains("ASSETS"))
    }

    @Test(arguments: [
        ("http://assets.example/a.png", "insecure"), ("https://evil.example/a.png", "host_not_allowed"),
        ("https://assets.example.evil.example/", "host_not_allowed"),
        ("https://assets.example:8080/", "host_not_allowed"),
        ("https://own.example/", "host_not_allowed"), ("https://assets.example@evil.example/", "bad_url"),
        ("https://user:secret@assets.example/", "bad_url"), ("https://assets%2eexample/", "bad_url"),
        ("ftp://assets.example/", "bad_url"), ("file:///etc/passwd", "bad_url"), ("//assets.example/a", "bad_url"),
        ("https:///a", "bad_url"), ("https://[::1%25lo]:9/a", "bad_url"), ("", "bad_url"),
        ("https://assets.example/\u{1B}[2J", "bad_url"),
    ]) func `others are refused before anything is looked up`(url: String, reason: String) {
        do throws(LogoProblem) {
            let origin = try LogoOrigin(url, Self.settings)
            Issue.record("\(origin) was let through")
        } catch {
            #expect(error.reason == reason)
        }
    }
}
