// SPDX-License-Identifier: Apache-2.0

/// The texts of a message as its privacy permits, cut to lengths that fit a payload of 4,096 bytes.
struct PushText: Encodable {
    /// The longest title in bytes of UTF-8.
    static let mostOfTitle = 256
    /// The longest body in bytes of UTF-8.
    static let mostOfBody = 1024

    let title: String
    let body: String?

    /// Nil for a silent message.
    init?(_ message: PushMessage) {
        guard message.privacy != .silent else { return nil }
        title = Self.cut(message.title, to: Self.mostOfTitle)
        body = message.privacy == .full && !message.body.isEmpty ? Self.cut(message.body, to: Self.mostOfBody) : nil
    }

    /// Cuts between characters.
    private static func cut(_ text: String, to most: Int) -> String {
        guard text.utf8.count > most else { return text }
        var (begin, left) = ("", most - "…".utf8.count)
        for character in text {
            left -= character.utf8.count
            guard left >= 0 else { break }
            begin.append(character)
        }
        return begin + "…"
    }
}

extension PushMessage {
    /// The values that an app reads beside the texts. All are strings, because FCM takes no others.
    func data(includesType: Bool) -> [String: String] {
        var data = ["tag": tag, "deep_link": deepLink]
        guard privacy != .silent else { return data }
        if includesType { data["type"] = kind.rawValue }
        data["brand_id"] = brandID
        data["web_url"] = webURL
        data["sent_at"] = String(sentAt)
        return data
    }
}
