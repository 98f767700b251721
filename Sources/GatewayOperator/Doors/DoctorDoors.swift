// SPDX-License-Identifier: Apache-2.0

import Host

/// The doctor's look at the doors of the running gateway.
enum DoctorDoors {
    /// Clients that are not served, and doors that nobody asks.
    static func running(_ doors: GatewayStatus.Doors?) -> [DoctorFinding] {
        (doors?.names.map(names) ?? []) + (doors?.callingNames.map(callingNames) ?? [])
            + (doors?.redirect.map(redirect) ?? []) + (doors?.verification.map(verification) ?? [])
            + (doors?.outcomes.map(outcomes) ?? [])
    }

    private static func names(_ door: GatewayStatus.Doors.Names) -> [DoctorFinding] {
        findings(
            [
                "not_allowed": "requests came from clients that doors.names.allow does not list: the log has their "
                    + "addresses; add those that are yours",
                "invalid": "requests were no GET /name/NUMBER: the log has the clients; correct their URL",
                "crowded": "connections had no place: let the clients close theirs",
            ], in: door.requests,
            unasked: "no request for a name since the start; try curl http://\(door.listen)/name/NUMBER",
            door.text)
    }

    private static func callingNames(_ door: GatewayStatus.Doors.CallingNames) -> [DoctorFinding] {
        findings(
            [
                "not_allowed": "queries came from clients that doors.enum.allow does not list: the log has an address; "
                    + "add yours",
                "dropped": "queries were above doors.enum.rate of their source: raise it if they are your client's",
                "malformed": "queries were no DNS query for one name: see which program sends to \(door.listen)",
                "refused":
                    "queries were not for zone \(door.zone), or of a type that is refused: correct the client's zone",
            ], in: door.requests,
            unasked: "no query for zone \(door.zone) since the start; see docs/doors-enum.md for a trial with dig",
            door.text)
    }

    private static func redirect(_ door: GatewayStatus.Doors.Redirect) -> [DoctorFinding] {
        findings(
            [
                "not_allowed": "requests came from senders that doors.redirect.allow does not list: the log has an "
                    + "address; add yours",
                "limited":
                    "requests were above doors.redirect.rate of their source: raise it if they are your client's",
                "dropped": "requests were dropped above doors.redirect.rate: raise it if they are your client's",
                "malformed": "requests broke a rule of SIP: see which program sends to \(door.listen)",
                "refused": "requests were no INVITE of a new call: send new calls alone to \(door.listen)",
                "returned": "INVITEs came back after their redirection: route marked calls past the door",
                "unusable": "INVITEs had a Request-URI that no Contact can have: send a sip, sips or tel URI",
            ], in: door.requests,
            unasked: "no request for a redirection since the start; send an INVITE to UDP \(door.listen)", door.text)
    }

    private static func verification(_ door: GatewayStatus.Doors.Verification) -> [DoctorFinding] {
        findings(
            [
                "not_allowed": "requests came from clients that doors.verification.allow does not list: the log has an "
                    + "address; add yours",
                "invalid": "requests for a verification were rejected: the log has the causes; see "
                    + "docs/doors-verification.md",
                "crowded": "connections for verifications had no place: let the clients close theirs",
                "not_ready":
                    "requests found no rules: trunk \(door.trunk) verifies nothing; see signatures of that trunk",
                "signer_not_yet_known": "requests had a signer whose certificate is not stored: see herald trust list "
                    + "--unknown",
            ], in: door.requests,
            unasked: "no request for a verification since the start; see docs/doors-verification.md", door.text)
    }

    private static func outcomes(_ door: GatewayStatus.Doors.Outcomes) -> [DoctorFinding] {
        findings(
            [
                "not_allowed": "reports came from clients that doors.outcomes.allow does not list: the log has an "
                    + "address; add yours",
                "invalid": "reports were not taken: the response names the member, see docs/doors-outcomes.md",
                "limited":
                    "reports were above doors.outcomes.rate of their client: raise it if the PBX has so many calls",
                "not_stored": "reports got 503, because the ledger did not store them in time; see its disk",
                "crowded": "connections had no place: let the clients close theirs",
            ], in: door.requests, unasked: "no report of a call since the start; see docs/doors-outcomes.md", door.text)
    }

    /// The causes that occurred. Without one: that nobody asked, or the door as it is.
    ///
    /// - Parameters:
    ///   - causes: results that need the operator, each with its text behind the count.
    ///   - unasked: the text for a door without a request.
    private static func findings(
        _ causes: KeyValuePairs<String, String>, in requests: [String: UInt64], unasked: String, _ text: String
    ) -> [DoctorFinding] {
        let found = causes.compactMap { result, text in
            requests[result].flatMap { $0 > 0 ? finding(.warning, "\($0) \(text)") : nil }
        }
        guard found.isEmpty else { return found }
        return requests.values.contains { $0 > 0 } ? [finding(.ok, text)] : [finding(.note, unasked)]
    }

    private static func finding(_ level: DoctorFinding.Level, _ text: String) -> DoctorFinding {
        DoctorFinding("doors", level, text)
    }
}
