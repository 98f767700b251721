// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import Logging

/// Logs values of `config` that concern the operator without changing a gate.
///
/// Each change is logged once, and at most once an hour for each field. A directory that alternates between two values
/// must not fill the log. Not thread-safe.
struct ConfigRemarks {
    /// Seconds.
    private static let spacing: Int64 = 3600
    /// Limit of logged values of `account_status`, and of `card_url`. Further values are not logged.
    private static let mostStatuses = 32

    private var voipDialer: (isEnabled: Bool, loggedAt: Int64?) = (true, nil)
    private var statuses: Set<String> = []
    /// The refused `card_url` of the last `config`, and the count of logged ones.
    private var refusedCardURL: String?
    private var cardURLs = 0
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// - Parameters:
    ///   - obeysVoipDialer: the operator's choice in `directory.voip_dialer_enabled`.
    ///   - now: seconds since 1970.
    mutating func record(_ config: DirectoryConfig, obeysVoipDialer: Bool, now: Int64) {
        if let isEnabled = config.voipDialerEnabled { record(voipDialer: isEnabled, obeysVoipDialer, now) }
        if let status = config.accountStatus { record(status: AccountStatus.normal(status)) }
    }

    private mutating func record(voipDialer isEnabled: Bool, _ obeys: Bool, _ now: Int64) {
        guard isEnabled != voipDialer.isEnabled else { return }
        // The value is kept for the next comparison only after it is logged: after the hour the current value is
        // logged.
        if let last = voipDialer.loggedAt, (0..<Self.spacing).contains(now - last) { return }
        voipDialer = (isEnabled, now)
        if isEnabled {
            logger.notice("the directory has voip_dialer_enabled: true again")
        } else if obeys {
            logger.notice(
                """
                the directory has voip_dialer_enabled: false, and no call is branded; ask its operator to enable it, or \
                set directory.voip_dialer_enabled: ignore
                """)
        } else {
            logger.notice(
                """
                the directory has voip_dialer_enabled: false, which is ignored; set directory.voip_dialer_enabled: obey \
                to stop branding while it is false
                """)
        }
    }

    /// Logs a refused `card_url`, once for each run of the same value and at most `mostStatuses` times.
    ///
    /// - Parameter text: nil for a `config` with a good one or none, which ends the run.
    mutating func record(refusedCardURL text: String?) {
        guard text != refusedCardURL else { return }
        refusedCardURL = text
        guard let text, cardURLs < Self.mostStatuses else { return }
        cardURLs += 1
        logger.warning(
            """
            the directory's card_url is refused, and no card is named in calls; it must be an https URL of at most \
            \(CardLinks.longest) bytes with {brand_id} once in its path. Check public_url of the directory
            """, metadata: ["card_url": "\(ServerText.clean(text))"])
    }

    private mutating func record(status: String) {
        guard !status.isEmpty, AccountStatus(status) == .unknown, statuses.count < Self.mostStatuses,
            statuses.insert(status).inserted
        else { return }
        logger.warning(
            """
            the directory has an account_status that is not known here; branding goes by branding_enabled. If it means \
            that the account has ended, ask the directory's operator to switch branding_enabled off
            """, metadata: ["account_status": "\(ServerText.clean(status))"])
    }
}
