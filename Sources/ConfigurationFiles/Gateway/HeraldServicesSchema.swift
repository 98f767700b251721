// SPDX-License-Identifier: Apache-2.0

// Reads the sections `branding`, `brands`, `health`, `timers`, `limits`, `streams`, `dns` and `admin` of `herald.yaml`.

private let day = Duration.seconds(86_400)

extension HeraldSchema {
    func branding() -> HeraldConfiguration.BrandingSettings {
        var settings = HeraldConfiguration.BrandingSettings()
        root.within("branding") { section in
            settings.isEnabled = section.bool("enabled", default: settings.isEnabled)
            settings.maxNameBytes = section.integer("max_name_bytes", default: settings.maxNameBytes, in: 15...200)
            settings.maxReasonCharacters = section.integer(
                "max_reason_characters", default: settings.maxReasonCharacters, in: 1...200)
            settings.quotes = section.choice("quotes", default: settings.quotes)
            settings.percent = section.choice("percent", default: settings.percent)
            settings.allowsInsecureLogos = section.bool("allow_insecure_logos", default: settings.allowsInsecureLogos)
            settings.writesCallInfo = section.bool("call_info", default: settings.writesCallInfo)
            settings.cardLink = section.choice("card_link", default: settings.cardLink)
            if settings.cardLink == .callInfo, !settings.writesCallInfo {
                section.problem("card_link", "needs call_info: true")
            }
            settings.verstat = section.choice("verstat", default: settings.verstat)
        }
        return settings
    }

    func brandsFile() -> String? {
        root.section("brands") { section in
            guard section.has("file") else {
                section.missing("file", "brands.psv")
                return nil
            }
            guard let path = section.string("file").map(file.resolved) else { return nil }
            section.checkReadable("file", path)
            return path
        }
    }

    func health() -> HeraldConfiguration.Health {
        var health = HeraldConfiguration.Health()
        root.within("health") { section in
            let minute = Duration.seconds(60)
            health.interval = section.duration(
                "interval", default: health.interval, in: .milliseconds(100)...(minute * 60))
            health.timeout = section.duration("timeout", default: health.timeout, in: .milliseconds(50)...minute)
            health.downAfter = section.integer("down_after", default: health.downAfter, in: 1...100)
            health.upAfter = section.integer("up_after", default: health.upAfter, in: 1...100)
            health.patience = section.duration(
                "patience", default: health.patience, in: .milliseconds(50)...(minute * 2))
            if section.has("last_patience") {
                health.lastPatience = section.duration(
                    "last_patience", default: .seconds(32), in: .milliseconds(50)...(minute * 2))
            }
            health.reportsPBX = section.bool("report_pbx", default: health.reportsPBX)
        }
        return health
    }

    func timers() -> HeraldConfiguration.Timers {
        var timers = HeraldConfiguration.Timers()
        root.within("timers") { section in
            let minute = Duration.seconds(60)
            timers.t1 = section.duration("t1", default: timers.t1, in: .milliseconds(10) ... .seconds(5))
            timers.t2 = section.duration("t2", default: timers.t2, in: .milliseconds(10)...minute)
            timers.t4 = section.duration("t4", default: timers.t4, in: .milliseconds(10)...minute)
            timers.c = section.duration("timer_c", default: timers.c, in: .seconds(1)...(minute * 60))
            if timers.t1 > timers.t2 { section.problem("t1", "must not be longer than t2 (RFC 3261 §17.1.2.2)") }
        }
        return timers
    }

    func limits() -> HeraldConfiguration.Limits {
        var limits = HeraldConfiguration.Limits()
        root.within("limits") { section in
            limits.maxMessage = section.integer("max_message", default: limits.maxMessage, in: 1_300...65_535)
            limits.maxHeaders = section.integer("max_headers", default: limits.maxHeaders, in: 20...1_000)
            let most = section.integer("max_transactions", default: 200_000, in: 100...10_000_000)
            limits.maxTransactions = section.has("max_transactions") ? most : nil
        }
        return limits
    }

    func streams() -> HeraldConfiguration.Streams {
        var streams = HeraldConfiguration.Streams()
        root.within("streams") { section in
            streams.connections = section.integer("connections", default: streams.connections, in: 1...100_000)
            streams.connectionsPerSource = section.integer(
                "connections_per_source", default: streams.connectionsPerSource, in: 1...100_000)
            streams.idle = section.duration("idle", default: streams.idle, in: .seconds(1)...day)
            streams.unfinished = section.duration(
                "unfinished", default: streams.unfinished, in: .milliseconds(100) ... .seconds(300))
        }
        return streams
    }

    func nameServers() -> [EndpointAddress] {
        var servers: [EndpointAddress] = []
        root.within("dns") { section in
            servers = section.list("servers") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 53)
            }
            if servers.count > 8 { section.problem("servers", "must have at most 8 entries") }
        }
        return servers
    }

    func admin() -> (EndpointAddress?, HeraldConfiguration.AdminAccess) {
        let usual = EndpointAddress(host: "127.0.0.1", port: 9470, isIPv6: false)
        var isEnabled = true
        var access = HeraldConfiguration.AdminAccess()
        let address: EndpointAddress? = root.section("admin") { section in
            isEnabled = section.bool("enabled", default: true)
            access = adminAccess(section)
            return section.parsed("listen") { text throws(AddressProblem) in
                try EndpointAddress.read(text, defaultPort: 9470)
            }
        }
        return (isEnabled ? address ?? usual : nil, access)
    }
}
