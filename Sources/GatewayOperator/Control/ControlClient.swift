// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1

/// A command could not reach a gateway, or the gateway refused it; the text has cause and remedy.
struct ControlFailure: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Sends an operator's commands to the gateway of a runtime folder.
///
/// Each command has a connection of its own. A cancelled task closes it.
struct ControlClient: Sendable {
    /// Longest body of a response to a command: 16 MiB.
    private static let limit = 16 << 20
    /// Longest line of a stream: 1 MiB.
    private static let lineLimit = 1 << 20

    private let path: String

    /// - Parameter folder: `gateway.runtime`.
    init(folder: String) { path = folder + "/" + ControlServer.socketName }

    /// Requests a sync at once.
    ///
    /// - Throws: `ControlFailure` if no gateway accepts the command.
    func sync(full: Bool, customer: String? = nil) async throws(ControlFailure) -> ControlledSync {
        try await post("/v1/sync", query: ["full": full ? "true" : "false", "customer": customer])
    }

    /// The state of the gateway.
    func state() async throws(ControlFailure) -> ControlledState { try await get("/v1/status") }

    /// The customers of the gateway.
    ///
    /// - Parameter name: the only customer that is wanted; nil for all.
    func customers(named name: String? = nil) async throws(ControlFailure) -> [GatewayStatus.Customer] {
        try await get("/v1/customers", query: ["name": name])
    }

    /// Makes the gateway read its configuration again.
    func reload() async throws(ControlFailure) -> ControlledReload { try await post("/v1/reload") }

    /// Asks what a reload would change.
    func planReload() async throws(ControlFailure) -> ControlledReloadPlan { try await get("/v1/reload") }

    /// Makes the gateway reject new calls, or take them again.
    func drain(_ isOn: Bool) async throws(ControlFailure) -> ControlledState {
        try await post("/v1/drain", query: ["on": isOn ? "true" : "false"])
    }

    /// The level of the log.
    func logLevel() async throws(ControlFailure) -> ControlledLogLevel { try await get("/v1/log-level") }

    /// Sets the level of the log.
    ///
    /// - Parameters:
    ///   - level: nil returns to that of the configuration.
    ///   - seconds: the time until it returns by itself; nil for no end.
    func setLogLevel(_ level: String?, seconds: Int?) async throws(ControlFailure) -> ControlledLogLevel {
        let seconds = level == nil ? nil : seconds.map(String.init)
        return try await post("/v1/log-level", query: ["level": level, "seconds": seconds])
    }

    /// The targets of calls.
    func targets() async throws(ControlFailure) -> [GatewayStatus.Target] { try await get("/v1/targets") }

    /// Takes a target out of service or back.
    func setTarget(
        _ name: String, isDisabled: Bool
    ) async throws(ControlFailure) -> GatewayStatus.Target {
        try await post("/v1/targets", query: ["name": name, "enabled": isDisabled ? "false" : "true"])
    }

    /// Fetches logos again.
    ///
    /// - Parameters:
    ///   - url: the only logo; nil for all.
    ///   - clears: removes their copies first.
    ///   - customer: the customer whose brands name them; nil for those of calls without a customer.
    func renewLogos(
        _ url: String?, clears: Bool, customer: String? = nil
    ) async throws(ControlFailure) -> ControlledLogos {
        try await post("/v1/logos", query: ["clear": clears ? "true" : "false", "url": url, "customer": customer])
    }

    /// Asks for a value.
    ///
    /// - Parameters:
    ///   - target: the path of a command, such as `/v1/targets`.
    ///   - query: names and values without percent encoding.
    /// - Throws: `ControlFailure` without a gateway, and with the gateway's reason if it refuses.
    func get<Value: Decodable>(
        _ target: String, query: KeyValuePairs<String, String?> = [:]
    ) async throws(ControlFailure) -> Value {
        try await value(of: ControlRequest(.GET, target, query: query))
    }

    /// Gives an order without a body; parameters and errors are those of `get`.
    func post<Value: Decodable>(
        _ target: String, query: KeyValuePairs<String, String?> = [:]
    ) async throws(ControlFailure) -> Value {
        try await value(of: ControlRequest(.POST, target, query: query))
    }

    /// Gives an order with a JSON body; errors are those of `get`.
    func post<Value: Decodable>(_ target: String, body: some Encodable) async throws(ControlFailure) -> Value {
        do {
            let body = try JSONEncoder().encode(body)
            return try await value(of: ControlRequest(.POST, target, body: body))
        } catch {
            throw error as? ControlFailure ?? ControlFailure("the command cannot be written as JSON: \(error)")
        }
    }

    /// Reads the lines of a stream until its end.
    ///
    /// Cancel the task to end the stream early.
    ///
    /// - Parameters:
    ///   - method: POST for an order, which the gateway logs.
    ///   - each: receives one line without its line end. An error of it ends the stream.
    /// - Throws: `ControlFailure` without a gateway, when it refuses, and when it ends in the middle of the stream;
    ///   `CancellationError`; the errors of `each`.
    func lines(
        of target: String, by method: HTTPMethod = .GET, query: KeyValuePairs<String, String?> = [:],
        _ each: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        try await exchange(ControlRequest(method, target, query: query)) { status, response in
            var pending = ByteBuffer()
            while let bytes = try await response.next() {
                pending.writeImmutableBuffer(bytes)
                guard status == .ok else { continue }
                while let end = pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = pending.readString(length: end - pending.readerIndex) ?? ""
                    pending.moveReaderIndex(forwardBy: 1)
                    try await each(line)
                }
                pending.discardReadBytes()
                guard pending.readableBytes <= Self.lineLimit else {
                    throw ControlFailure("the gateway at \(path) sent a line of more than \(Self.lineLimit) bytes")
                }
            }
            guard status == .ok else { throw refusal(status, Data(pending.readableBytesView)) }
        }
    }

    private func value<Value: Decodable>(of request: ControlRequest) async throws(ControlFailure) -> Value {
        do {
            let (status, body) = try await exchange(request) { status, response in
                var body = Data()
                while let bytes = try await response.next() {
                    body.append(contentsOf: bytes.readableBytesView)
                    guard body.count <= Self.limit else {
                        throw ControlFailure("the gateway at \(path) sent more than \(Self.limit) bytes")
                    }
                }
                return (status, body)
            }
            // A result that is no success, such as that of a failed sync, has its own shape.
            if let value = try? JSONDecoder().decode(Value.self, from: body) { return value }
            throw refusal(status, body)
        } catch {
            throw error as? ControlFailure ?? ControlFailure("the command was interrupted")
        }
    }

    private func exchange<Value: Sendable>(
        _ request: ControlRequest,
        _ read: @escaping @Sendable (HTTPResponseStatus, inout ControlBody) async throws -> Value
    ) async throws -> Value {
        try await ControlConnection(path: path).exchange(request, read)
    }

    /// The gateway's own reason, or that of a response without one.
    private func refusal(_ status: HTTPResponseStatus, _ body: Data) -> ControlFailure {
        if let problem = try? JSONDecoder().decode(ControlProblem.self, from: body) {
            return ControlFailure(problem.error)
        }
        return ControlFailure(
            "the gateway at \(path) does not know this command (\(status.code)); compare herald "
                + "--version with the running gateway"
        )
    }
}
