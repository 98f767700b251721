// SPDX-License-Identifier: Apache-2.0

// Reads the `outcomes` section of `herald.yaml`.

private let day = Duration.seconds(86_400)

extension HeraldSchema {
    func outcomes() -> HeraldConfiguration.Outcomes {
        var outcomes = HeraldConfiguration.Outcomes()
        root.within("outcomes") { section in
            outcomes.surface = section.string("surface", form: WordForm.word, WordForm.isWord) ?? outcomes.surface
            outcomes.returnedWindow = section.duration(
                "returned_window", default: outcomes.returnedWindow, in: .seconds(60)...(day * 30))
            outcomes.returnedOriginals = section.choice("returned_originals", default: outcomes.returnedOriginals)
            outcomes.subscribers = subscribers(section)
            outcomes.noMatchShare = section.share("report_no_match", default: outcomes.noMatchShare)
            outcomes.retryWindow = section.duration(
                "retry_window", default: outcomes.retryWindow, in: .seconds(0) ... .seconds(60))
            outcomes.profile = section.choice("profile", default: outcomes.profile)
            outcomes.voicemail = section.section("voicemail", signs) ?? outcomes.voicemail
            outcomes.system = section.section("system", signs) ?? outcomes.system
            outcomes.maxCallDuration = section.duration(
                "max_call_duration", default: outcomes.maxCallDuration, in: .seconds(60)...(day * 7))
            outcomes.retention = section.duration("retention", default: outcomes.retention, in: day...(day * 3650))
            if outcomes.retention < outcomes.returnedWindow {
                section.problem("retention", "must be at least returned_window, or return calls find no original call")
            }
            outcomes.maxSize = section.integer("max_size", default: outcomes.maxSize, in: 1_048_576...1_099_511_627_776)
            outcomes.recordFile = section.string("cdr_file").map(file.resolved)
            outcomes.recordFormat = section.choice("cdr_format", default: outcomes.recordFormat)
            outcomes.webhook = section.section("webhook", webhook)
            outcomes.kafka = section.section("kafka", kafka)
            outcomes.ringSlots = section.integer("ring_slots", default: outcomes.ringSlots, in: 64...1_048_576)
            outcomes.vocabulary = section.section("vocabulary", vocabulary) ?? [:]
        }
        return outcomes
    }

    /// Returns the group of each member. A member may be in one group only.
    func subscribers(_ section: ConfigurationSection) -> [String: String] {
        var groups: [String: String] = [:]
        _ = section.sections("subscribers") { _, group -> Void? in
            if !group.has("name") { group.missing("name", "sales") }
            let name = group.string("name", form: WordForm.name, WordForm.isName) ?? ""
            if !group.has("members") { group.missing("members", "[1001, +61291234567]") }
            for (position, member) in group.texts("members").enumerated() {
                if let other = groups.updateValue(name, forKey: member) {
                    group.problem("members", element: position, "\"\(member)\" is already in group \(other)")
                }
            }
            return nil
        }
        return groups
    }

    func webhook(_ section: ConfigurationSection) -> HeraldConfiguration.Webhook? {
        if !section.has("url") { section.missing("url", "https://crm.example.com/calls") }
        let url = section.string("url", form: URLForm.text, URLForm.isDirectory)
        let secret = SecretSchema(file: file).read(section, "secret", secrets: secrets)
        return url.map { HeraldConfiguration.Webhook(url: $0, secret: secret ?? ConfiguredSecret("")) }
    }

    private func signs(_ section: ConfigurationSection) -> HeraldConfiguration.AnswererSigns {
        var signs = HeraldConfiguration.AnswererSigns()
        signs.users = section.texts("users")
        signs.hosts = section.texts("hosts")
        for (position, text) in section.texts("headers").enumerated() {
            let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingPrefix { $0 == " " } }
            guard parts.count == 2, WordForm.isName(String(parts[0])), !parts[1].isEmpty else {
                section.problem(
                    "headers", element: position, "must be a header and its value, such as \"X-Answer: vm*\"")
                continue
            }
            signs.headers.append(.init(name: String(parts[0]), value: String(parts[1])))
        }
        return signs
    }

    private func vocabulary(_ section: ConfigurationSection) -> [String: String] {
        var words: [String: String] = [:]
        for word in ["displayed", "call_seen", "missed", "returned", "branding_disabled", "error", "no_match"] {
            words[word] = section.string(word, form: WordForm.word, WordForm.isWord)
        }
        // The event name is part of the event key, so events of one call need different names.
        let ofOneCall = ["displayed", "call_seen", "returned"]
        for (position, word) in ofOneCall.enumerated() {
            guard let own = words[word] else { continue }
            let others = ofOneCall.enumerated().filter { $0.offset != position }.map { words[$0.element] ?? $0.element }
            let end = word == "call_seen" ? [] : [words["missed"] ?? "missed"]
            if (others + end).contains(own) {
                section.problem(
                    word, "\"\(own)\" already names another event of the same call, and the directory would drop one")
            }
        }
        return words
    }
}
