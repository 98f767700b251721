// SPDX-License-Identifier: Apache-2.0

import DirectoryStore
import HTTPTypes
import Hummingbird
import Logging
import Primitives
import WebPages

/// Makes pages whose errors become texts for the operator.
struct PageDesk: Sendable {
    let database: DirectoryDatabase
    /// Seconds since 1970.
    let now: @Sendable () -> Int64
    let zone: LocalZone
    let logger: Logger

    func page(
        _ method: Page.Method, _ path: String, entry: String? = nil, limit: Int = 64 * 1024,
        _ handler: @escaping @Sendable (OperatorRequest) async throws -> PageResult
    ) -> Page {
        Page(method, path, entry: entry, limit: limit) { page in
            let admin = AdminRequest(database: database, request: page.request, parameters: page.parameters)
            do {
                return try await handler(OperatorRequest(page: page, admin: admin, now: now(), zone: zone))
            } catch {
                throw problem(of: error, path: path) ?? error
            }
        }
    }

    /// The text of a refusal or of a trouble of the disk; nil for other errors.
    private func problem(of error: any Error, path: String) -> PageProblem? {
        if let problem = error as? PageProblem { return problem }
        // For the operator, the text with file and remedy.
        let isOfDisk = StoreOutage(error).map { $0 != .away } ?? false
        if !isOfDisk, let refusal = Refusal(of: error) {
            return PageProblem(refusal.status, Self.sentence(refusal.message))
        }
        guard let trouble = database.trouble(of: error) else { return nil }
        logger.error("a page failed", metadata: ["path": "\(path)", "reason": "\(error)"])
        return PageProblem(.serviceUnavailable, trouble + " Nothing was changed.")
    }

    /// A refusal of the store as a sentence.
    static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    static func sentence(_ error: any OperatorError) -> String { sentence("\(error)") }
}
