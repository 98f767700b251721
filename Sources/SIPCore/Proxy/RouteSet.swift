// SPDX-License-Identifier: Apache-2.0

/// The next hop of a request by its Route fields, without the gateway's own entries (RFC 3261 §16.4, §16.6 step 6).
public struct RouteSet: Sendable {
    /// The next hop's URI: the first Route that is left, else the Request-URI.
    public let nextHop: SIPURI?
    /// True when a Route that is not the gateway's decides the next hop.
    public let isRouted: Bool
    /// The cookie out of the gateway's own Record-Route, if it returned unchanged.
    public let cookie: RouteCookie?

    /// Reads the Route fields and adds the edits that remove the gateway's own entries from the top.
    ///
    /// An entry is the gateway's own by its address, or by the seal of its cookie. So a node of a cluster removes what another
    /// node wrote, and an entry from before a change of `advertise` is still known.
    ///
    /// A Request-URI that is the gateway's own Record-Route entry comes from a strict router (§16.4): the last Route takes
    /// its place. A first Route without `lr` asks for strict routing (§16.6 step 6): it becomes the Request-URI and the
    /// old Request-URI is put at the end.
    ///
    /// - Parameter isByOriginator: whether the side that began a dialog with this payload sends the request.
    public init(
        of message: SIPMessage, sockets: [LocalSocket], secret: Secret, into splices: inout Splices,
        isByOriginator: (RouteCookie.Payload) -> Bool
    ) {
        func cookie(in uri: SIPURI) -> RouteCookie? {
            uri.parameter("hd").flatMap {
                RouteCookie($0, in: message, secret: secret, isByOriginator: isByOriginator)
            }
        }
        let values = RouteValue.all(in: message)
        var requestTarget = SIPURI(message.bytes, message.requestURI)
        var target = message.requestURI
        var found: RouteCookie?
        var left = values[...]
        // The gateway's entries have no user: with one it is a number that the request is for.
        if let uri = requestTarget, uri.user.isEmpty, uri.parameter("lr") != nil,
            sockets.areNamed(host: uri.host, port: uri.port) || cookie(in: uri) != nil, let last = left.last,
            let lastTarget = SIPURI(message.bytes, last.uri)
        {
            found = cookie(in: uri)
            target = Self.withoutHeaders(last.uri, in: message.bytes)
            requestTarget = lastTarget
            left.removeLast()
        }
        var nextHop: SIPURI?
        while let first = left.first {
            nextHop = SIPURI(message.bytes, first.uri)
            guard let uri = nextHop else { break }
            let own = cookie(in: uri)
            guard own != nil || sockets.areNamed(host: uri.host, port: uri.port) else { break }
            found = found ?? own
            left.removeFirst()
        }
        self.cookie = found
        isRouted = !left.isEmpty
        self.nextHop = isRouted ? nextHop : requestTarget
        var newTarget = target
        if let first = left.first, let uri = nextHop, uri.parameter("lr") == nil {
            newTarget = Self.withoutHeaders(first.uri, in: message.bytes)
            left.removeFirst()
            splices.insert(at: values[values.endIndex - 1].field.end) { out in
                out.append("Route: <")
                out.append(target, of: message)
                out.append(">\r\n")
            }
        }
        if newTarget.lowerBound != message.requestURI.lowerBound {
            splices.replace(message.requestURI) { $0.append(newTarget, of: message) }
        }
        RouteValue.keep(left.indices, of: values, into: &splices)
    }

    /// The URI without its header fields, which a Request-URI must not have (RFC 3261 §19.1.1).
    private static func withoutHeaders(_ uri: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
        let host = bytes[uri].lastIndex(of: UInt8(ascii: "@")) ?? uri.lowerBound
        let end = bytes[host..<uri.upperBound].firstIndex(of: UInt8(ascii: "?")) ?? uri.upperBound
        return uri.lowerBound..<end
    }
}

/// One Route value and its field.
private struct RouteValue {
    let field: SIPMessage.HeaderField
    let extent: Range<Int>
    let uri: Range<Int>

    static func all(in message: SIPMessage) -> [RouteValue] {
        guard message.has(.route) else { return [] }
        var all: [RouteValue] = []
        all.reserveCapacity(4)
        for field in message.fields(.route) {
            for extent in HeaderValues(message.bytes, field.value) {
                let uri = NameAddressExtent.scan(message.bytes, extent).uri
                all.append(RouteValue(field: field, extent: extent, uri: uri))
            }
        }
        return all
    }

    /// Takes out every value whose position is not in `kept`, which is one run: whole lines where nothing is left.
    static func keep(_ kept: Range<Int>, of values: [RouteValue], into splices: inout Splices) {
        guard kept.count < values.count else { return }
        var start = 0
        while start < values.count {
            let field = values[start].field
            let end = values[start...].firstIndex { $0.field.start != field.start } ?? values.count
            let onLine = kept.clamped(to: start..<end)
            if onLine.isEmpty {
                splices.remove(field.start..<field.end)
            } else {
                // Each value goes with the comma that parted it from what is kept.
                if onLine.lowerBound > start {
                    splices.remove(values[start].extent.lowerBound..<values[onLine.lowerBound].extent.lowerBound)
                }
                if onLine.upperBound < end {
                    splices.remove(values[onLine.upperBound - 1].extent.upperBound..<values[end - 1].extent.upperBound)
                }
            }
            start = end
        }
    }
}
