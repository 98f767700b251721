// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The admissions of all trunks by name.
///
/// A reload keeps their counts, and their used rate as long as the limits are unchanged. Any thread.
public final class TrunkRegister: Sendable {
    private let trunks = Mutex<[String: TrunkAdmission]>([:])
    private let registrars = Mutex<[String: RegistrarState]>([:])
    private let onRegistrar: @Sendable (String, RegistrarState.Finding) -> Void

    /// - Parameter onRegistrar: receives changes of a trunk's registrar, and must not wait.
    public init(onRegistrar: @escaping @Sendable (String, RegistrarState.Finding) -> Void = { _, _ in }) {
        self.onRegistrar = onRegistrar
    }

    /// The state of a trunk's registrar; the same object after a reload.
    public func registrar(of name: String) -> RegistrarState {
        registrars.withLock { registrars in
            if let known = registrars[name] { return known }
            let state = RegistrarState(trunk: name, onNews: onRegistrar)
            registrars[name] = state
            return state
        }
    }

    /// The admission of a trunk; the present one if it has these limits.
    public func admission(of name: String, _ limits: TrunkAdmission.Limits) -> TrunkAdmission {
        trunks.withLock { trunks in
            if let known = trunks[name], known.limits == limits { return known }
            let admission = TrunkAdmission(limits, calls: trunks[name]?.calls ?? TrunkCalls())
            trunks[name] = admission
            return admission
        }
    }
}
