// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import DirectoryFixtures
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import DirectoryServer
@testable import DirectoryStore

@Suite("Sending of push messages", .timeLimit(.minutes(8)), .bothEngines)
struct PushServiceTests {
    @Test func `a missed call becomes a message with name, reason, links and tag`() async throws {
        try await ScriptedPush.run { directory, push in
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "0f3c9a52-77de")
            #expect(try await waits { push.attempts.count == 1 })
            let attempt = try #require(push.attempts.first)
            #expect(attempt.notice.kind == .missedCall && attempt.notice.tag == "0f3c9a52-77de")
            #expect(attempt.notice.title == "Harbour Dental tried to reach you")
            #expect(attempt.notice.body == "Your appointment tomorrow")
            #expect(attempt.notice.deepLink == "herald://call/0f3c9a52-77de")
            #expect(attempt.notice.webURL == "https://brands.example/b/acme" && attempt.notice.brandID == "acme")
            #expect(attempt.notice.lifetime == 86_400 && attempt.platform == .web)
            #expect(WebSubscription(stored: attempt.address)?.host == "push.example.net")
            #expect(attempt.key == "missed_call:0f3c9a52-77de:browser")
        }
    }

    @Test func `a push service that hangs delays no event`() async throws {
        try await ScriptedPush.run { directory, push in
            let isOver = Atomic<Bool>(false)
            push.respond { _ in
                while !isOver.load(ordering: .relaxed) { try? await Task.sleep(for: .milliseconds(5)) }
                return .later(after: nil, reason: "timeout")
            }
            defer { isOver.store(true, ordering: .relaxed) }
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "hangs")
            #expect(try await waits { push.attempts.count == 1 })
            for call in 0..<30 { try await directory.end("missed", "MISSED", call: "call-\(call)") }
            #expect(try EventLedger(directory.database).page(.init(), limit: 99).events.count == 31)
        }
    }

    @Test func `a service that is down is tried again by the schedule, with one key, and later than it asks`()
        async throws
    {
        try await ScriptedPush.run { directory, push in
            push.respond { _ in .later(after: .seconds(600), reason: "429") }
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
            try await settled(directory)
            directory.time.advance(by: .seconds(590))
            try await Task.sleep(for: .seconds(3))
            #expect(push.attempts.count == 1)
            push.respond { _ in .delivered(id: nil) }
            directory.time.advance(by: .seconds(40))
            #expect(try await waits { push.attempts.count == 2 })
            #expect(Set(push.attempts.map(\.key)).count == 1)
            try await settled(directory)
            directory.time.advance(by: .seconds(3_600))
            try await Task.sleep(for: .seconds(3))
            #expect(push.attempts.count == 2)
        }
    }

    @Test func `a device that its service does not know any more is removed`() async throws {
        try await ScriptedPush.run { directory, push in
            push.respond { _ in .gone(reason: "410") }
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "a-1")
            await until { (try? await PushDevices(directory.database).page(after: nil, limit: 9).isEmpty) == true }
            #expect(try await PushDevices(directory.database).page(after: nil, limit: 9).isEmpty)
            try await directory.end("missed", "MISSED", call: "a-2")
            #expect(push.attempts.count == 1)
        }
    }

    @Test(arguments: [PushOutcome.refused(reason: "400"), .tooLarge])
    func `a refused message is not sent again`(outcome: PushOutcome) async throws {
        try await ScriptedPush.run { directory, push in
            push.respond { _ in outcome }
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
            try await settled(directory)
            #expect(try await PushOutbox(directory.database).waiting() == 0)
            #expect(try await PushDevices(directory.database).page(after: nil, limit: 9).count == 1)
        }
    }

    @Test func `a stop waits for attempts in progress`() async throws {
        let (push, folder) = (ScriptedPush(), TemporaryFolder())
        push.respond { _ in
            try? await Task.sleep(for: .milliseconds(500))
            return .delivered(id: nil)
        }
        let gateway = push.gateway()
        try await RunningDirectory.run(in: folder, edit: { $0.push = gateway }) { directory in
            try directory.put(try entry(ScriptedPush.brand, "Harbour Dental"))
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
        }
        #expect(try await PushOutbox(Engine.open(folder.path + "/state")).waiting() == 0)
    }

    @Test func `metrics have attempts by their result`() async throws {
        try await ScriptedPush.run { directory, push in
            try await directory.addBrowser()
            try await directory.end("missed", "MISSED", call: "a-1")
            #expect(try await waits { push.attempts.count == 1 })
            await until {
                let text = (try? await directory.ask("/metrics"))?.text ?? ""
                return text.contains(
                    #"herald_directory_push_attempts_total{platform="web",result="delivered"} 1"#)
            }
            let text = try await directory.ask("/metrics").text
            #expect(text.contains("herald_directory_push_waiting "), "\(text.prefix(200))")
        }
    }

    /// Waits until no delivery is leased.
    private func settled(_ directory: RunningDirectory) async throws {
        await until {
            let leased = try? await directory.database.pool.read { database in
                try database.value(Int.self, "SELECT count(*) FROM push_delivery WHERE holder IS NOT NULL")
            }
            return leased == 0
        }
    }
}

@Suite("Rules of push messages")
struct PushRuleTests {
    @Test func `pauses grow, are spread, and are never shorter than the service asks`() {
        #expect(PushRetries.pause(after: 1, nil, share: 0) == 10)
        #expect(PushRetries.pause(after: 1, nil, share: 1) == 12)
        #expect(PushRetries.pause(after: 7, nil, share: 0) == 3_600)
        #expect(PushRetries.pause(after: 99, nil, share: 1) == 4_500)
        #expect(PushRetries.pause(after: 1, .seconds(120), share: 0) == 120)
        #expect(PushRetries.pause(after: 1, .seconds(120), share: 1) == 135)
        #expect(PushRetries.pause(after: 7, .seconds(1), share: 0) == 3_600)
        #expect(PushRetries.pause(after: 1, .seconds(10_000_000), share: 0) == 86_400)
    }

    @Test func `five failures in a row keep deliveries away, and one of them tries again`() {
        let breaker = PushBreaker()
        for _ in 0..<4 { #expect(!breaker.fail("a", now: 0)) }
        #expect(breaker.wait("a", now: 0) == nil)
        #expect(breaker.fail("a", now: 0))
        #expect(breaker.wait("a", now: 29) == 30 && breaker.wait("b", now: 29) == nil)
        #expect(breaker.wait("a", now: 30) == nil)
        #expect(breaker.wait("a", now: 30) == 60, "one delivery tries the service")
        #expect(!breaker.fail("a", now: 31))
        #expect(breaker.wait("a", now: 90) == 91)
        var now: Int64 = 91
        for pause: Int64 in [120, 240, 480, 600, 600] {
            #expect(breaker.wait("a", now: now) == nil && !breaker.fail("a", now: now))
            #expect(breaker.wait("a", now: now) == now + pause)
            now += pause
        }
        breaker.succeed("a")
        #expect(breaker.wait("a", now: now) == nil)
    }

    /// A service that fails for a moment has all attempts in progress fail.
    @Test func `failures of attempts in progress do not lengthen a pause`() {
        let breaker = PushBreaker()
        for _ in 0..<PushService.concurrency { _ = breaker.fail("a", now: 0) }
        #expect(breaker.wait("a", now: 29) == 30)
        #expect(breaker.wait("a", now: 30) == nil)
        for _ in 0..<PushService.concurrency { _ = breaker.fail("a", now: 30) }
        #expect(breaker.wait("a", now: 89) == 90 && breaker.wait("a", now: 90) == nil)
    }

    private static func delivery(
        _ topic: PushTopic, _ disclosure: PushDisclosure?, isWithdrawal: Bool = false
    ) -> PushDelivery {
        PushDelivery(
            account: .first, device: "d", platform: .ios, address: "t", topic: topic, key: "a-1", brandID: "ä/1",
            brandName: "Harbour Dental", reason: "Your appointment tomorrow", disclosure: disclosure, sentAt: 100,
            expires: 200, attempts: 0, isWithdrawal: isWithdrawal, message: 1, holder: "")
    }

    @Test(
        arguments: [
            (.missedCall, .full, "Harbour Dental tried to reach you", "Your appointment tomorrow"),
            (.missedCall, nil, "Harbour Dental tried to reach you", "Missed call"),
            (.missedCall, .silent, "Missed call", ""),
            (.callReturned, .full, "Harbour Dental", "A person has called back"),
            (.callReturned, .silent, "Call returned", ""),
            (.brandChanged, .name, "Harbour Dental", "This brand has a new name or logo"),
            (.brandChanged, .silent, "Brand changed", ""),
        ] as [(PushTopic, PushDisclosure?, String, String)])
    func `a message has no more than the device discloses`(
        topic: PushTopic, disclosure: PushDisclosure?, title: String, body: String
    ) {
        var gateway = ScriptedPush().gateway()
        gateway.disclosure = .name
        let notice = PushNotice(
            Self.delivery(topic, disclosure), gateway, publicURL: "https://brands.example/")
        #expect(notice.title == title && notice.body == body && notice.lifetime == 100)
        #expect((notice.brandID == nil) == (disclosure == .silent))
        #expect((notice.webURL == nil) == (disclosure == .silent))
        #expect(notice.webURL == nil || notice.webURL == "https://brands.example/b/%C3%A4%2F1")
        #expect(notice.disclosure == disclosure ?? .name)
    }

    @Test func `the message that replaces another one is silent and has its tag`() {
        let gateway = ScriptedPush().gateway()
        let notice = PushNotice(
            Self.delivery(.missedCall, .full, isWithdrawal: true), gateway, publicURL: nil)
        #expect(notice.disclosure == .silent && notice.tag == "a-1" && notice.brandID == nil)
        #expect(!notice.title.contains("Harbour"))
    }
}
