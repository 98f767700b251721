// SPDX-License-Identifier: Apache-2.0

import BrandingAPI
import CallAccounting
import CallPath
import ConfigurationFiles
import Foundation
import GatewayDoors
import GatewayTesting
import NIOCore
import NIOHTTP1
import TestFixtures
import Testing
import Trust
import TrustFixtures

/// A door for verifications whose trunk has the signers of the laboratory, at a fixed time.
final class VerificationDoor: Sendable {
    let counters = VerificationCounters()
    let requests = SignerRequests()
    let signers: CurrentTrust
    let verification: DoorVerification
    private let log = LogLines()
    private let desk: VerificationDesk
    private let limits: DoorPlaces.Limits
    private let idle: TimeAmount

    static let path = "/v1/verification"
    static let json: [(name: String, value: String)] = [("Content-Type", "application/json")]

    /// - Parameters:
    ///   - verifies: whether the trunk has rules for signed calls.
    ///   - change: further keys of the door.
    init(
        _ regime: String = "us", known: [String]? = nil, crl: String? = nil, now: Int64 = 1_471_375_428,
        fetches: Bool = false, region: String = "US", verifies: Bool = true, snapshot: TrustSnapshot? = nil,
        allow: [String] = ["127.0.0.0/8"], limits: DoorPlaces.Limits = DoorPlaces.Limits(),
        idle: TimeAmount = .seconds(450),
        change: (inout HeraldConfiguration.Doors.Verification) -> Void = { _ in }
    ) throws {
        let lab = TrustLab.shared
        signers = CurrentTrust(try snapshot ?? lab.snapshot(known, at: now, crl: crl.flatMap { lab.crls[$0] }))
        let rules = TrunkSignatures(policy: TrustLab.policy(regime, fetches: fetches))
        let settings = CurrentSettings(DoorGateway.settings(region: region, signatures: verifies ? rules : nil))
        verification = DoorVerification(
            settings, GatewayTrust(signers: signers, requests: requests), trunk: "carrier")
        var door = HeraldConfiguration.Doors.Verification(
            listen: EndpointAddress(host: "127.0.0.1", port: 0, isIPv6: false), trunk: "carrier",
            allow: try allow.map { try SourceRange.read($0) })
        change(&door)
        desk = VerificationDesk(verification, door, counters: counters, logger: log.logger, now: { now })
        (self.limits, self.idle) = (limits, idle)
    }

    /// The response to a request without a socket.
    func respond(_ body: [UInt8], path: String = path) -> DoorResponse {
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: path,
            headers: ["Content-Type": "application/json", "Content-Length": "\(body.count)"])
        return desk.refusal(of: head, isAllowed: true, client: "127.0.0.1")
            ?? desk.response(to: head, body: ByteBuffer(bytes: body), isAllowed: true, client: "127.0.0.1")
    }

    /// The member `verificationResponse` of a response with status 200.
    func verify(_ body: String) throws -> [String: JSONValue] {
        let response = respond(Array(body.utf8))
        #expect(response.status == .ok && response.contentType == "application/json")
        return try Self.response(response.body)
    }

    /// The member `verificationResponse` of a body.
    static func response(_ body: [UInt8]) throws -> [String: JSONValue] {
        let root = try JSONValue.object(parsing: body)
        guard root.count == 1, case .object(let members) = root["verificationResponse"] else {
            throw JSONValue.ParsingError.malformed
        }
        return members
    }

    /// Runs a server for as long as `body` takes.
    func run(_ body: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
        let (ports, announced) = AsyncStream.makeStream(of: Int.self)
        let server = HTTPDoorServer(
            EndpointAddress(host: "127.0.0.1", port: 0, isIPv6: false), desk, limits: limits, idle: idle,
            logger: log.logger, onListening: { announced.yield($0) })
        let services = RunningServices([server], logger: log.logger) { announced.finish() }
        try await services.stop(after: {
            var iterator = ports.makeAsyncIterator()
            try await body(try #require(await iterator.next(), "the server ended before it listened"))
        })
    }

    /// The warnings of the log.
    var warnings: [String] { log.all.filter { $0.hasPrefix("warning ") } }

    /// The requests with a result.
    func count(_ label: String) -> UInt64 { counters.all.first { $0.label == label }?.count ?? 0 }
}

/// A text as a JSON string.
func quoted(_ text: String) -> String {
    var json = JSONText()
    json.string(text)
    return String(decoding: json.bytes, as: UTF8.self)
}
