// SPDX-License-Identifier: Apache-2.0

import SIPCore

// Records of rejected messages for the log and the status page, beside the response (RFC 3261 §16.3, §21.4, §21.5).

extension ProxyCore {
    /// Rejects a request for a rule it breaks, counts it and leaves a record; an ACK gets no response (RFC 3261
    /// §17.1.1.3).
    func refuse(_ arrival: Arrival, _ refusal: FailureResponse) {
        counters.add(.requestsRefused)
        if arrival.message.method == .ack {
            return shared.recordRejection(
                of: arrival.message, by: arrival.flow, 0, for: .brokenRule, phrase: refusal.phrase, settings,
                at: arrival.now)
        }
        reject(arrival, refusal, for: .brokenRule)
    }

    /// Sends the response to a rejected request without keeping any state, and leaves a record.
    func reject(_ arrival: Arrival, _ refusal: FailureResponse, for cause: Rejection.Cause) {
        respond(to: arrival, refusal)
        shared.recordRejection(
            of: arrival.message, by: arrival.flow, refusal.status, for: cause, phrase: refusal.phrase, settings,
            at: arrival.now)
    }

    /// Leaves a record of a request for which no target is up.
    func recordNoTarget(for request: SIPMessage, of transaction: GatewayTransaction, at now: Moment) {
        shared.recordRejection(of: request, by: transaction.flow, 503, for: .noTarget, settings, at: now)
    }
}

extension GatewayShared {
    /// Leaves a record of a message that was rejected with `status`, or dropped where that is 0.
    func recordRejection(
        of message: SIPMessage, by flow: Flow, _ status: Int, for cause: Rejection.Cause, phrase: StaticString = "",
        size: Rejection.Size = .init(), _ settings: GatewaySettings, at now: Moment
    ) {
        let topology = settings.topology
        let sender = Rejection.Sender(topology.peer(of: message, by: flow) ?? topology.formerPeer(of: flow, at: now))
        recordRejection(
            of: message, by: flow, status, for: sender == .unknown ? topology.cause(of: flow) : cause,
            phrase: phrase, size: size, from: sender, settings, at: now)
    }

    /// Leaves a record of a message that could not be indexed.
    func recordUnreadable(
        _ bytes: Span<UInt8>, by flow: Flow, _ status: Int, for error: SIPIndexError, _ settings: GatewaySettings,
        at now: Moment
    ) {
        let outline = MessageOutline(bytes)
        let topology = settings.topology
        let sender = Rejection.Sender(topology.configuredPeer(of: flow) ?? topology.formerPeer(of: flow, at: now))
        var rejection = Rejection(
            source: flow.source, transport: topology.transport(of: flow), sender: sender,
            method: ShortText(Array(copying: bytes, outline.method)[...]), responseStatus: UInt16(outline.status),
            status: UInt16(status), cause: sender == .unknown ? topology.cause(of: flow) : .brokenRule,
            phrase: error.phrase, at: now.wallMicroseconds)
        if sender != .unknown, let measure = error.measure(outline, of: bytes.count, by: flow.fault, settings.limits) {
            (rejection.cause, rejection.size) = (measure.cause, measure.size)
            rejection.detail = ShortText(withoutDigits: Array(copying: bytes, outline.longestName)[...])
        }
        rejections.record(rejection)
    }

    /// The same where the sender is known.
    func recordRejection(
        of message: SIPMessage, by flow: Flow, _ status: Int, for cause: Rejection.Cause, phrase: StaticString = "",
        size: Rejection.Size = .init(), from sender: Rejection.Sender, _ settings: GatewaySettings, at now: Moment
    ) {
        var method = ShortText()
        var detail = ShortText()
        var size = size
        switch message.startLine {
        case .request(_, let token, let uri):
            method = ShortText(message[token])
            if cause == .brokenRule { detail = Self.detail(of: message, uri, status) }
        case .response: if let sequence = message.sequence { method = ShortText(message[sequence.method]) }
        }
        if cause == .messageSize || cause == .datagramSize {
            let bytes = message.bytes
            let outline = MessageOutline(bytes.span)
            detail = ShortText(withoutDigits: message[outline.longestName])
            size.longestField = UInt32(clamping: outline.longestField)
        }
        var rejection = Rejection(
            source: flow.source, transport: settings.topology.transport(of: flow), sender: sender, method: method,
            responseStatus: UInt16(message.status ?? 0), status: UInt16(status), cause: cause, phrase: phrase,
            detail: detail, at: now.wallMicroseconds)
        rejection.size = size
        rejections.record(rejection)
    }

    /// Leaves a record of a shed INVITE.
    func recordShed(by flow: Flow, _ settings: GatewaySettings, at now: Moment) {
        let topology = settings.topology
        rejections.record(
            Rejection(
                source: flow.source, transport: topology.transport(of: flow),
                sender: Rejection.Sender(topology.peer(of: flow) ?? topology.formerPeer(of: flow, at: now)),
                method: ShortText("INVITE"),
                status: 503, cause: .overload, at: now.wallMicroseconds))
    }

    /// The option or scheme that a rejected request asked for; it never contains a number.
    private static func detail(of message: SIPMessage, _ uri: Range<Int>, _ status: Int) -> ShortText {
        switch status {
        case 420: message.first(.proxyRequire).map { ShortText(message[$0.value]) } ?? ShortText()
        case 416:
            // Letters alone: a scheme with digits could contain a number.
            ShortText(message[uri].prefix { (97...122).contains($0 | 0x20) })
        default: ShortText()
        }
    }
}

extension SIPIndexError {
    /// The fault in the words of a log line.
    fileprivate var phrase: StaticString {
        switch self {
        case .keepAlive: ""
        case .notSIP: "its first line is neither a request line nor a status line of SIP"
        case .overLimit: "Message Too Large"
        case .tooManyFields: "Too Many Header Fields"
        case .headersUnfinished: "no empty line ends its header fields"
        case .badHeaderLine: "Bad Header Line"
        case .nulByte: "a NUL byte is in a header line"
        }
    }

    /// The cause and the figures of a message above a limit; nil for other faults.
    fileprivate func measure(
        _ outline: MessageOutline, of bytes: Int, by fault: StreamFault?, _ limits: SIPLimits
    ) -> (cause: Rejection.Cause, size: Rejection.Size)? {
        switch self {
        case .overLimit,
            .headersUnfinished where fault == .tooLong:
            let size = Rejection.Size(
                measured: max(bytes, limits.messageBytes + 1), limit: limits.messageBytes,
                longestField: outline.longestField)
            return (.messageSize, size)
        case .tooManyFields:
            let size = Rejection.Size(
                measured: outline.fields, limit: limits.headerFields, longestField: outline.longestField)
            return (.fieldCount, size)
        default: return nil
        }
    }
}

extension ShortText {
    /// The name of a header field; none with digits, which could be a number.
    fileprivate init(withoutDigits name: ArraySlice<UInt8>) {
        self = name.contains { (48...57).contains($0) } ? ShortText() : ShortText(name)
    }
}

extension [UInt8] {
    /// The bytes of a range of a message that is not kept.
    fileprivate init(copying bytes: Span<UInt8>, _ range: Range<Int>) {
        self = []
        append(range, of: bytes)
    }
}

extension Rejection.Sender {
    /// The peer of the present settings or of former ones; nil for an unknown peer.
    fileprivate init(_ peer: GatewayTopology.Peer?) {
        switch peer {
        case .trunk(let trunk): self = .trunk(trunk.name)
        case .pbx(let pbx): self = .pbx(pbx.name)
        case nil: self = .unknown
        }
    }
}

extension GatewayTopology {
    /// The cause of rejecting an unknown peer.
    func cause(of flow: Flow) -> Rejection.Cause {
        if let test, test.isCaller(flow) { return .testCall }
        return mayBePeer(at: flow.source) ? .otherPortOrCertificate : .unlisted
    }

    fileprivate func transport(of flow: Flow) -> SIPTransportKind {
        sockets.indices.contains(flow.socket) ? sockets[flow.socket].transport : .udp
    }
}
