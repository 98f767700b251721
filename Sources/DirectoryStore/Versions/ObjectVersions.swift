// SPDX-License-Identifier: Apache-2.0

extension BrandList.Brand {
    /// Identifies the values that a change of the brand can set; the time of the change and the count of numbers are not
    /// among them.
    package var version: ValueVersion {
        ValueVersion(
            of: id,
            [("brand_name", name), ("logo_url", logo), ("call_reason", reason), ("owner_state", owner.rawValue)])
    }
}

extension BrandNumbers.NumberRow {
    /// Identifies the values of a number, including those of its brand.
    package var version: ValueVersion {
        ValueVersion(
            of: number,
            [
                ("brand_id", brandID), ("brand_name", name), ("logo_url", logo), ("call_reason", reason),
                ("state", state.rawValue),
            ])
    }
}

extension AccountList.Summary {
    /// Identifies the values that a change of the account can set; the events of the month are not among them.
    package var version: ValueVersion {
        ValueVersion(
            of: id,
            [
                ("status", status), ("mode", mode), ("branding_enabled", "\(brandingEnabled)"),
                ("voip_dialer_enabled", "\(voipDialerEnabled)"), ("card_enabled", "\(hasCards)"),
                ("cap_this_month", cap.map { "\($0)" }), ("included_imprints_monthly", "\(includedImprints)"),
            ])
    }
}
