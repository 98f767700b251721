// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A listening address could not be bound; the program ends with this message, which has the remedy.
public struct ListenRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The transport of the address.
    public enum Wire: String, Sendable {
        case udp = "UDP"
        case tcp = "TCP"
    }

    private let wire: Wire
    private let address: String
    private let code: Int32
    private let key: String

    /// - Parameters:
    ///   - address: with its port.
    ///   - code: the system's error number.
    ///   - key: the configuration key of the address, such as `admin.listen`.
    public init(_ wire: Wire, _ address: String, code: Int32, key: String) {
        self.wire = wire
        self.address = address
        self.code = code
        self.key = key
    }

    /// Takes a host and a port, IPv6 without brackets.
    public init(_ wire: Wire, host: String, port: Int, code: Int32, key: String) {
        self.init(wire, host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)", code: code, key: key)
    }

    public var description: String {
        "cannot listen on \(wire.rawValue) \(address): \(SystemError.text(code)); \(advice)change \(key)"
    }

    private var advice: String {
        switch code {
        case EADDRINUSE: "see who uses it with `ss -l\(wire == .udp ? "u" : "t")np`, or "
        case EADDRNOTAVAIL: "see with `ip address` which ones this machine has, and "
        case EACCES: "ports below 1024 need CAP_NET_BIND_SERVICE: give it, or "
        default: ""
        }
    }
}
