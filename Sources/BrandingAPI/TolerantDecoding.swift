// SPDX-License-Identifier: Apache-2.0

/// Decodes fields that directories send in more than one type.
///
/// Unreadable fields count as absent. A number sent as text, or an identifier sent as a number, must not invalidate the
/// whole response.
extension KeyedDecodingContainer {
    /// Decodes a string, or a whole number without quotes.
    func tolerantString(_ key: Key) -> String? {
        guard contains(key) else { return nil }
        if let text = try? decode(String.self, forKey: key) { return text }
        return (try? decode(Int.self, forKey: key)).map { String($0) }
    }

    /// Decodes a Boolean, also as 1, 0 or in quotes.
    func tolerantBool(_ key: Key) -> Bool? {
        guard contains(key) else { return nil }
        if let flag = try? decode(Bool.self, forKey: key) { return flag }
        switch tolerantString(key)?.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        default: return nil
        }
    }

    /// Decodes a whole number, also in quotes.
    func tolerantInt(_ key: Key) -> Int? {
        guard contains(key) else { return nil }
        if let number = try? decode(Int.self, forKey: key) { return number }
        return (try? decode(String.self, forKey: key)).flatMap { Int($0) }
    }

    /// Decodes a nested value; nil if it has the wrong type.
    func tolerant<Value: Decodable>(_ type: Value.Type, _ key: Key) -> Value? {
        contains(key) ? try? decode(type, forKey: key) : nil
    }
}
