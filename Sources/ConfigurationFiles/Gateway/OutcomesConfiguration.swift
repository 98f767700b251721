// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// The calls that a return call can refer to.
    package enum Originals: String, ConfigurationWord, Sendable { case unanswered, any }

    /// The format of call records: one JSON object or one CSV line per call.
    package enum RecordFormat: String, ConfigurationWord, Sendable { case json, csv }

    /// An HTTP endpoint of the operator for ended calls.
    package struct Webhook: Hashable, Sendable {
        /// An `http` or `https` URL without user, query and fragment.
        package var url: String
        /// The HMAC secret; empty if the file was loaded without its secrets.
        package var secret: ConfiguredSecret
    }

    /// The PBX whose default voicemail users are known.
    package enum PBXProfile: String, ConfigurationWord, Sendable { case generic, asterisk, freeswitch }

    /// Patterns that identify a machine as the callee. A star at the end matches any rest.
    package struct AnswererSigns: Hashable, Sendable {
        /// Users of SIP URIs.
        package var users: [String] = []
        /// Hosts of SIP URIs.
        package var hosts: [String] = []
        package var headers: [Header] = []

        /// A header field of the 2xx response, and the pattern of its value.
        package struct Header: Hashable, Sendable {
            package var name: String
            package var value: String
        }
    }

    /// Settings of call records and events.
    package struct Outcomes: Hashable, Sendable {
        /// The value of `surface` in events.
        package var surface = "sip"
        /// Time in which a call back counts as returned.
        package var returnedWindow = Duration.seconds(259_200)
        package var returnedOriginals = Originals.unanswered
        /// Group names, keyed by member: a user of the PBX, or a number with plus sign.
        package var subscribers: [String: String] = [:]
        /// Reported share of calls from unknown numbers, 0 to 1.
        package var noMatchShare = 0.0
        /// Time in which a repeated call continues a call that failed before any phone rang.
        package var retryWindow = Duration.seconds(5)
        package var profile = PBXProfile.generic
        package var voicemail = AnswererSigns()
        package var system = AnswererSigns()
        /// Time after which a call without BYE is closed.
        package var maxCallDuration = Duration.seconds(14_400)
        /// Time for which calls and delivered events are kept.
        package var retention = Duration.seconds(7_776_000)
        /// Limit of the ledger in bytes. Above it the oldest rows are deleted, except undelivered ones.
        package var maxSize = 4_294_967_296
        /// File of call records; nil for none.
        package var recordFile: String?
        package var recordFormat = RecordFormat.json
        /// Endpoint for ended calls; nil for none.
        package var webhook: Webhook?
        /// Topic for ended calls; nil for none.
        package var kafka: Kafka?
        /// Slots of 128 bytes.
        package var ringSlots = 131_072
        /// The operator's event names, keyed by the contract's names; only where configured.
        package var vocabulary: [String: String] = [:]
    }
}
