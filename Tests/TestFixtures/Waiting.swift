// SPDX-License-Identifier: Apache-2.0

/// Waits until a condition holds, and returns false if it does not hold within some 100 seconds.
///
/// The condition is checked every 2 ms. No test measures this time: it only has to outlast a busy machine.
package func waits(until condition: () -> Bool) async throws -> Bool {
    for _ in 0..<50_000 {
        if condition() { return true }
        try await Task.sleep(for: .milliseconds(2))
    }
    return false
}

/// Waits until a condition holds; after some 100 seconds it returns, and the expectation that follows fails.
package func until(_ condition: @Sendable () async -> Bool) async {
    for _ in 0..<20_000 {
        if await condition() { return }
        try? await Task.sleep(for: .milliseconds(5))
    }
}
