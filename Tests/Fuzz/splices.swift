// SPDX-License-Identifier: Apache-2.0

/// Any message that passes: every edit of a proxy, after which it is a message still and nothing else has changed.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzSplices(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let message = try? SIPMessage.index(Traffic.bytes(start, count)), message.status == nil,
        RequestValidity.refusal(of: message) == nil, let via = message.topVia,
        let first = message.headers.first
    else { return 0 }
    let branch = Branch(of: message, via: via.value, sender: 1, secret: Traffic.secret)
    let marks = HopMarks(branch: branch, of: message, secret: Traffic.secret)
    var splices = Splices()
    _ = RouteSet(of: message, sockets: Traffic.sockets, secret: Traffic.secret, into: &splices) { _ in true }
    RequestForwarding.addVia(Traffic.sockets[0], marks, before: first, into: &splices)
    RequestForwarding.markSource(Traffic.source, in: message, via: via.value, into: &splices)
    RequestForwarding.countHop(message, into: &splices)
    let sent = splices.applied(to: message.bytes)
    precondition(sent.count == message.bytes.count + splices.growth)
    precondition(sent.suffix(message.bytes.count - message.bodyStart) == message.bytes[message.bodyStart...])
    let unlimited = SIPLimits.none
    guard let forwarded = try? SIPMessage.index(sent, limits: unlimited) else {
        preconditionFailure("what was forwarded is no message")
    }
    guard let top = forwarded.topVia, let text = top.value.branch else {
        preconditionFailure("the gateway's Via is not on top")
    }
    precondition(Branch(forwarded[text]) == branch)
    let change = TargetChange(
        old: Traffic.sockets[0], sourceSocket: Traffic.sockets[0], socket: Traffic.sockets[1],
        target: DialogEnd(address: Traffic.source, transport: .tls), secret: Traffic.secret)
    _ = RequestForwarding.readdressed(forwarded, branch: branch, attempt: 1, change)
    let response = LocalMessages.response(to: message, status: 486, phrase: "Busy", toTag: 1, source: Traffic.source)
    guard let back = try? SIPMessage.index(response, limits: unlimited), back.status == 486 else {
        preconditionFailure("the gateway's response is no message")
    }
    _ = LocalMessages.acknowledgement(of: forwarded, for: back)
    _ = LocalMessages.cancel(of: forwarded, reasonsFrom: message)
    return 0
}
