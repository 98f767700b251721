// SPDX-License-Identifier: Apache-2.0

import Hashing

/// What the gateway remembers of a dialog's beginning.
package struct DialogNote: Hashable, Sendable {
    /// The mark of the trunk in its owner's words.
    package let trunk: Int
    /// True when the trunk placed the call.
    package let isInbound: Bool
    /// True when the initial INVITE left with a brand.
    package let isBranded: Bool
    /// True when the brand's name took the place of the carrier's, false when only logo and reason were added.
    package let isNamed: Bool
    /// Digits of the number the name belongs to; 0 where none was written.
    package let caller: UInt64
    /// That number was asserted in a header of its own, so that From alone does not show it.
    package let isAsserted: Bool

    package init(
        trunk: Int, isInbound: Bool, isBranded: Bool, isNamed: Bool = false, caller: UInt64 = 0,
        isAsserted: Bool = false
    ) {
        self.trunk = trunk
        self.isInbound = isInbound
        self.isBranded = isBranded
        self.isNamed = isNamed
        self.caller = isNamed ? caller : 0
        self.isAsserted = isNamed && isAsserted
    }

    /// The letter for what the INVITE carried.
    fileprivate var mark: StaticString {
        guard isNamed else { return isBranded ? "l" : "p" }
        return isAsserted ? "a" : "b"
    }

    fileprivate var flags: UInt64 {
        (isInbound ? 2 : 0) + (isBranded ? 1 : 0) + (isNamed ? 4 : 0) + (isAsserted ? 8 : 0)
    }
}

/// What the dialog itself carries for the gateway, in the `hd` parameter of its Record-Route (RFC 3261 §16.6 step 4).
///
/// It comes back in the Route of every later request of the dialog. So trunk, direction, the name that was written and both
/// ends are known without any memory of the call, after a restart too.
package struct DialogCookie: Hashable, Sendable {
    package let note: DialogNote
    /// Where the call went.
    package let target: DialogEnd
    /// Where the call came from.
    package let origin: DialogEnd

    package init(note: DialogNote, target: DialogEnd, origin: DialogEnd) {
        self.note = note
        self.target = target
        self.origin = origin
    }

    /// The same dialog with another target, as after a failover.
    package func withTarget(_ target: DialogEnd) -> DialogCookie {
        DialogCookie(note: note, target: target, origin: origin)
    }

    /// Reads the `hd` parameter in a request of the dialog; nil when the gateway did not seal it for this dialog.
    ///
    /// - Parameter isFromTrunk: whether the trunk sends the request. It tells which tag is that of the side that began the
    ///   dialog, so a cookie does not serve the other side.
    init?(_ text: ArraySlice<UInt8>, in request: SIPMessage, isFromTrunk: Bool, secret: Secret) {
        guard let (cookie, seal) = Self.read(text) else { return nil }
        let tag = cookie.note.isInbound == isFromTrunk ? request.fromTag : request.toTag
        guard cookie.seal(originatorTag: tag, in: request, secret: secret) == seal else { return nil }
        self = cookie
    }

    /// Reads the `hd` parameter of a Record-Route in the request that began the dialog, as forwarded.
    init?(_ text: ArraySlice<UInt8>, ofDialogBegunBy request: SIPMessage, secret: Secret) {
        guard let (cookie, seal) = Self.read(text),
            cookie.seal(originatorTag: request.fromTag, in: request, secret: secret) == seal
        else { return nil }
        self = cookie
    }

    /// Takes the parameter apart: mark of the trunk, direction, letter, number, target, origin, seal.
    private static func read(_ text: ArraySlice<UInt8>) -> (cookie: DialogCookie, seal: UInt64)? {
        guard let marks = text.firstIndex(where: { !(48...57).contains($0) }), marks + 2 <= text.endIndex,
            let trunk = DecimalNumber.read(text[..<marks])
        else { return nil }
        let isInbound: Bool
        switch text[marks] {
        case UInt8(ascii: "i"): isInbound = true
        case UInt8(ascii: "o"): isInbound = false
        default: return nil
        }
        let letter = text[marks + 1]
        var rest = text[(marks + 2)...]
        let note: DialogNote
        switch letter {
        case UInt8(ascii: "a"), UInt8(ascii: "b"):
            guard let caller = Hexadecimal.read(rest.prefix(16)) else { return nil }
            rest = rest.dropFirst(16)
            note = DialogNote(
                trunk: trunk, isInbound: isInbound, isBranded: true, isNamed: true, caller: caller,
                isAsserted: letter == UInt8(ascii: "a"))
        case UInt8(ascii: "l"): note = DialogNote(trunk: trunk, isInbound: isInbound, isBranded: true)
        case UInt8(ascii: "p"): note = DialogNote(trunk: trunk, isInbound: isInbound, isBranded: false)
        default: return nil
        }
        guard let target = DialogEnd(takenFrom: &rest), let origin = DialogEnd(takenFrom: &rest),
            let seal = Hexadecimal.read(rest)
        else { return nil }
        return (DialogCookie(note: note, target: target, origin: origin), seal)
    }

    /// Writes what `read` takes apart, without the seal.
    fileprivate func append(to out: inout [UInt8]) {
        out.append(decimal: note.trunk)
        out.append(note.isInbound ? "i" : "o")
        out.append(note.mark)
        if note.isNamed { out.append(hex: note.caller) }
        target.append(to: &out)
        origin.append(to: &out)
    }

    fileprivate func seal(originatorTag: Range<Int>?, in request: SIPMessage, secret: Secret) -> UInt64 {
        var hash = secret.hash(for: .dialogSeal)
        hash.combine(request.first(.callID)?.value ?? 0..<0, of: request)
        hash.combine(originatorTag ?? 0..<0, of: request)
        hash.combine(UInt64(note.trunk))
        hash.combine(note.flags)
        hash.combine(note.caller)
        target.combine(into: &hash)
        origin.combine(into: &hash)
        return hash.finish()
    }
}

/// A cookie with its seal: a keyed hash of all that it says, of the Call-ID, and of the tag of the side that began the dialog.
package struct SealedCookie: Sendable {
    private let cookie: DialogCookie
    private let seal: UInt64

    /// Seals the cookie of the dialog that a request begins.
    package init(_ cookie: DialogCookie, of request: SIPMessage, secret: Secret) {
        self.cookie = cookie
        seal = cookie.seal(originatorTag: request.fromTag, in: request, secret: secret)
    }

    fileprivate func append(to out: inout [UInt8]) {
        cookie.append(to: &out)
        out.append(hex: seal)
    }
}

/// The Record-Route entry of the gateway: one of its sockets, and the dialog's cookie (RFC 3261 §16.6 step 4).
package struct RecordRoute: Sendable {
    private let socket: LocalSocket
    private let cookie: SealedCookie

    package init(socket: LocalSocket, cookie: SealedCookie) {
        self.socket = socket
        self.cookie = cookie
    }

    /// Writes the whole line.
    func append(to out: inout [UInt8]) {
        out.append("Record-Route: <")
        appendURI(to: &out)
        out.append(">\r\n")
    }

    /// Writes the URI alone.
    func appendURI(to out: inout [UInt8]) {
        socket.appendURI(to: &out)
        out.append(";hd=")
        cookie.append(to: &out)
    }
}
