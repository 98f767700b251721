// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import DirectoryStore
import Host

/// Shows a list of keys as a table or as JSON.
struct KeyListing: ParsableArguments {
    @OptionGroup var list: ListOptions

    func write(_ keys: [AccountStore.KeyRow]) throws {
        if list.json { return try keys.forEach { try Output.write(json: $0) } }
        guard !keys.isEmpty else { return Output.write("no keys\n") }
        let now = Timestamp.string(from: secondsNow())
        let hasKinds = keys.contains { $0.kind != nil }
        let rows = keys.map { key in
            [key.id, key.name] + (hasKinds ? [key.kind?.rawValue] : [])
                + [key.created, key.lastUsed, state(of: key, now: now)]
        }
        Output.write(
            table: ["ID", "NAME"] + (hasKinds ? ["KIND"] : []) + ["CREATED", "LAST USED", "STATE"], list.form,
            whole: ["STATE"], wideOnly: ["ID", "CREATED"], rows)
    }

    private func state(of key: AccountStore.KeyRow, now: String) -> String {
        if let revoked = key.revoked { return "removed " + revoked }
        guard let expires = key.expires else { return "good" }
        return expires > now ? "good until " + expires : "ended " + expires
    }
}
