// SPDX-License-Identifier: Apache-2.0

// Two functions instead of one with a typed error: Swift 6.3 compiles that one wrongly where the error is `Never`. The
// value is lost, or the task never goes on.

/// Runs tasks side by side until one of them ends, cancels the others and waits for them.
///
/// - Returns: the value of the first one; nil without tasks.
@discardableResult
public func firstOf<Value: Sendable>(_ bodies: (@Sendable () async -> Value)...) async -> Value? {
    await withTaskGroup(of: Value.self) { group in
        for body in bodies { group.addTask { await body() } }
        defer { group.cancelAll() }
        return await group.next()
    }
}

/// Runs tasks side by side until one of them ends, cancels the others and waits for them.
///
/// - Returns: the value of the first one; nil without tasks.
/// - Throws: the error of the first one.
@discardableResult
public func firstOf<Value: Sendable>(_ bodies: (@Sendable () async throws -> Value)...) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for body in bodies { group.addTask { try await body() } }
        defer { group.cancelAll() }
        return try await group.next()
    }
}

/// Runs work for a limited time; nil if the time ends first.
public func within<Value: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async -> Value
) async -> Value? {
    await firstOf(
        { () async -> Value? in await work() },
        { () async -> Value? in
            try? await Task.sleep(for: limit)
            return nil
        }) ?? nil
}
