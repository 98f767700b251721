// SPDX-License-Identifier: Apache-2.0

/// One received SIP message: its exact bytes and an index of where its parts lie.
///
/// Nothing is decoded or copied out; every range is a position in `bytes`. Made by `SIPMessage.index(_:limits:)`.
package struct SIPMessage: Sendable {
    /// The message as it came, start line to the end of its body; bytes past Content-Length are cut (RFC 3261 §18.3).
    package let bytes: [UInt8]
    package let startLine: StartLine
    /// Header fields in the order received.
    package let headers: [HeaderField]
    /// First byte after the empty line.
    package let bodyStart: Int

    /// The first line, taken apart (RFC 3261 §7.1, §7.2).
    package enum StartLine: Hashable, Sendable {
        /// A request: its method, the extent of the method's token and of the Request-URI.
        case request(SIPMethod, token: Range<Int>, uri: Range<Int>)
        /// A response: status 100–699.
        case response(status: Int)
    }

    /// Where one header field lies (RFC 3261 §7.3.1).
    package struct HeaderField: Hashable, Sendable {
        package let name: HeaderName
        /// First byte of the line.
        package let start: Int
        /// First byte after the name (which may be followed by white space before the colon).
        package let nameEnd: Int
        /// The value without the white space around it; folds are still in it.
        package let value: Range<Int>
        /// First byte of the next line.
        package let end: Int
    }
}

extension SIPMessage {
    /// The method of a request, nil for a response.
    package var method: SIPMethod? {
        guard case .request(let method, _, _) = startLine else { return nil }
        return method
    }

    /// The status of a response, nil for a request.
    package var status: Int? {
        guard case .response(let status) = startLine else { return nil }
        return status
    }

    /// The extent of the Request-URI; empty for a response.
    package var requestURI: Range<Int> {
        guard case .request(_, _, let uri) = startLine else { return 0..<0 }
        return uri
    }

    /// The first field of that name.
    package func first(_ name: HeaderName) -> HeaderField? {
        for field in headers where field.name == name { return field }
        return nil
    }

    /// True when a field of that name is there.
    package func has(_ name: HeaderName) -> Bool { first(name) != nil }

    /// The bytes of a range, shared with the message.
    package subscript(range: Range<Int>) -> ArraySlice<UInt8> { bytes[range] }

    /// The tag parameter of From or To, nil where there is none (RFC 3261 §19.3).
    package func tag(of name: HeaderName) -> Range<Int>? {
        guard let field = first(name) else { return nil }
        let address = NameAddressExtent.scan(bytes, field.value)
        return HeaderParameters.find("tag", in: bytes, address.parameters)
    }

    /// True for a request inside a dialog: its To has a tag (RFC 3261 §12.2).
    package var isInDialog: Bool { tag(of: .to) != nil }
}
