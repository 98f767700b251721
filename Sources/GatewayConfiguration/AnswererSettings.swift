// SPDX-License-Identifier: Apache-2.0

import CallPath
import ConfigurationFiles

extension HeraldConfiguration.Outcomes {
    /// Signs of voicemail boxes and menus: those of the PBX profile and those of the operator.
    var answerers: AnswererRules {
        var rules = AnswererRules()
        rules.voicemail = voicemail.signs(and: profile.voicemailUsers)
        rules.system = system.signs(and: [])
        return rules
    }
}

extension HeraldConfiguration.AnswererSigns {
    fileprivate func signs(and usual: [String]) -> AnswererRules.Signs {
        var signs = AnswererRules.Signs()
        signs.users = (usual + users).map(TextPattern.init)
        signs.hosts = hosts.map(TextPattern.init)
        signs.headers = headers.map { AnswererRules.HeaderSign(name: $0.name, value: $0.value) }
        return signs
    }
}

extension HeraldConfiguration.PBXProfile {
    /// Users of its voicemail, in called numbers and in the connected party of a 2xx response.
    ///
    /// Asterisk: star codes of FreePBX and its mailbox extensions. FreeSWITCH: the extensions of its sample dialplan.
    fileprivate var voicemailUsers: [String] {
        switch self {
        case .generic: []
        case .asterisk: ["voicemail", "*97", "*98", "vmu*", "vmb*", "vms*"]
        case .freeswitch: ["voicemail", "vmain", "*97", "*98", "4000"]
        }
    }
}
