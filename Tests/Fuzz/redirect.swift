// SPDX-License-Identifier: Apache-2.0

/// Any INVITE to the redirect door: the 302 is a message with one Contact, whose URI has the mark, and with the name once.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzRedirect(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let invite = try? SIPMessage.index(Traffic.bytes(start, count)), invite.method == .invite,
        RequestValidity.formRefusal(of: invite) == nil, let target = Redirection.target(of: invite),
        !RedirectMark.isPresent(in: target)
    else { return 0 }
    let name = #"Harbour "Dental" \ <sip:other@example.net>, Zürich"#
    let caller = Array("sip:+61255501301@carrier.example".utf8)
    for place in [Redirection.NamePlace.assertedIdentity, .contact, .header("X-Caller-Name")] {
        let response = LocalMessages.response(
            to: invite, status: 302, phrase: "Moved Temporarily", toTag: 1,
            field: Redirection(naming: name, caller, in: place).fields(for: invite), source: Traffic.source)
        guard let back = try? SIPMessage.index(response, limits: SIPLimits.none), back.status == 302 else {
            preconditionFailure("the redirection is no message")
        }
        check(back, target, place)
    }
    return 0
}

private func check(_ response: SIPMessage, _ target: SIPURI, _ place: Redirection.NamePlace) {
    let contacts = response.headers.filter { $0.name == .contact }
    precondition(contacts.count == 1, "the redirection has \(contacts.count) Contact fields")
    let identities = response.headers.filter { $0.name == .pAssertedIdentity }
    precondition(identities.count <= 1)
    if place == .assertedIdentity { precondition(identities.count == 1, "the name is missing") }
    let values = HeaderValues(response.bytes, contacts[0].value).map(\.self)
    precondition(values.count == 1, "Contact has \(values.count) values")
    guard let contact = NameAddress(response.bytes, values[0]) else {
        preconditionFailure("Contact is no address")
    }
    precondition(RedirectMark.isPresent(in: contact.uri), "the mark is missing")
    precondition(contact.uri.scheme == target.scheme, "the scheme has changed")
}
