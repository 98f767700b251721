// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Parts of an open page that the server renders again and sends as server-sent events (HTML Standard §9.2).
package struct LiveParts: Sendable {
    /// A stream ends after this time and the browser opens the next one, which checks the login again.
    static let longest = Duration.seconds(900)

    /// The time between two renderings.
    let interval: Duration
    /// Element id to the template and its values.
    let parts: @Sendable () async throws -> [Part]

    /// An element of the page and its new content.
    package struct Part: Sendable {
        let id: String
        let template: String
        let values: any Sendable

        /// - Parameter id: the `id` of the element in the page.
        package init(id: String, template: String, values: any Sendable) {
            self.id = id
            self.template = template
            self.values = values
        }
    }

    package init(every interval: Duration, parts: @escaping @Sendable () async throws -> [Part]) {
        self.interval = interval
        self.parts = parts
    }

    /// A body that ends when the client goes, its session ends or the program stops.
    ///
    /// Parts that did not change are not sent again.
    ///
    /// - Parameter slot: its place among the live streams, which it has until it ends.
    func body(
        _ templates: PageTemplates, _ slot: LiveSlot, isAllowed: @escaping @Sendable () -> Bool
    ) -> ResponseBody {
        ResponseBody { writer in
            defer { withExtendedLifetime(slot) {} }
            var sent: [String: String] = [:]
            let end = ContinuousClock.now + Self.longest
            try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
            while !Task.isCancelled, !Task.isShuttingDownGracefully, isAllowed(), ContinuousClock.now < end {
                var text = ""
                for part in try await parts() {
                    guard let html = templates.render(part.template, part.values), sent[part.id] != html else {
                        continue
                    }
                    sent[part.id] = html
                    text += Self.event(part.id, html)
                }
                // A comment finds out whether the client is still there.
                try await writer.write(ByteBuffer(string: text.isEmpty ? ":\n\n" : text))
                let wait = interval
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: wait) }
            }
            try await writer.finish(nil)
        }
    }

    /// One event: the id as its type, the HTML as its data, a field for each line.
    static func event(_ id: String, _ html: String) -> String {
        let lines = html.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return "event: part\n" + "data: \(id)\n" + lines.map { "data: \($0)\n" }.joined() + "\n"
    }
}
