// SPDX-License-Identifier: Apache-2.0

/// Tells a loop from a spiral (RFC 3261 §16.3 step 4, §16.6 step 8, RFC 5393 §4.2).
///
/// A keyed hash of what decides where a request goes. The gateway's Via carries it as `hl`; a request that comes back
/// with a Via of the gateway and the same mark would go round for ever, one that comes back changed is a spiral and fine.
package struct LoopMark: Hashable, Sendable {
    private let value: UInt64

    /// Computes the mark of a request as it was received.
    package init(of request: SIPMessage, secret: Secret) {
        var hash = secret.hash()
        hash.combine(request[request.requestURI])
        for name in [HeaderName.callID, .cseq] {
            if let field = request.first(name) { hash.combine(request[field.value]) }
        }
        for name in [HeaderName.from, .to] {
            hash.combine(request.tag(of: name).map { request[$0] } ?? [])
        }
        for field in request.headers where field.name == .route { hash.combine(request[field.value]) }
        value = hash.finish()
    }

    /// True when a Via of the gateway in the request carries the mark.
    package func stands(in request: SIPMessage, sockets: [LocalSocket]) -> Bool {
        request.headers.contains { field in
            field.name == .via
                && HeaderValues(request.bytes, field.value).contains { range in
                    guard let via = ViaValue(request.bytes, range),
                        let branch = via.branch, Branch(request[branch]) != nil,
                        sockets.contains(where: { $0.isNamed(host: request[via.host], port: via.port) })
                    else { return false }
                    return Self.text(in: request, via).map { request[$0].elementsEqual(hex) } ?? false
                }
        }
    }

    /// Writes the parameter.
    func append(to out: inout [UInt8]) {
        out.append(";hl=")
        out.append(contentsOf: hex)
    }

    /// The parameter's value in a Via.
    static func text(in message: SIPMessage, _ via: ViaValue) -> Range<Int>? {
        let start = message.bytes.firstIndex(of: UInt8(ascii: ";"), in: via.extent) ?? via.extent.upperBound
        return HeaderParameters.find("hl", in: message.bytes, start..<via.extent.upperBound)
    }

    private var hex: [UInt8] {
        var out: [UInt8] = []
        out.append(hex: value)
        return out
    }
}
