// SPDX-License-Identifier: Apache-2.0

import Branding
import GatewaySync
import Host
import Logging
import Synchronization
import TestFixtures
import Testing

@testable import ConfigurationFiles
@testable import GatewayOperator

@Suite("The service of alarms", .timeLimit(.minutes(8)))
struct AlarmServiceTests {
    private let mix: CallMix
    private let standing = AlarmStanding()
    private let folder = TemporaryFolder()

    /// 29 days, and 20 calls from a trunk without trust on the last one: three alarms.
    init() throws {
        mix = try CallMix(seed: 7)
        for day in 0..<Int64(29) { try mix.normal(day: day) }
        for _ in 0..<20 { mix.call(28, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted) }
        try mix.store()
    }

    private func service(_ url: String?) -> AlarmService {
        var settings = HeraldConfiguration.Alarms()
        settings.webhook = url.map { HeraldConfiguration.Webhook(url: $0, secret: ConfiguredSecret("s3cret")) }
        let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var service = AlarmService(LedgerQueue(mix.reader), folder: folder.path, standing: standing, logger: silent) {
            [settings] in settings
        }
        let now = CallMix.noon(of: 28)
        service.time = ServiceClock(now: { now }, sleep: { _ in }, chance: { 0 })
        return service
    }

    @Test func `each alarm is one digest, also after a restart`() async throws {
        let receiver = try FaultyPeer { _, _ in .status(204) }
        let service = service(receiver.url + "/alarms")
        var rounds = AlarmRounds(folder: folder.path)
        let isFirst = await service.round(&rounds)
        #expect(isFirst)
        let isSecond = await service.round(&rounds)
        #expect(isSecond)
        var restarted = AlarmRounds(folder: folder.path)
        let isThird = await service.round(&restarted)
        #expect(isThird)
        #expect(
            receiver.requests.compactMap { $0.headers["idempotency-key"] }.sorted()
                == standing.alarms.map(\.key).sorted())
        #expect(receiver.requests.count == 3 && rounds.logged.count == 3)
        #expect(standing.counters.map(\.value) == [3, 0] && standing.problem == nil)
        let bodies = receiver.requests.map(\.body)
        #expect(bodies.allSatisfy { $0.contains("spoofing_alarm") && !$0.contains("61255502") }, "\(bodies)")
    }

    @Test func `a digest that was not taken is sent again, with its key`() async throws {
        let isMended = Mutex(false)
        let receiver = try FaultyPeer { _, _ in .status(isMended.withLock { $0 } ? 200 : 500) }
        let service = service(receiver.url + "/alarms")
        var rounds = AlarmRounds(folder: folder.path)
        let isTaken = await service.round(&rounds)
        #expect(!isTaken)
        #expect(standing.problem?.hasPrefix("alarms.webhook returned 500") == true, "\(standing.problem ?? "")")
        isMended.withLock { $0 = true }
        let isMendedRound = await service.round(&rounds)
        #expect(isMendedRound)
        #expect(standing.counters.map(\.value) == [3, 1] && receiver.requests.count == 4)
    }

    @Test func `without a webhook the alarms are on the page and in the metrics`() async throws {
        var rounds = AlarmRounds(folder: folder.path)
        let isRead = await service(nil).round(&rounds)
        #expect(isRead)
        #expect(standing.alarms.count == 3 && standing.gauges.map(\.value) == [1, 1, 1, 0])
    }

    @Test func `a refused digest does not keep the others waiting, and is sent without another reading`() async throws {
        let receiver = try FaultyPeer { request, _ in .status(request.body.contains("\"trunk\"") ? 400 : 204) }
        let service = service(receiver.url + "/alarms")
        var rounds = AlarmRounds(folder: folder.path)
        let isFirst = await service.round(&rounds)
        #expect(!isFirst && standing.counters.map(\.value) == [2, 1])
        // A call since: another reading would count it.
        mix.call(28, .acme, trunk: 2, .none, isTrusted: false, reason: .untrusted)
        try mix.store()
        let calls = standing.alarms.map(\.calls)
        let isSecond = await service.round(&rounds)
        #expect(!isSecond && receiver.requests.count == 4 && standing.alarms.map(\.calls) == calls)
    }

    @Test func `a shutdown ends a reading after its piece`() async throws {
        let queue = LedgerQueue(mix.reader)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.spoofingAlarms(.init(), days: 2, now: CallMix.noon(of: 28))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        // The service of the gateway ends without a problem.
        let service = service(nil)
        var rounds = AlarmRounds(folder: folder.path)
        rounds = await Task { [rounds] in
            var rounds = rounds
            withUnsafeCurrentTask { $0?.cancel() }
            _ = await service.round(&rounds)
            return rounds
        }.value
        #expect(rounds.reading == nil && standing.problem == nil && standing.readAt == nil)
    }
}
