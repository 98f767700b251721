// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import CallPath
import Foundation
import Primitives
import SIPCore

/// A record of the tap with everything that its readers may see of it.
struct TracedView {
    let record: TraceRecord
    /// Nil for a message that Herald cannot read.
    let facts: TraceFacts?
    let marks: TraceCalls.Marks
    let parties: TraceCalls.Parties?
    /// Nil for an unknown peer.
    let peer: GatewayTopology.TracedPeer?
    let sockets: [LocalSocket]
    /// Names the Call-IDs of withheld callers.
    let secret: Secret

    private var isReceived: Bool { record.kind == .received }
    private var socket: LocalSocket? { sockets.indices.contains(record.socket) ? sockets[record.socket] : nil }
    private var near: PeerAddress { socket?.address ?? record.address.with(port: 0) }

    /// The rules for a reader.
    private func redaction(_ numbers: TraceOrder.Numbers) -> TraceRedaction {
        guard marks.exposure(numbers) == .withheld else { return TraceRedaction(marks.exposure(numbers)) }
        // A later message may name the caller in another field, or the callee that withholds its own number.
        var secrets = (parties?.callers ?? []) + (facts?.callers ?? [])
        if !marks.contains(.known) || parties == nil { secrets += facts?.called ?? [] }
        return TraceRedaction(marks, numbers, secrets: secrets, secret)
    }

    /// The event for a reader.
    func line(_ numbers: TraceOrder.Numbers) -> TraceLine {
        let redaction = redaction(numbers)
        let (far, near) = (TraceEndpoint(record.address), TraceEndpoint(near))
        let message = TracedMessage(
            isReceived: isReceived, transport: socket?.transport.traced ?? .udp, source: isReceived ? far : near,
            destination: isReceived ? near : far, side: peer.map { $0.isTrunk ? .trunk : .pbx } ?? .unknown,
            peer: peer?.name ?? record.address.description,
            summary: facts.map { redaction.text(Array($0.summary.utf8)) } ?? "(unreadable)",
            bytes: Data(redaction.message(record.bytes)), cut: max(0, record.length - record.bytes.count))
        return TraceLine(
            .message(message), wallMicroseconds: record.wallMicroseconds,
            callID: redaction.callID(facts?.callID ?? []))
    }

    /// Appends the packet for a collector.
    func append(_ packet: HEPPacket, _ numbers: TraceOrder.Numbers, to batch: inout HEPBatch) {
        if batch.isEmpty { batch.bytes.reserveCapacity(TraceService.longestBatch + record.bytes.count + 1500) }
        let redaction = redaction(numbers)
        let (far, near) = (HEPPacket.Address(record.address), HEPPacket.Address(near))
        let head = HEPPacket.Head(
            source: isReceived ? far : near, destination: isReceived ? near : far,
            transport: socket?.transport.traced ?? .udp, wallMicroseconds: record.wallMicroseconds)
        packet.append(head, to: &batch.bytes) { out in
            if let facts { redaction.appendCallID(facts.callID, to: &out) }
        } payload: { out in
            redaction.append(record.bytes, to: &out)
        }
        batch.ends.append(batch.bytes.count)
    }
}

extension HEPPacket.Address {
    fileprivate init(_ address: PeerAddress) {
        self.init(high: address.high, low: address.low, port: address.port, isIPv6: address.isIPv6)
    }
}

extension TraceEndpoint {
    fileprivate init(_ address: PeerAddress) {
        let high = withUnsafeBytes(of: address.high.bigEndian) { Array($0) }
        let low = withUnsafeBytes(of: address.low.bigEndian) { Array($0) }
        self.init(
            bytes: address.isIPv6 ? high + low : Array(low.suffix(4)), port: address.port, text: address.description)
    }
}

extension SIPTransportKind {
    fileprivate var traced: TracedMessage.Transport {
        switch self {
        case .udp: .udp
        case .tcp: .tcp
        case .tls: .tls
        }
    }
}

extension TracedDecision {
    /// The evidence of the decision, in one line.
    ///
    /// - Parameters:
    ///   - exposure: the parts of the call that the reader may see.
    ///   - brand: the name of the brand; empty without one.
    func evidence(_ exposure: TraceRedaction.Exposure, brand: String) -> String {
        let steps = DecisionSteps(
            evidence: evidence, reason: reason, caller: caller?.description, isCertain: caller != nil,
            brand: brand.isEmpty ? nil : "\"\(brand)\"", signature: signature.map { [$0.step] } ?? [])
        return steps.line { number in
            switch exposure {
            case .full: number
            case .masked: String(decoding: NumberMask.masked(Array(number.utf8)[...]), as: UTF8.self)
            case .withheld: "***"
            }
        }
    }
}

extension CallRecord {
    /// The outcome and its times, in one line.
    var traced: String {
        var words = [outcome?.rawValue ?? "OPEN"]
        if status > 0 { words.append("status \(status)") }
        if let ringSeconds { words.append("rang \(ringSeconds) s") }
        if let callSeconds { words.append("talked \(callSeconds) s") }
        words.append("decision \(decision)")
        return words.joined(separator: ", ")
    }
}
