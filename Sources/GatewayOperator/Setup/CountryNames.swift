// SPDX-License-Identifier: Apache-2.0

/// The names of countries and territories with a numbering plan, as people write them.
///
/// Codes and English names follow `iso3166.tab` of the time zone database, which is in the public domain.
enum CountryNames {
    /// Two letters of ISO 3166, the name that is shown, then other names.
    static let table = """
        AC Ascension Island
        AD Andorra
        AE United Arab Emirates|UAE|Emirates
        AF Afghanistan
        AG Antigua and Barbuda
        AI Anguilla
        AL Albania
        AM Armenia
        AO Angola
        AR Argentina
        AS American Samoa
        AT Austria|Österreich
        AU Australia
        AW Aruba
        AX Åland Islands
        AZ Azerbaijan
        BA Bosnia and Herzegovina
        BB Barbados
        BD Bangladesh
        BE Belgium|Belgique|België
        BF Burkina Faso
        BG Bulgaria
        BH Bahrain
        BI Burundi
        BJ Benin
        BL Saint Barthélemy
        BM Bermuda
        BN Brunei
        BO Bolivia
        BQ Caribbean Netherlands
        BR Brazil|Brasil
        BS Bahamas
        BT Bhutan
        BW Botswana
        BY Belarus
        BZ Belize
        CA Canada
        CC Cocos Islands
        CD Democratic Republic of the Congo|Congo (Kinshasa)
        CF Central African Republic
        CG Republic of the Congo|Congo (Brazzaville)
        CH Switzerland|Schweiz|Suisse|Svizzera
        CI Côte d'Ivoire|Ivory Coast
        CK Cook Islands
        CL Chile
        CM Cameroon
        CN China
        CO Colombia
        CR Costa Rica
        CU Cuba
        CV Cape Verde|Cabo Verde
        CW Curaçao
        CX Christmas Island
        CY Cyprus
        CZ Czechia|Czech Republic|Česko
        DE Germany|Deutschland
        DJ Djibouti
        DK Denmark|Danmark
        DM Dominica
        DO Dominican Republic
        DZ Algeria
        EC Ecuador
        EE Estonia
        EG Egypt
        EH Western Sahara
        ER Eritrea
        ES Spain|España
        ET Ethiopia
        FI Finland|Suomi
        FJ Fiji
        FK Falkland Islands
        FM Micronesia
        FO Faroe Islands
        FR France
        GA Gabon
        GB United Kingdom|Great Britain|Britain|England|Scotland|Wales|Northern Ireland
        GD Grenada
        GE Georgia
        GF French Guiana
        GG Guernsey
        GH Ghana
        GI Gibraltar
        GL Greenland
        GM Gambia
        GN Guinea
        GP Guadeloupe
        GQ Equatorial Guinea
        GR Greece
        GT Guatemala
        GU Guam
        GW Guinea-Bissau
        GY Guyana
        HK Hong Kong
        HN Honduras
        HR Croatia
        HT Haiti
        HU Hungary
        ID Indonesia
        IE Ireland|Republic of Ireland|Éire
        IL Israel
        IM Isle of Man
        IN India
        IO British Indian Ocean Territory
        IQ Iraq
        IR Iran
        IS Iceland
        IT Italy|Italia
        JE Jersey
        JM Jamaica
        JO Jordan
        JP Japan
        KE Kenya
        KG Kyrgyzstan
        KH Cambodia
        KI Kiribati
        KM Comoros
        KN Saint Kitts and Nevis
        KP North Korea
        KR South Korea|Korea
        KW Kuwait
        KY Cayman Islands
        KZ Kazakhstan
        LA Laos
        LB Lebanon
        LC Saint Lucia
        LI Liechtenstein
        LK Sri Lanka
        LR Liberia
        LS Lesotho
        LT Lithuania
        LU Luxembourg
        LV Latvia
        LY Libya
        MA Morocco
        MC Monaco
        MD Moldova
        ME Montenegro
        MF Saint Martin
        MG Madagascar
        MH Marshall Islands
        MK North Macedonia
        ML Mali
        MM Myanmar|Burma
        MN Mongolia
        MO Macau|Macao
        MP Northern Mariana Islands
        MQ Martinique
        MR Mauritania
        MS Montserrat
        MT Malta
        MU Mauritius
        MV Maldives
        MW Malawi
        MX Mexico|México
        MY Malaysia
        MZ Mozambique
        NA Namibia
        NC New Caledonia
        NE Niger
        NF Norfolk Island
        NG Nigeria
        NI Nicaragua
        NL Netherlands|Holland|Nederland
        NO Norway|Norge
        NP Nepal
        NR Nauru
        NU Niue
        NZ New Zealand|Aotearoa
        OM Oman
        PA Panama
        PE Peru
        PF French Polynesia
        PG Papua New Guinea
        PH Philippines
        PK Pakistan
        PL Poland|Polska
        PM Saint Pierre and Miquelon
        PR Puerto Rico
        PS Palestine
        PT Portugal
        PW Palau
        PY Paraguay
        QA Qatar
        RE Réunion
        RO Romania
        RS Serbia
        RU Russia|Russian Federation
        RW Rwanda
        SA Saudi Arabia
        SB Solomon Islands
        SC Seychelles
        SD Sudan
        SE Sweden|Sverige
        SG Singapore
        SH Saint Helena
        SI Slovenia
        SJ Svalbard and Jan Mayen
        SK Slovakia
        SL Sierra Leone
        SM San Marino
        SN Senegal
        SO Somalia
        SR Suriname
        SS South Sudan
        ST Sao Tome and Principe
        SV El Salvador
        SX Sint Maarten
        SY Syria|Syrian Arab Republic
        SZ Eswatini|Swaziland
        TA Tristan da Cunha
        TC Turks and Caicos Islands
        TD Chad
        TG Togo
        TH Thailand
        TJ Tajikistan
        TK Tokelau
        TL East Timor|Timor-Leste
        TM Turkmenistan
        TN Tunisia
        TO Tonga
        TR Turkey|Türkiye
        TT Trinidad and Tobago
        TV Tuvalu
        TW Taiwan
        TZ Tanzania|United Republic of Tanzania
        UA Ukraine
        UG Uganda
        US United States|USA|United States of America|America
        UY Uruguay
        UZ Uzbekistan
        VA Vatican City|Holy See
        VC Saint Vincent and the Grenadines
        VE Venezuela
        VG British Virgin Islands
        VI US Virgin Islands
        VN Vietnam|Viet Nam
        VU Vanuatu
        WF Wallis and Futuna
        WS Samoa
        XK Kosovo
        YE Yemen
        YT Mayotte
        ZA South Africa
        ZM Zambia
        ZW Zimbabwe
        """
}
