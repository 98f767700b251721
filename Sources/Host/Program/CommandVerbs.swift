// SPDX-License-Identifier: Apache-2.0

/// The verbs of both programs, and the verbs that people type for them.
///
/// A verb has one meaning under each noun. `docs/commands.md` has the table.
public enum CommandVerbs {
    /// The verbs of nouns, each with verbs of earlier versions and of other programs.
    static let meanings: [(verb: String, others: [String])] = [
        ("list", ["ls"]),
        ("show", ["get", "describe", "view", "inspect", "why", "log"]),
        ("add", ["create", "new", "make", "insert", "assign", "upload"]),
        ("set", ["change", "edit", "update", "modify", "add", "create", "assign"]),
        ("remove", ["delete", "rm", "del", "revoke", "close", "deactivate", "forget"]),
        ("enable", ["uncordon"]),
        ("disable", ["cordon"]),
        ("import", ["load"]),
        ("export", ["dump"]),
        ("fetch", ["clear", "refresh"]),
        ("retry", ["requeue"]),
        ("rotate", ["renew"]),
        ("regimes", ["regime"]),
        // Nouns of earlier versions.
        ("uploads", ["debug"]),
    ]

    /// Returns the command that a word means; nil for a word without a meaning here.
    public static func find(_ word: String, among commands: [String]) -> String? {
        let word = word.lowercased()
        if commands.contains(word) { return word }
        return meanings.first { commands.contains($0.verb) && $0.others.contains(word) }?.verb
    }
}
