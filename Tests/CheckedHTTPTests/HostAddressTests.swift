// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import CheckedHTTP

@Suite("Addresses of foreign hosts")
struct HostAddressTests {
    @Test(arguments: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
    func `public addresses may be asked`(text: String) throws {
        #expect(try #require(HostAddress(text)).isPublic)
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1",
        "ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "3fff::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "64:ff9b::a00:1", "::7f00:1", "64:ff9b:1::1",
    ]) func `others may not`(text: String) throws {
        #expect(try !#require(HostAddress(text)).isPublic)
    }

    @Test(arguments: ["", "localhost", "127.1", "1.2.3", "[::1]", "fe80::1%eth0"])
    func `what is no literal is no address`(text: String) { #expect(HostAddress(text) == nil) }

    @Test func `a cancelled look-up ends before the resolver does`() async {
        // The resolver of this machine has no say: the task is cancelled before it starts.
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return await HostAddress.resolve("name.invalid")
        }
        task.cancel()
        #expect(await task.value.isEmpty)
    }
}

@Suite("Hosts without a response")
struct HostCircuitBreakerTests {
    @Test func `the third failure in a row skips a host for the pause, and then each further one does`() {
        var breaker = HostCircuitBreaker(pause: 60)
        for second in Int64(0)..<3 {
            #expect(breaker.failure(of: "a.example", at: second) == nil)
            breaker.record(.timeout(.seconds(5)), of: "a.example", at: second)
        }
        #expect(breaker.failure(of: "a.example", at: 61) == .timeout(.seconds(5)))
        #expect(breaker.failure(of: "b.example", at: 61) == nil && breaker.skipped(at: 61).count == 1)
        #expect(breaker.failure(of: "a.example", at: 62) == nil, "one attempt")
        breaker.record(.unresolvable("a.example"), of: "a.example", at: 62)
        #expect(breaker.failure(of: "a.example", at: 63) == .unresolvable("a.example"))
        breaker.spoke("a.example")
        #expect(breaker.failure(of: "a.example", at: 63) == nil && breaker.skipped(at: 63).count == 0)
    }

    @Test(arguments: [FetchFailure.status(503), .redirect(302), .tooLarge(limit: 1), .forbiddenAddress("10.0.0.1")])
    func `a failure with a response shows a living host`(failure: FetchFailure) {
        var breaker = HostCircuitBreaker(pause: 60)
        for _ in 0..<2 { breaker.record(.network("reset"), of: "a.example") }
        breaker.record(failure, of: "a.example")
        breaker.record(.network("reset"), of: "a.example")
        #expect(breaker.failure(of: "a.example") == nil)
    }

    @Test func `invented hosts do not fill the memory`() {
        var breaker = HostCircuitBreaker(pause: 60)
        for number in 0..<30_000 {
            for _ in 0..<3 { breaker.record(.timeout(.seconds(5)), of: "host\(number).example", at: 0) }
        }
        #expect(breaker.skipped(at: 1).count == HostCircuitBreaker.mostHosts)
        for _ in 0..<3 { breaker.record(.timeout(.seconds(5)), of: "late.example", at: 70) }
        #expect(breaker.skipped(at: 71).count == 1)
    }
}
