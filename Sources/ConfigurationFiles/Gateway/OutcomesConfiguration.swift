// SPDX-License-Identifier: Apache-2.0

extension HeraldConfiguration {
    /// Which calls a call back can answer.
    package enum Originals: String, CaseIterable, Sendable { case unanswered, any }

    /// How a call record is written: a JSON object or comma-separated values, one line a call.
    package enum RecordFormat: String, CaseIterable, Sendable { case json, csv }

    /// The operator's own system that ended calls are posted to.
    package struct Webhook: Hashable, Sendable {
        /// `http` or `https`, without user, query and fragment.
        package var url: String
        /// Empty when the file was read without its secrets.
        package var secret: ConfiguredSecret
    }

    /// Whose usual signs of voicemail are known beforehand.
    package enum PBXProfile: String, CaseIterable, Sendable { case generic, asterisk, freeswitch }

    /// By what a machine that answers is known; a star at the end of a text stands for the rest.
    package struct AnswererSigns: Hashable, Sendable {
        package var users: [String] = []
        package var hosts: [String] = []
        package var headers: [Header] = []

        /// A header field of the answer and its value.
        package struct Header: Hashable, Sendable {
            package var name: String
            package var value: String
        }
    }

    /// How calls are recorded and reported.
    package struct Outcomes: Hashable, Sendable {
        package var surface = "sip"
        package var returnedWindow = Duration.seconds(259_200)
        package var returnedOriginals = Originals.unanswered
        /// Names of groups by their members: users of the PBX, or numbers with plus sign.
        package var subscribers: [String: String] = [:]
        /// Share of the calls of unknown numbers that is reported, 0 to 1.
        package var noMatchShare = 0.0
        /// How long a call that failed before any phone rang waits for the carrier's next try.
        package var retryWindow = Duration.seconds(5)
        package var profile = PBXProfile.generic
        package var voicemail = AnswererSigns()
        package var system = AnswererSigns()
        package var maxCallDuration = Duration.seconds(14_400)
        package var retention = Duration.seconds(7_776_000)
        /// Bytes of the ledger above which its oldest rows go, those that must stay excepted.
        package var maxSize = 4_294_967_296
        /// The file call records are appended to; nil for none.
        package var recordFile: String?
        package var recordFormat = RecordFormat.json
        /// Where ended calls are posted; nil for nowhere.
        package var webhook: Webhook?
        /// Slots of 128 bytes.
        package var ringSlots = 131_072
        /// The operator's words by the contract's, only where they are given.
        package var vocabulary: [String: String] = [:]
    }
}
