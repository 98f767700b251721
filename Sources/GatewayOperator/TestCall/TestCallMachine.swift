// SPDX-License-Identifier: Apache-2.0

import SIPCore

/// The caller of a test call as a state machine: datagrams, time and orders in, datagrams out (RFC 3261 §13, §15, §17.1).
///
/// Times are milliseconds of one monotonic clock.
struct TestCallMachine: Sendable {
    /// How long each part of a test lasts, in milliseconds.
    struct Times: Hashable, Sendable {
        /// From the first sign of ringing to the CANCEL.
        var ring: UInt64 = 15_000
        /// From the 2xx to the BYE.
        var talk: UInt64 = 3_000
        /// The wait for a call back.
        var wait: UInt64 = 0
        /// Whether a call back after an answered call counts.
        var awaitsAfterAnswer = false
    }

    private enum Phase: Hashable {
        case calling
        /// The CANCEL waits for a provisional response, or for its own (RFC 3261 §9.1).
        case cancelling
        case talking
        case hangingUp
        case waiting
        case over
    }

    /// A request that is sent again until its response comes.
    private struct Pending {
        let text: String
        var nextAt: UInt64
        var pause: UInt64
        let until: UInt64
    }

    private static let (t1, t2, timeout): (UInt64, UInt64, UInt64) = (500, 4000, 32_000)
    /// Longest wait for a sign of ringing: longer than the gateway waits for its last target.
    private static let longestSetup: UInt64 = 34_000

    let messages: TestCallMessages
    private let times: Times
    /// Begins each branch of this call.
    private let branchStart: String
    private(set) var result = TestCallResult()
    /// Whether the gateway takes the messages as a test call's.
    ///
    /// While it restarts it may reject CANCEL and BYE, which ends nothing: they are sent again.
    var isAdmitted = true
    private var phase = Phase.calling
    private var pending: Pending?
    private var start: UInt64 = 0
    /// The end of ringing, of talking or of waiting.
    private var phaseEnd = UInt64.max
    private var hasProgress = false
    private var remoteTag = ""
    private var target = ""
    private var routes: [String] = []
    private var acknowledgement: String?

    init(_ messages: TestCallMessages, _ times: Times, branch: String) {
        (self.messages, self.times) = (messages, times)
        branchStart = "z9hG4bK\(branch)"
    }

    var isOver: Bool { phase == .over }

    /// Sends the INVITE.
    mutating func begin(at now: UInt64) -> [String] {
        (start, phaseEnd) = (now, now + Self.longestSetup)
        return send(messages.invite(branchStart + "i"), at: now)
    }

    /// Repeats what is due, and ends the phase whose time is over.
    mutating func tick(at now: UInt64) -> [String] {
        var out: [String] = []
        if var request = pending, now >= request.nextAt {
            if now >= request.until { return out + giveUp(at: now) }
            // RFC 3261 §17.1.1.2, §17.1.2.2: an INVITE doubles without end, others up to T2.
            request.pause = phase == .calling ? request.pause * 2 : min(request.pause * 2, Self.t2)
            request.nextAt = min(now + request.pause, request.until)
            pending = request
            out.append(request.text)
        }
        guard now >= phaseEnd else { return out }
        phaseEnd = .max
        switch phase {
        case .calling: return out + cancel(at: now)
        case .talking: return out + hangUp(at: now)
        case .cancelling, .waiting: finish()
        case .hangingUp, .over: break
        }
        return out
    }

    /// Ends the call as it is: CANCEL or BYE.
    mutating func interrupt(_ reason: String, at now: UInt64) -> [String] {
        // A call that is over was not ended early.
        if result.interruption == nil, !isOver { result.interruption = reason }
        switch phase {
        case .calling: return cancel(at: now)
        case .talking: return hangUp(at: now)
        case .waiting:
            finish()
            return []
        case .cancelling, .hangingUp, .over: return []
        }
    }

    /// Takes a datagram; anything that is not of the test is left alone.
    mutating func receive(_ bytes: [UInt8], at now: UInt64) -> [String] {
        guard let message = try? SIPMessage.index(bytes.span, limits: SIPLimits()),
            let callID = message.first(.callID), let sequence = message.sequence
        else { return [] }
        let isOwn = message[callID.value].elementsEqual(messages.callID.utf8)
        guard let status = message.status else {
            return isOwn ? received(message, at: now) : calledBack(message, at: now)
        }
        guard isOwn, message.fromTag.map({ message[$0].elementsEqual(messages.tag.utf8) }) == true else { return [] }
        switch String(decoding: message[sequence.method], as: UTF8.self) {
        case "INVITE" where sequence.number == 1: return invited(message, status, at: now)
        case "CANCEL": if status >= 200, phase == .cancelling, isAdmitted { pending = nil }
        case "BYE": if status >= 200, phase == .hangingUp, isAdmitted { ended(at: now) }
        default: break
        }
        return []
    }

    // MARK: The INVITE

    private mutating func invited(_ response: SIPMessage, _ status: Int, at now: UInt64) -> [String] {
        if status < 200 { return progress(status, at: now) }
        if status < 300 { return answered(response, status, at: now) }
        guard phase == .calling || phase == .cancelling else { return [acknowledged(response)] }
        result.failed(response, status, wasCancelled: phase == .cancelling)
        pending = nil
        ended(at: now)
        return [acknowledged(response)]
    }

    private mutating func progress(_ status: Int, at now: UInt64) -> [String] {
        guard phase == .calling || phase == .cancelling else { return [] }
        let isFirst = !hasProgress
        hasProgress = true
        if phase == .calling { pending = nil }
        if status == 180 || status == 183, result.ringAfter == nil {
            result.ringAfter = now - start
            if phase == .calling { phaseEnd = now + times.ring }
        }
        if status == 180 { result.rang = true }
        return phase == .cancelling && isFirst ? sendCancel(at: now) : []
    }

    private mutating func answered(_ success: SIPMessage, _ status: Int, at now: UInt64) -> [String] {
        // A repeated 2xx, or one of another phone, whose dialog nobody wants (RFC 3261 §13.2.2.4).
        if let acknowledgement { return [acknowledgement] }
        remoteTag = success.toTag.map { ";tag=" + String(decoding: success[$0], as: UTF8.self) } ?? ""
        routes = success.fields(.recordRoute).flatMap { field in
            HeaderValues(success.bytes, field.value).map { String(decoding: success[$0], as: UTF8.self) }
        }.reversed()
        target =
            success.first(.contact).map {
                let uri = NameAddressExtent.scan(success.bytes, $0.value).uri
                return String(decoding: success[uri], as: UTF8.self)
            } ?? messages.calledURI
        result.answered(status, after: now - start)
        let text = messages.request(
            "ACK", to: target, branchStart + "a", sequence: 1, remoteTag: remoteTag, routes: routes)
        acknowledgement = text
        pending = nil
        let isUnwanted = phase == .cancelling
        (phase, phaseEnd) = (.talking, now + times.talk)
        return [text] + (isUnwanted ? hangUp(at: now) : [])
    }

    /// The ACK of a final response above 299, of the INVITE's own transaction (RFC 3261 §17.1.1.3).
    private func acknowledged(_ response: SIPMessage) -> String {
        let tag = response.toTag.map { ";tag=" + String(decoding: response[$0], as: UTF8.self) } ?? ""
        return messages.request("ACK", to: messages.calledURI, branchStart + "i", sequence: 1, remoteTag: tag)
    }

    private mutating func cancel(at now: UInt64) -> [String] {
        (phase, phaseEnd) = (.cancelling, now + Self.timeout)
        result.isCancelled = true
        return hasProgress ? sendCancel(at: now) : []
    }

    private mutating func sendCancel(at now: UInt64) -> [String] {
        send(
            messages.request(
                "CANCEL", to: messages.calledURI, branchStart + "i", sequence: 1,
                ["Reason: Q.850;cause=16;text=\"Terminated\""]), at: now)
    }

    // MARK: The dialog

    private mutating func hangUp(at now: UInt64) -> [String] {
        (phase, phaseEnd) = (.hangingUp, .max)
        result.talked = result.talked ?? now - start - (result.answeredAfter ?? 0)
        return send(
            messages.request("BYE", to: target, branchStart + "b", sequence: 2, remoteTag: remoteTag, routes: routes),
            at: now)
    }

    /// Responds to a request of the PBX within the call.
    private mutating func received(_ request: SIPMessage, at now: UInt64) -> [String] {
        guard case .request(let method, let token, _) = request.startLine else { return [] }
        switch method {
        case .ack: return []
        case .bye:
            if phase == .talking {
                result.wasEndedByPBX = true
                result.talked = now - start - (result.answeredAfter ?? 0)
                ended(at: now)
            }
            return [messages.response("200 OK", to: request)]
        case .invite: return [messages.response("200 OK", to: request, hasSession: true)]
        default:
            // RFC 3261 §8.2.1: any other method gets 405 with those that are taken.
            let isTaken = TestCallMessages.methods.contains(String(decoding: request[token], as: UTF8.self))
            return [messages.response(isTaken ? "200 OK" : "405 Method Not Allowed", to: request)]
        }
    }

    // MARK: The call back

    /// Takes the PBX's call back: busy, which no PBX takes for a reason to try another trunk.
    private mutating func calledBack(_ request: SIPMessage, at now: UInt64) -> [String] {
        switch request.method {
        case .ack: return []
        case .invite where !request.isInDialog: break
        default: return [messages.response("481 Call/Transaction Does Not Exist", to: request)]
        }
        if phase == .waiting {
            let caller = request.first(.from).map { String(decoding: request[$0.value], as: UTF8.self) }
            result.callBack = TestCallResult.CallBack(from: caller ?? "", after: now - start)
            finish()
        }
        return [messages.response("486 Busy Here", to: request)]
    }

    // MARK: Ends

    /// Goes on after the call itself: waits for the call back, if the call is one to return.
    private mutating func ended(at now: UInt64) {
        pending = nil
        let isOriginal = result.returnObstacle(answeredToo: times.awaitsAfterAnswer) == nil
        guard times.wait > 0, result.interruption == nil, isOriginal else { return finish() }
        (phase, phaseEnd) = (.waiting, now + times.wait)
    }

    private mutating func finish() { (phase, phaseEnd, pending) = (.over, .max, nil) }

    private mutating func giveUp(at now: UInt64) -> [String] {
        if phase == .calling { result.isSilent = true }
        finish()
        return []
    }

    private mutating func send(_ text: String, at now: UInt64) -> [String] {
        // RFC 3261 §17.1.1.2: nothing is repeated on a reliable transport.
        let pause = messages.plan.transport == .tcp ? Self.timeout : Self.t1
        pending = Pending(text: text, nextAt: now + pause, pause: pause, until: now + Self.timeout)
        return [text]
    }
}
