// SPDX-License-Identifier: Apache-2.0

import CallAccounting
import GatewaySync
import Testing

@testable import GatewaySync

@Suite("Logo addresses")
struct LogoAddressTests {
    @Test(arguments: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
    func `public addresses may be asked`(text: String) throws {
        #expect(try #require(LogoAddress(text)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1",
        "ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "3fff::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::a00:1", "::7f00:1", "64:ff9b:1::1",
    ]) func `others may not`(text: String) throws {
        #expect(try !#require(LogoAddress(text)).isPublic)
    }

    @Test(arguments: ["", "localhost", "127.1", "1.2.3", "[::1]", "fe80::1%eth0"])
    func `what is no literal is no address`(text: String) { #expect(LogoAddress(text) == nil) }

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
        #expect(!origin.url.contains("ASSETS"))
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
