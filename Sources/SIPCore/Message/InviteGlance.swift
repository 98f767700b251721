// SPDX-License-Identifier: Apache-2.0

import Hashing

/// What the refusal of a new INVITE needs, found in its bytes without indexing or keeping the message.
///
/// For floods, in which most of what comes is refused (docs/performance-overload.md). Takes only INVITEs of the plainest
/// form, and finds in them what `SIPMessage.index` finds; all others are left to the index. That it finds the same is
/// tested over mutated messages. Extents belong to the bytes it was made of. No allocation.
package struct InviteGlance {
    /// Has room for as many as it can tell of.
    private var viaFields = InlineArray<4, Extent>(repeating: Extent(0..<0))
    /// Number of Via fields, at least 1.
    package private(set) var viaCount = 0
    /// The topmost Via, whose branch has the cookie of RFC 3261 §8.1.1.7.
    package let topVia: ViaValue
    /// The value of that branch.
    package let branch: Range<Int>
    /// The values of From, To, Call-ID and CSeq.
    package let from: Range<Int>
    package let to: Range<Int>
    package let callID: Range<Int>
    package let cseq: Range<Int>
    /// The tag of From; nil where there is none.
    package let fromTag: Range<Int>?
    /// The number of CSeq.
    package let sequence: Int
    /// The Request-URI, a sip or sips one.
    package let requestURI: Range<Int>

    /// The value of a Via field, counted from the top.
    package func via(_ place: Int) -> Range<Int> { viaFields[place].range }

    /// True for bytes that begin as an INVITE does.
    package static func isInvite(_ bytes: Span<UInt8>) -> Bool {
        bytes.count >= 8 && EightBytes(bytes.bytes, whole: 0).word & 0x00ff_ffff_ffff_ffff == 0x2045_5449_564e_49
    }

    /// Looks at an INVITE; nil for one inside a dialog, one that may have to be carried whatever comes (RFC 4412, RFC 5031,
    /// RFC 7090), and one with anything but whole, unfolded lines, each needed field once, and a Via to answer to.
    package init?(_ bytes: Span<UInt8>, limits: SIPLimits) {
        guard bytes.count <= limits.messageBytes, Self.isInvite(bytes),
            let startLine = Self.passStartLine(bytes, limits)
        else { return nil }
        requestURI = startLine.uri
        var position = startLine.end
        var found = (from: Extent?.none, to: Extent?.none, callID: Extent?.none, cseq: Extent?.none)
        var fields = 0
        while let line = HeaderLine(bytes, from: position, longest: limits.headerBytes) {
            position = line.end
            fields += 1
            guard fields <= limits.headerFields else { return nil }
            switch line.name {
            case .via:
                guard viaCount < viaFields.count else { return nil }
                viaFields[viaCount] = line.value
                viaCount += 1
            case .from where found.from == nil: found.from = line.value
            case .to where found.to == nil: found.to = line.value
            case .callID where found.callID == nil: found.callID = line.value
            case .cseq where found.cseq == nil: found.cseq = line.value
            case .from, .to, .callID, .cseq, .priority, .resourcePriority: return nil
            default: break
            }
        }
        guard position + 1 < bytes.count, bytes[position] == 13, bytes[position + 1] == 10, viaCount > 0,
            let from = found.from?.range, let to = found.to?.range, let callID = found.callID?.range,
            let cseq = found.cseq?.range, let topVia = MessageLandmarks.topVia(bytes, viaFields[0].range),
            let branch = topVia.branch, Branch.hasCookie(branch, in: bytes),
            let sequence = MessageLandmarks.sequence(bytes, cseq), MessageLandmarks.tag(bytes, .scan(bytes, to)) == nil
        else { return nil }
        (self.topVia, self.branch) = (topVia, branch)
        (self.from, self.to, self.callID, self.cseq) = (from, to, callID, cseq)
        fromTag = MessageLandmarks.tag(bytes, .scan(bytes, from))?.range
        self.sequence = Int(sequence.number)
    }

    /// The Request-URI and where the first header line begins; nil for a start line that is not that of an INVITE to a SIP
    /// address.
    private static func passStartLine(
        _ bytes: Span<UInt8>, _ limits: SIPLimits
    ) -> (uri: Range<Int>, end: Int)? {
        let uri = 7
        let last = min(limits.headerBytes, bytes.count)
        let end = bytes.position(in: uri..<last) { $0.marks(below: 14) }
        guard end + 1 < last, bytes[end] == 13, bytes[end + 1] == 10, end - uri > 12,
            bytes.bytes.extracting(uri..<(uri + 3)).matches("sip"),
            bytes.bytes.extracting((end - 8)..<end).matches(" sip/2.0")
        else { return nil }
        return (uri..<(end - 8), end + 2)
    }
}

/// A header line without folds, white space before its colon or control characters.
private struct HeaderLine {
    let name: HeaderName
    let value: Extent
    /// First byte of the next line.
    let end: Int

    /// Nil where no such line begins, the empty line for one.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, from start: Int, longest: Int) {
        let last = start + min(longest, bytes.count - start)
        let colon = bytes.position(in: start..<last) { $0.marks(below: 33) | $0.marks(UInt8(ascii: ":")) }
        guard colon > start, colon < last, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let lineEnd = bytes.position(in: (colon + 1)..<last) { $0.marks(below: 14) }
        guard lineEnd + 1 < last, bytes[lineEnd] == 13, bytes[lineEnd + 1] == 10, lineEnd + 2 < bytes.count,
            bytes[lineEnd + 2] != 32, bytes[lineEnd + 2] != 9
        else { return nil }
        end = lineEnd + 2
        name = .recognise(bytes, start..<colon)
        value = Extent(Blank.trimmed(bytes, (colon + 1)..<lineEnd))
    }
}
