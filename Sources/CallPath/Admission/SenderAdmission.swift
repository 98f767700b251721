// SPDX-License-Identifier: Apache-2.0

import SIPCore

// Admission by sender: which peer sent a message, and rejections that need no transaction (RFC 3261 §16.3, §18.3, §21.4).

extension GatewayElement {
    /// The peer of a message, or of former settings if the message belongs to a call that came through here.
    func peer(of arrival: Arrival, _ settings: GatewaySettings) -> GatewayTopology.Peer? {
        settings.topology.peer(of: arrival.message, by: arrival.flow) ?? formerPeer(of: arrival, settings)
    }

    /// The former peer of a message: of a response, of a message whose transaction is in memory, or of a request with
    /// the dialog's sealed cookie.
    private func formerPeer(of arrival: Arrival, _ settings: GatewaySettings) -> GatewayTopology.Peer? {
        guard settings.topology.former.count > 0,
            let peer = settings.topology.formerPeer(of: arrival.flow, at: arrival.now)
        else { return nil }
        let message = arrival.message
        if message.status != nil { return peer }
        var unused = Splices()
        if message.isInDialog, let cookie = RouteSet(of: message, from: peer, settings, into: &unused).cookie,
            cookie.dialog.isOf(peer)
        {
            return peer
        }
        return branch(of: message, from: peer, settings).map(isKnown) == true ? peer : nil
    }

    /// The branch that names the message's transaction: computed for a request, read from the gateway's Via of a response.
    func branch(of message: SIPMessage, from peer: GatewayTopology.Peer, _ settings: GatewaySettings) -> Branch? {
        guard let via = message.topVia else { return nil }
        guard message.status == nil else { return via.value.branch.flatMap { Branch(message[$0]) } }
        let branch = Branch(of: message, via: via.value, sender: peer.number, secret: settings.secret)
        guard let previous = settings.secret.previous, !isKnown(branch) else { return branch }
        return knownBranch(of: message, via.value, from: peer, previous) ?? branch
    }

    /// The branch of a transaction in memory that began under an earlier secret; nil for none.
    private func knownBranch(
        of message: SIPMessage, _ via: ViaValue, from peer: GatewayTopology.Peer, _ secret: Secret
    ) -> Branch? {
        let branch = Branch(of: message, via: via, sender: peer.number, secret: secret)
        if isKnown(branch) { return branch }
        return secret.previous.flatMap { knownBranch(of: message, via, from: peer, $0) }
    }

    /// Rejects the request of an unknown peer with 403, or drops it; its responses are dropped.
    ///
    /// A source address can be forged, and the response is longer than the request. So only a request with every field that
    /// a response repeats is rejected, at most 20 a second. Known scanners get no response.
    func rejectUnknownPeer(_ arrival: Arrival, _ settings: GatewaySettings) {
        if isScanner(arrival.message) {
            recordUnknownPeer(arrival, 0, from: .scanner, settings)
            return shared.counters.add(.scannersDropped)
        }
        guard settings.strangers == .refuse, let method = arrival.message.method, method != .ack,
            RequestValidity.allowsResponse(arrival.message),
            unknownPeerResponses.take(at: arrival.now.milliseconds) == nil
        else {
            shared.counters.add(.strangersDropped)
            // The ACK of a 403 is no new message.
            if arrival.message.method != .ack { recordUnknownPeer(arrival, 0, from: .unknown, settings) }
            return
        }
        shared.counters.add(.strangersRefused)
        recordUnknownPeer(arrival, 403, from: .unknown, settings)
        outgoing.append(OwnResponse.message(to: arrival, FailureResponse(403, "Forbidden"), secret: settings.secret))
    }

    private func isScanner(_ message: SIPMessage) -> Bool {
        message.fields(.userAgent).contains { ScannerSigns.sign(in: message[$0.value]) != nil }
    }

    private func recordUnknownPeer(
        _ arrival: Arrival, _ status: Int, from sender: Rejection.Sender, _ settings: GatewaySettings
    ) {
        shared.recordRejection(
            of: arrival.message, by: arrival.flow, status, for: settings.topology.cause(of: arrival.flow), from: sender,
            settings, at: arrival.now)
    }

    /// Rejects a configured peer's request that cannot be indexed, if all fields that the response repeats can be read (RFC
    /// 3261 §21.4.1, §21.5.7); drops, counts and records everything else but keep-alives.
    func rejectUnreadable(
        _ bytes: Span<UInt8>, by flow: Flow, for error: SIPIndexError, _ settings: GatewaySettings, at now: Moment
    ) {
        guard error != .keepAlive else { return shared.counters.add(error) }
        guard let refusal = error.refusal(of: flow.fault), settings.topology.configuredPeer(of: flow) != nil,
            let request = MalformedRequest.rejectable(bytes)
        else {
            shared.counters.add(error)
            return shared.recordUnreadable(bytes, by: flow, 0, for: error, settings, at: now)
        }
        shared.counters.add(.requestsRefused)
        shared.recordUnreadable(bytes, by: flow, refusal.status, for: error, settings, at: now)
        let arrival = Arrival(message: request, flow: flow, now: now)
        outgoing.append(OwnResponse.message(to: arrival, refusal, secret: settings.secret))
    }

    /// Rejects a request whose end its stream does not show (RFC 3261 §18.3); drops and records a response and an ACK.
    func rejectUnframed(_ arrival: Arrival, for fault: StreamFault, _ settings: GatewaySettings) {
        let message = arrival.message
        let refusal =
            switch fault {
            case .noContentLength: FailureResponse(400, "Missing Content-Length")
            case .badContentLength: FailureResponse(400, "Bad Content-Length")
            case .tooLong: FailureResponse(513, "Message Too Large")
            }
        let isRefused = message.method.map { $0 != .ack } ?? false
        shared.counters.add(.requestsRefused)
        let size = message.bytes.count + (message.contentLength ?? 0)
        shared.recordRejection(
            of: message, by: arrival.flow, isRefused ? refusal.status : 0,
            for: fault == .tooLong ? .messageSize : .brokenRule, phrase: refusal.phrase,
            size: Rejection.Size(measured: size, limit: settings.limits.messageBytes), settings, at: arrival.now)
        if isRefused { outgoing.append(OwnResponse.message(to: arrival, refusal, secret: settings.secret)) }
    }
}

extension SIPIndexError {
    /// The response to a request with the fault; nil where none can be made.
    func refusal(of fault: StreamFault?) -> FailureResponse? {
        switch self {
        case .keepAlive, .notSIP: nil
        case .overLimit: FailureResponse(513, "Message Too Large")
        case .headersUnfinished where fault == .tooLong: FailureResponse(513, "Message Too Large")
        case .headersUnfinished: FailureResponse(400, "Missing Empty Line")
        case .tooManyFields: FailureResponse(513, "Too Many Header Fields")
        case .badHeaderLine, .nulByte: FailureResponse(400, "Bad Header Line")
        }
    }
}
