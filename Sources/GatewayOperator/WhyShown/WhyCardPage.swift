// SPDX-License-Identifier: Apache-2.0

import GatewayStore
import HTTPTypes
import WebPages

// The card of a call as a download.
extension GatewayPages {
    /// `phone` chooses a family, `form=text` the text, and `callee` shows the callee to a session that sees numbers.
    func whyCard(_ page: PageRequest) async throws -> PageResult {
        guard let call = try await found(page.pathPart("row")) else { throw Self.unknownCall }
        var family: PhoneDisplay?
        if let name = page.query("phone") {
            family = PhoneDisplay(rawValue: name)
            guard family != nil else {
                let names = PhoneDisplay.allCases.map(\.rawValue).joined(separator: ", ")
                throw PageProblem(.badRequest, "No family of phones has this name. The families are \(names).")
            }
        }
        let brand = source.presentBrand(of: call)
        let picture = brand?.copy.flatMap { WhyCard.Picture(named: $0, source.logo($0)) }
        let card = WhyCard(
            call, brand, picture: picture, family: family, numbers: choice(page), zone: zone)
        if page.query("form") == "text" {
            return .file(
                bytes: Array(WhyCardText(card: card).text.utf8), type: "text/plain; charset=utf-8", name: "call.txt")
        }
        return .file(
            bytes: Array(WhyCardHTML(card: card).text.utf8), type: "text/html; charset=utf-8", name: "call.html")
    }

    private func choice(_ page: PageRequest) -> CardNumbers.Choice {
        guard page.showsNumbers || numbers == .full else { return .masked }
        return page.query("callee") == nil ? .withoutCallee : .all
    }
}
