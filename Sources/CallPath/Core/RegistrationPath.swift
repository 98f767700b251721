// SPDX-License-Identifier: Apache-2.0

import SIPCore

// Keeps the gateway in the path of calls to a contact that a PBX registers with its carrier (RFC 3327).

extension ProxyCore {
    /// Puts the gateway's address into the Path of a PBX's REGISTER, where the PBX supports that (RFC 3327 §5.2).
    ///
    /// Path names the socket towards the carrier, where its calls arrive. REGISTER gets no Record-Route. A later INVITE
    /// with this Path in Route is a call of the trunk like any other, and goes to the trunk's `pbx`, whichever node
    /// registered.
    ///
    /// - Returns: whether the field was added.
    func addPath(
        _ arrival: Arrival, to hop: NextHop, of onward: borrowing OnwardRequest, into splices: inout Splices
    ) -> Bool {
        let request = arrival.message
        guard request.method == .register, !onward.isFromTrunk, PathField.isSupported(by: request),
            let first = request.headers.first
        else { return false }
        PathField.add(settings.topology.sockets[hop.socket], before: first, into: &splices)
        return true
    }

    /// Records whether the registrar will send the calls of a contact through the gateway (RFC 3327 §5.3).
    ///
    /// A response without Contact ends a registration, and a contact at the gateway's own address needs no Path.
    func recordRegistrar(_ response: SIPMessage, _ status: Int, of transaction: GatewayTransaction, at now: Moment) {
        guard !transaction.isInvite, !transaction.dialog.isInbound, status / 100 == 2, let sequence = response.sequence,
            SIPMethod.recognise(response[sequence.method]) == .register, response.has(.contact),
            !hasOwnContact(response),
            let trunk = settings.topology.trunk(mark: transaction.dialog.trunk, at: now)
        else { return }
        let finding: RegistrarState.Finding =
            PathField.isPresent(in: response) ? .accepted : transaction.ownerState.carriesPath ? .ignored : .notOffered
        if finding != .accepted { counters.add(.registrationsWithoutPath) }
        trunk.registrar?.record(finding, at: now.milliseconds)
    }

    private func hasOwnContact(_ response: SIPMessage) -> Bool {
        response.headers.contains { field in
            guard field.name == .contact else { return false }
            return HeaderValues(response.bytes, field.value).contains { value in
                let extent = NameAddressExtent.scan(response.bytes, value).uri
                guard let uri = SIPURI(response.bytes, extent) else { return false }
                return settings.topology.sockets.areNamed(host: uri.host, port: uri.port)
            }
        }
    }
}
