// SPDX-License-Identifier: Apache-2.0

extension DirectoryDatabase {
    /// Finds the owner of a key that polls, and the state of its account where one read gives both.
    package func caller(
        ofKey key: String, _ poll: Poll, now: Int64
    ) async throws -> (caller: Caller, polled: PolledAccount?)? {
        guard engine.looksUpPolls else { return try await caller(ofKey: key, now: now).map { ($0, nil) } }
        let hash = SecretHash.of(key)
        let found = try await pool.readEach { try PolledAccount.ofKey(hash: hash, poll, now: now, $0) }
        if found != nil { keyUsage.record(hash, now: now) }
        return found
    }
}
