// SPDX-License-Identifier: Apache-2.0

package import Branding

/// Serialises builds of the brand index: two builds at once would write the same file.
package actor IndexRebuild {
    private let build: @Sendable () async throws -> BrandIndex
    private var last: Task<BrandIndex, any Error>?

    package init(_ build: @escaping @Sendable () async throws -> BrandIndex) { self.build = build }

    /// Runs a build that begins after this call, so that it contains all earlier writes.
    package func run() async throws -> BrandIndex {
        let task = Task { [build, last] in
            _ = await last?.result
            return try await build()
        }
        last = task
        return try await task.value
    }
}
