// SPDX-License-Identifier: Apache-2.0

import Foundation

// Reads the `directory` section of `herald.yaml`.

private let day = Duration.seconds(86_400)

extension HeraldSchema {
    func directory() -> HeraldConfiguration.DirectoryAccess? {
        root.section("directory") { directoryAccess($0, nil) }
    }

    /// Reads URL, key and settings of an account.
    ///
    /// - Parameter usual: the values of absent keys where the section has no URL; the key and the signing are the
    ///   account's own.
    func directoryAccess(
        _ section: ConfigurationSection, _ usual: HeraldConfiguration.DirectoryAccess?
    ) -> HeraldConfiguration.DirectoryAccess {
        let url = section.string("url", form: URLForm.text, URLForm.isDirectory)
        if !section.has("url"), usual == nil { section.missing("url", "http://127.0.0.1:8088") }
        let key = SecretSchema(file: file).read(section, "api_key", secrets: secrets) ?? ConfiguredSecret("")
        var access = HeraldConfiguration.DirectoryAccess(url: url ?? "", key: key)
        if !section.has("url"), let usual {
            access = usual
            access.key = key
        }
        intervals(section, &access)
        access.acknowledges = section.bool("acknowledge", default: access.acknowledges)
        access.platform =
            section.string("platform", form: WordForm.name, WordForm.isName) ?? access.platform
        access.clientType =
            section.string("client_type", form: WordForm.name, WordForm.isName) ?? access.clientType
        access.maxBody = section.integer("max_body", default: access.maxBody, in: 65_536...68_719_476_736)
        access.voipDialer = section.choice("voip_dialer_enabled", default: access.voipDialer)
        access.isBearer = section.bool("bearer", default: access.isBearer)
        access.tls = section.section("tls", directoryTLS) ?? access.tls
        if !access.tls.pins.isEmpty, access.url.hasPrefix("http:") {
            section.problem("tls", "pins need an https url; http has no certificate to check")
        }
        access.signing = section.section("signing", directorySigning)
        if section.has("lookup") { access.lookup = section.section("lookup", directoryLookup) }
        access.allowsDebugUpload = section.bool("debug_upload", default: access.allowsDebugUpload)
        return access
    }

    private func intervals(_ section: ConfigurationSection, _ access: inout HeraldConfiguration.DirectoryAccess) {
        if section.has("sync_interval") {
            access.syncInterval = section.duration("sync_interval", default: day, in: .seconds(1)...day)
        }
        if section.has("cache_lifetime") {
            access.cacheLifetime = section.duration("cache_lifetime", default: .zero, in: .zero...(day * 3650))
        }
        access.fullSyncInterval = section.duration(
            "full_sync_interval", default: access.fullSyncInterval, in: .seconds(10)...(day * 30))
        access.presenceInterval = section.duration(
            "presence_interval", default: access.presenceInterval, in: .seconds(10)...day)
        access.timeout = section.duration("timeout", default: access.timeout, in: .seconds(1) ... .seconds(120))
        access.resourceTimeout = section.duration(
            "resource_timeout", default: access.resourceTimeout, in: .seconds(1) ... .seconds(600))
        access.syncTimeout = section.duration(
            "sync_timeout", default: access.syncTimeout, in: .seconds(1) ... .seconds(86_400))
    }

    private func directoryTLS(_ section: ConfigurationSection) -> HeraldConfiguration.DirectoryTLS {
        func readable(_ key: String) -> String? {
            guard let path = section.string(key).map(file.resolved) else { return nil }
            section.checkReadable(key, path)
            return path
        }
        var tls = HeraldConfiguration.DirectoryTLS()
        tls.pins = section.list("pins") { text throws(AddressProblem) in text }
        for (position, pin) in tls.pins.enumerated() {
            let base64 = pin.hasPrefix("sha256/") ? String(pin.dropFirst(7)) : pin
            guard Data(base64Encoded: base64)?.count != 32 else { continue }
            section.problem(
                "pins", element: position, "must be a SHA-256 in Base64: 44 characters that end in =")
        }
        tls.roots = readable("roots")
        tls.certificate = readable("certificate")
        tls.key = readable("key")
        if (tls.certificate == nil) != (tls.key == nil) {
            section.problem(tls.key == nil ? "certificate" : "key", "certificate and key are required together")
        }
        return tls
    }

    private func directoryLookup(_ section: ConfigurationSection) -> HeraldConfiguration.Lookup? {
        var lookup = HeraldConfiguration.Lookup()
        let isEnabled = section.bool("enabled", default: false)
        lookup.perMinute = section.integer("per_minute", default: lookup.perMinute, in: 1...600)
        lookup.negativeTTL = section.duration(
            "negative_ttl", default: lookup.negativeTTL, in: .seconds(60)...(day * 30))
        return isEnabled ? lookup : nil
    }

    private func directorySigning(_ section: ConfigurationSection) -> HeraldConfiguration.DirectorySigning? {
        if !section.has("id") { section.missing("id", "herald") }
        let id = section.string("id", form: WordForm.word, WordForm.isWord)
        let secret = SecretSchema(file: file).read(section, "secret", secrets: secrets)
        guard let id else { return nil }
        return HeraldConfiguration.DirectorySigning(id: id, secret: secret ?? ConfiguredSecret(""))
    }
}
