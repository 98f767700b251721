// SPDX-License-Identifier: Apache-2.0

/// Runs tasks side by side until one of them ends, cancels the others and waits for them.
///
/// - Returns: the value of the first one; nil without tasks.
/// - Throws: the error of the first one.
@discardableResult
package func firstOf<Value: Sendable, Failure: Error>(
    _ bodies: (@Sendable () async throws(Failure) -> Value)...
) async throws(Failure) -> Value? {
    let first = await withTaskGroup(of: Result<Value, Failure>.self) { group in
        for body in bodies {
            group.addTask {
                do throws(Failure) {
                    return .success(try await body())
                } catch {
                    return .failure(error)
                }
            }
        }
        defer { group.cancelAll() }
        return await group.next()
    }
    return try first?.get()
}

/// Runs work for a limited time; nil if the time ends first.
package func within<Value: Sendable, Failure: Error>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value? {
    try await firstOf(
        { () async throws(Failure) -> Value? in try await work() },
        { () async throws(Failure) -> Value? in
            try? await Task.sleep(for: limit)
            return nil
        }) ?? nil
}
