// SPDX-License-Identifier: Apache-2.0

import Branding
import CallAccounting
import ConfigurationFiles
import GatewayStore
import Primitives

/// The brand of a call as the gateway has it now.
///
/// The ledger keeps which parts of the brand were sent. The URL of the logo and the text of the reason are the present ones.
struct PresentBrand: Hashable, Sendable {
    /// The reason of the call as a phone shows it; nil for none.
    var callReason: String?
    /// Nil without a logo that phones can use.
    var logoURL: String?
    /// `<URL>;purpose=icon`; empty for none.
    var logoValue = ""
    /// `;call-reason="…"`; empty for none.
    var reasonValue = ""
    /// The address of the public card; nil for none.
    var cardURL: String?
    /// The name of the gateway's own copy of the logo; nil for none.
    var copy: String?
}

extension PresentBrand {
    /// The entry of the caller's number; nil where it has gone or is another brand now.
    ///
    /// - Parameter cards: the public cards of the account's brands; nil without cards.
    init?(of call: LedgerCallRow, in index: BrandIndex, cards: CardLinks?) {
        guard call.hasBrand, let number = call.story.record.caller, let entry = index.entry(for: number)
        else { return nil }
        let id = index.text(.brandID, entry)
        guard id == call.brandID ?? "", !id.isEmpty || index.text(.name, entry) == call.brandName else { return nil }
        logoURL = index.logoURL(of: entry)
        (logoValue, reasonValue) = (index.text(.logo, entry), index.text(.reason, entry))
        cardURL = index.cardURL(of: entry, at: cards)
        callReason = CallReasonText.first(in: ["Call-Info: \(reasonValue)"])
    }

    /// The brand in the stored copy, for a command beside the gateway; nil where it cannot be read.
    init?(of call: LedgerCallRow, stored configuration: HeraldConfiguration) {
        let customer = call.customer.flatMap { name in configuration.customers.first { $0.name == name } }
        guard call.hasBrand, call.customer == nil || customer != nil,
            let brands = try? StoredBrands(configuration.seen(by: customer), of: call.story.record.caller)
        else { return nil }
        self.init(of: call, in: brands.index, cards: brands.cards)
    }
}

extension LedgerCallRow {
    /// Whether the directory had a brand for the call, which was written, or in shadow was not.
    fileprivate var hasBrand: Bool { decision == "matched" || isInShadow && !isNamedBySigner }
}

extension HeaderChange {
    /// The lines of the change, `-` as received and `+` as sent; URIs and parameters are left out.
    ///
    /// - Parameters:
    ///   - brand: the values of Call-Info; nil where only their presence is known.
    ///   - shown: the form in which the reader may see a number.
    func lines(_ brand: PresentBrand?, shown: (String) -> String) -> [ChangedLines.Line] {
        switch self {
        case .name(let field, let before, let after):
            let added: ChangedLines.Line = ("+", "\(field): \(QuotedString.text(of: after.text(shown: shown))) <…>")
            guard let before else { return [added] }
            return [("-", "\(field): \(QuotedString.text(of: before.text(shown: shown))) <…>"), added]
        case .callInfo(let hasLogo, let hasReason):
            func value(_ part: KeyPath<PresentBrand, String>, unknown: String) -> String {
                guard let text = brand?[keyPath: part], !text.isEmpty else { return unknown }
                return text
            }
            let logo = hasLogo ? value(\.logoValue, unknown: "<…>;purpose=icon") : "<data:>;purpose=jcard"
            let reason = hasReason ? value(\.reasonValue, unknown: ";call-reason=\"…\"") : ""
            return [("+", "Call-Info: \(logo)\(reason)")]
        case .cardLink: return [("+", "Call-Info: <\(brand?.cardURL ?? "…")>;purpose=info")]
        }
    }
}
