// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import DirectoryFixtures
import DirectoryServer
import DirectoryStore
import Foundation
import Synchronization
import TestFixtures
import Testing

/// Push services of a test: they record what they get, and respond as the test wants.
final class ScriptedPush: Sendable {
    /// One attempt.
    struct Attempt: Hashable, Sendable {
        let notice: PushNotice
        let platform: PushPlatform
        let address: String
        let key: String
    }

    private struct State {
        var attempts: [Attempt] = []
        var respond: @Sendable (Attempt) async -> PushOutcome = { _ in .delivered(id: nil) }
    }

    private let state = Mutex(State())

    var attempts: [Attempt] { state.withLock { $0.attempts } }

    func respond(_ body: @escaping @Sendable (Attempt) async -> PushOutcome) { state.withLock { $0.respond = body } }

    func gateway(_ platforms: Set<PushPlatform> = [.web, .ios, .android]) -> PushGateway {
        var gateway = PushGateway(platforms: platforms) { notice, platform, address, key in
            let attempt = Attempt(notice: notice, platform: platform, address: address, key: key)
            let respond = self.state.withLock { state in
                state.attempts.append(attempt)
                return state.respond
            }
            return await respond(attempt)
        }
        gateway.publicKey = "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
        return gateway
    }

    /// Runs a directory with these push services and a brand.
    static func run(
        _ edit: @escaping @Sendable (inout PushGateway) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningDirectory, ScriptedPush) async throws -> Void
    ) async throws {
        let push = ScriptedPush()
        var gateway = push.gateway()
        edit(&gateway)
        try await RunningDirectory.run(edit: { [gateway] in $0.push = gateway }) { directory in
            try directory.put(try entry(brand, "Harbour Dental", reason: "Your appointment tomorrow"))
            try await body(directory, push)
        }
    }

    static let brand = "+61491570156"
    static let person = "+61255501001"
    /// The subscription of RFC 8291 §5.
    static let subscription = """
        {"endpoint":"https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV","expirationTime":null,"keys":{\
        "p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",\
        "auth":"BTBZMqHH6r4Tts7J_aSIgg"}}
        """
    static let appleToken = String(repeating: "0123456789abcdef", count: 4)
}

extension RunningDirectory {
    static let push = "/api/" + APIPath.push

    func send(_ method: String, _ path: String, _ body: String = "", headers: [String: String] = [:]) async throws
        -> ReceivedResponse
    {
        var all = ["Content-Type": "application/json"]
        all.merge(headers) { $1 }
        return try await ask(path, method: method, headers: all, body: body)
    }

    /// Registers the browser of RFC 8291 for a number, and confirms it.
    func addBrowser(_ device: String = "browser", number: String = ScriptedPush.person) async throws {
        let body = """
            {"device_id":"\(device)","platform":"web","subscription":\(ScriptedPush.subscription),"numbers":["\(number)"]}
            """
        let response = try await send("POST", Self.push, body)
        try #require(response.status == 200, "\(response.text)")
        _ = try await PushDevices(database).confirm(device, number: nil, now: time.now)
    }

    /// A gateway reports the end of a call.
    func end(_ outcome: String, _ callOutcome: String?, call: String, to called: String = ScriptedPush.person)
        async throws
    {
        var event = EventRequest(phoneNumber: ScriptedPush.brand, outcome: outcome, eventKey: "\(outcome):\(call)")
        event.meta = ["call_event_id": .string(call), "destination_number_e164": .string(called)]
        event.meta?["call_outcome"] = callOutcome.map { .string($0) }
        _ = try await self.event(event)
    }
}
