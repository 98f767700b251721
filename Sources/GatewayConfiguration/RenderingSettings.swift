// SPDX-License-Identifier: Apache-2.0

package import Branding
package import ConfigurationFiles

extension HeraldConfiguration {
    /// How brands become header bytes: limits of names and reasons, escapes, permitted logos.
    package var renderingProfile: RenderingProfile {
        RenderingProfile(
            maxNameBytes: branding.maxNameBytes, maxReasonCharacters: branding.maxReasonCharacters,
            percent: branding.percent, quotes: branding.quotes,
            allowInsecureLogos: branding.allowsInsecureLogos)
    }
}
