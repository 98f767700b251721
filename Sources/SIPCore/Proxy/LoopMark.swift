// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Distinguishes a loop from a spiral (RFC 3261 §16.3 step 4, §16.6 step 8, RFC 5393 §4.2).
///
/// A keyed hash of the Request-URI and the Route fields, which decide the route of a request. Call-ID, tags and CSeq are the
/// same for every Via of one request. The gateway's Via carries the hash as `hl`. A request that returns with the same mark
/// is a loop and gets 482. A request with another mark is a spiral and passes, unbranded.
public struct LoopMark: Hashable, Sendable {
    private let value: UInt64

    /// Computes the mark of a request as it was received.
    public init(of request: SIPMessage, secret: Secret) {
        var hash = secret.hash(for: .loopMark)
        hash.combine(request.requestURI, of: request)
        for field in request.fields(.route) { hash.combine(field.value, of: request) }
        value = hash.finish()
    }

    /// True when a Via of the gateway in the request carries the mark.
    public func isPresent(in request: SIPMessage, sockets: [LocalSocket]) -> Bool {
        request.anyVia { via in
            guard let via, via.isOwn(in: request, sockets: sockets) else { return false }
            return Self.text(in: request, via).map { Hexadecimal.read(request[$0]) == value } ?? false
        }
    }

    /// Writes the parameter.
    func append(to out: inout OutputSpan<UInt8>) {
        out.append(";hl=")
        out.append(hex: value, digits: 16)
    }

    /// The parameter's value in a Via.
    static func text(in message: SIPMessage, _ via: ViaValue) -> Range<Int>? {
        let start = message.bytes.firstIndex(of: UInt8(ascii: ";"), in: via.extent) ?? via.extent.upperBound
        return HeaderParameters.find("hl", in: message.bytes, start..<via.extent.upperBound)
    }
}

/// The marks in the gateway's Via of a forwarded request: its transaction's branch and its loop mark.
public struct HopMarks: Sendable {
    public let branch: Branch
    public let loop: LoopMark

    public init(branch: Branch, of request: SIPMessage, secret: Secret) {
        self.branch = branch
        loop = LoopMark(of: request, secret: secret)
    }
}
