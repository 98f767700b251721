// SPDX-License-Identifier: Apache-2.0

import Branding
import SIPCore

/// The URI of a caller in a message of a door.
///
/// It is written anew from number and host, and never copied. A parameter such as verstat would be a claim of whoever sent the
/// INVITE under this gateway's name, and the white space of a folded field would become a header line.
enum CallerURI {
    /// A sip or sips URI as received, without parameters; nil where its user is no plain number, or its host no plain host.
    ///
    /// A user with a context is no number without it.
    static func plain(_ uri: SIPURI) -> [UInt8]? {
        let digits = uri.user.first == UInt8(ascii: "+") ? uri.user.dropFirst() : uri.user
        guard uri.scheme != .tel, !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
            uri.userParameter("phone-context") == nil, uri.parameter("phone-context") == nil,
            !uri.host.isEmpty, uri.host.allSatisfy(isOfHost)
        else { return nil }
        var out = Array(uri.scheme == .sips ? "sips:".utf8 : "sip:".utf8)
        out += uri.user
        out.append(UInt8(ascii: "@"))
        if uri.host.contains(UInt8(ascii: ":")) {
            out.append(UInt8(ascii: "["))
            out += uri.host
            out.append(UInt8(ascii: "]"))
        } else {
            out += uri.host
        }
        if let port = uri.port { out += ":\(port)".utf8 }
        return out
    }

    /// The number as a tel URI.
    static func telephone(_ number: E164Number) -> [UInt8] { Array("tel:\(number)".utf8) }

    /// Letters, digits and the marks of host names and addresses.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
