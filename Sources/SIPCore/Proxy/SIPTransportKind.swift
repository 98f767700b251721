// SPDX-License-Identifier: Apache-2.0

/// How SIP messages travel on one hop (RFC 3261 §18).
public enum SIPTransportKind: UInt8, Hashable, Sendable, CaseIterable {
    case udp, tcp, tls

    /// The transport token of Via (RFC 3261 §20.42).
    public var viaName: StaticString {
        switch self {
        case .udp: "UDP"
        case .tcp: "TCP"
        case .tls: "TLS"
        }
    }

    /// The port that is meant when none is written (RFC 3261 §19.1.2).
    public var defaultPort: UInt16 { self == .tls ? 5061 : 5060 }

    /// True where nothing is lost on the hop, so that nothing is repeated either (RFC 3261 §17.1.1.1).
    public var isReliable: Bool { self != .udp }

    /// Reads the transport token of a Via or the transport parameter of a URI, in any case; nil for others.
    public init?(_ text: ArraySlice<UInt8>) { self.init(text.span.bytes) }

    init?(_ text: RawSpan) {
        if text.matches("udp") {
            self = .udp
        } else if text.matches("tcp") {
            self = .tcp
        } else if text.matches("tls") {
            self = .tls
        } else {
            return nil
        }
    }
}
