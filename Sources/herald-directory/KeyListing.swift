// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BrandingAPI
import Directory

/// How a list of keys is shown.
struct KeyListing: ParsableArguments {
    @Flag(help: "One JSON object a line instead of a table.")
    var json = false

    func write(_ keys: [AccountStore.KeyRow]) throws {
        if json {
            for key in keys { try Output.write(json: key) }
            return
        }
        guard !keys.isEmpty else { return Output.write("no keys\n") }
        let now = Timestamp.string(from: secondsNow())
        let rows = keys.map { [$0.id, $0.name, $0.created, $0.lastUsed, state(of: $0, now: now)] }
        Output.write(table: ["ID", "NAME", "CREATED", "LAST USED", "STATE"], rows)
    }

    private func state(of key: AccountStore.KeyRow, now: String) -> String {
        if let revoked = key.revoked { return "revoked " + revoked }
        guard let expires = key.expires else { return "good" }
        return expires > now ? "good until " + expires : "ended " + expires
    }
}
