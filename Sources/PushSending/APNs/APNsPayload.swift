// SPDX-License-Identifier: Apache-2.0

/// The JSON of a notification for iOS.
struct APNsPayload: Encodable {
    struct Notification: Encodable {
        var alert: PushText?
        var sound: String?
        var category: String?
        var thread: String?
        /// 1 for a message without text, for which iOS starts the app.
        var available: Int?

        enum CodingKeys: String, CodingKey {
            case alert, sound, category
            case thread = "thread-id"
            case available = "content-available"
        }
    }

    /// The largest payload in bytes.
    static let most = 4096

    let aps: Notification
    let data: [String: String]

    init(_ message: PushMessage) {
        if let text = PushText(message) {
            aps = Notification(
                alert: text, sound: "default", category: message.kind.rawValue.uppercased(),
                thread: message.brandID ?? message.tag)
        } else {
            aps = Notification(available: 1)
        }
        data = message.data(includesType: true)
    }
}
