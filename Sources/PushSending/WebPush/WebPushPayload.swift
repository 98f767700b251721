// SPDX-License-Identifier: Apache-2.0

/// The JSON that the page's service worker decrypts.
struct WebPushPayload: Encodable {
    /// Nil for a silent message, as title and body are.
    let type: String?
    let title: String?
    let body: String?
    let data: [String: String]

    init(_ message: PushMessage) {
        let text = PushText(message)
        type = text.map { _ in message.kind.rawValue }
        (title, body) = (text?.title, text?.body)
        data = message.data(includesType: false)
    }
}
