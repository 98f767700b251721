// SPDX-License-Identifier: Apache-2.0

import Branding
import BrandingAPI
import GatewaySync
import Primitives

/// Why each gate of a directory account is open or closed, with the remedy.
struct GateReasons {
    private let config: DirectoryConfig
    private let gates: BrandingGates
    private let lastError: String?

    init(_ sync: SyncService, _ gates: BrandingGates) {
        config = sync.config
        lastError = sync.status.lastError
        self.gates = gates
    }

    /// The cause of a closed gate, or the remark on an open one; nil without a remark.
    func reason(_ gate: String, _ isOpen: Bool) -> String? {
        guard isOpen else { return reason(closed: gate) }
        guard gate == "voip_dialer_enabled", !gates.voipDialerEnabled else { return nil }
        return "the directory has voip_dialer_enabled: false, which directory.voip_dialer_enabled: ignore overrides"
    }

    /// The closed gates, without those that a directory closes because of another one.
    var closed: [ControlledSync.Gate] {
        gates.all.filter { !$0.isOpen && !($0.gate == "branding_enabled" && follows != nil) }.map { gate, _ in
            ControlledSync.Gate(gate: gate, open: false, reason: reason(closed: gate))
        }
    }

    /// The gate that may be the reason for `branding_enabled: false`.
    private var follows: String? {
        if gates.capReached { return "cap" }
        return gates.all.first { $0.gate == "account_status" }?.isOpen == false ? "account_status" : nil
    }

    private func reason(closed gate: String) -> String {
        switch gate {
        case "authorised":
            lastError ?? "the directory refused the API key; it opens with the next good sync"
        case "account_status":
            "the directory reports account_status: \(TerminalText.visible(gates.accountStatus)); ask its operator"
        case "branding_enabled":
            follows.map { "the directory has branding_enabled: false together with \($0); see that gate first" }
                ?? "the directory has branding_enabled: false; ask its operator to enable branding"
        case "voip_dialer_enabled":
            """
            the directory has voip_dialer_enabled: false; ask its operator to enable it, or set \
            directory.voip_dialer_enabled: ignore
            """
        case "cap": cap
        default:
            "the last good sync is older than the cache lifetime; see sync.last_error"
        }
    }

    private var cap: String {
        var events = "all events"
        if let used = config.usedThisMonth {
            if case .events(let cap)? = config.capThisMonth {
                events = "\(used) of \(cap) events"
            } else {
                events = "\(used) events"
            }
        }
        return "\(events) of this month's cap are used: raise the cap at the directory, or wait for the next month"
    }
}
