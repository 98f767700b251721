// SPDX-License-Identifier: Apache-2.0

/// The JSON of `messages:send` of FCM HTTP v1.
struct FCMPayload: Encodable {
    struct Message: Encodable {
        var token: String
        var notification: PushText?
        var data: [String: String]
        var android: Android
    }

    struct Android: Encodable {
        var priority: String
        var ttl: String
        var notification: Look?
    }

    /// FCM keeps at most four collapse keys a device. The tag replaces a shown notification for any number of calls.
    struct Look: Encodable {
        var icon: String
        var color: String?
        var sound = "default"
        var tag: String
    }

    /// The largest message in bytes, texts and data.
    static let most = 4096
    /// The longest lifetime in seconds, four weeks.
    static let longest: Int64 = 2_419_200

    let message: Message

    init(_ message: PushMessage, to token: String, left: Int64, settings: FCMSettings) {
        let text = PushText(message)
        let look = text.map { _ in Look(icon: settings.icon, color: settings.color, tag: message.tag) }
        self.message = Message(
            token: token, notification: text, data: message.data(includesType: true),
            android: Android(
                priority: message.kind.isUrgent ? "HIGH" : "NORMAL", ttl: "\(min(left, Self.longest))s",
                notification: look))
    }
}
