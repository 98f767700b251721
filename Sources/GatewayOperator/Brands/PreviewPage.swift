// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import WebPages

/// The values of the preview page.
struct PreviewValues: Sendable {
    struct Result: Sendable {
        let number: String
        let trunk: String
        let customer: String?
        let conditions: String
        let decision: String
        let explanation: String
        let isShown: Bool
        let card: Card
        let before: String
        let after: String
        let isChanged: Bool
    }

    struct Card: Sendable {
        let name: String
        let isBrand: Bool
        let brandID: String?
        let callReason: String?
        let logo: String?
        let logoText: String?
        let number: String
    }

    let number: String
    let trunks: [CallsValues.Option]
    let customers: [CallsValues.Option]
    let hasCustomers: Bool
    let attestations: [CallsValues.Option]
    let result: Result?
}

// "How would this number ring": the decision for a number, as a call card and as header lines.
extension GatewayPages {
    private static func label(of attestation: Attestation) -> String {
        switch attestation {
        case .none: "none"
        case .a: "A, the carrier vouches for the number"
        case .b: "B, for the customer only"
        case .c: "C, for neither"
        case .failed: "failed check"
        }
    }

    func preview(_ page: PageRequest) async throws -> PageResult {
        // People write numbers in groups; trunks do not.
        let number = (page.query("number") ?? "").filter { !$0.isWhitespace }
        let attestation = page.query("attestation").map { Attestation(rawValue: $0) } ?? Attestation.none
        let trunk = page.query("trunk")
        let customer = page.query("customer")
        var result: RingPreview?
        var notice: PageNotice?
        if !number.isEmpty {
            do {
                guard number.utf8.count <= 200 else {
                    throw RingPreviewProblem("Number must have at most 200 bytes.")
                }
                guard let attestation else {
                    throw RingPreviewProblem("Attestation must be none, A, B, C or failed.")
                }
                result = try await source.preview(
                    RingQuestion(number: number, trunk: trunk, attestation: attestation, customer: customer))
            } catch let problem as RingPreviewProblem {
                notice = PageNotice(.error, PageTroubles.sentence(problem.description))
            }
        }
        let names = source.trunkNames()
        let customers = source.customerNames()
        let values = PreviewValues(
            number: number,
            trunks: names.map { name in
                CallsValues.Option(value: name, label: name, isChosen: name == (trunk ?? names.first))
            },
            customers: ((source.hasUsualBrands() ? [("", "none")] : []) + customers.map { ($0, $0) }).map {
                CallsValues.Option(value: $0, label: $1, isChosen: $0 == customer ?? "")
            }, hasCustomers: !customers.isEmpty,
            attestations: Attestation.allCases.map {
                CallsValues.Option(value: $0.rawValue, label: Self.label(of: $0), isChosen: $0 == attestation)
            },
            result: result.map { PreviewValues.Result($0, asked: number) })
        return .page(
            template: "preview", title: "How would this number ring?", content: values,
            status: notice == nil ? .ok : .badRequest, notice: notice)
    }
}

extension PreviewValues.Result {
    fileprivate init(_ preview: RingPreview, asked: String) {
        number = preview.number ?? "not certain which number this is"
        trunk = preview.trunk
        customer = preview.customer
        conditions = preview.conditions
        decision = preview.decision
        explanation = DecisionText.of(preview.decision)
        isShown = preview.card != nil
        let shownNumber = preview.number ?? asked
        card = PreviewValues.Card(
            name: preview.card?.name ?? shownNumber, isBrand: preview.card?.name != nil,
            brandID: preview.card?.brandID, callReason: preview.card?.callReason,
            logo: preview.card?.logo.map { "/logos/\($0)" }, logoText: preview.card?.logoText, number: shownNumber)
        before = preview.before.joined(separator: "\n")
        after = preview.after.joined(separator: "\n")
        isChanged = preview.before != preview.after
    }
}
